package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// repeat calls do n times at the given rate per second, and catches up if it falls behind.
func repeat(n, rate int, do func(i int)) {
	began := time.Now()
	for i := range n {
		if wait := time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))); wait > 0 {
			time.Sleep(wait)
		}
		do(i)
	}
}

// BenchmarkLineToDelete measures the time from when the fake server writes a line until it receives
// the DELETE request for that line. It sends 1,000 messages per second, one in twenty of which is
// throttled.
func BenchmarkLineToDelete(b *testing.B) {
	const messages, rate, oneIn = 10_000, 1000, 20
	for b.Loop() {
		server := twitchtest.Start(b, demoChannel)
		_, stop := runApp(b, server, demoConfig(server, b.TempDir(), "127.0.0.1:0"), slog.New(slog.DiscardHandler))
		said := map[string]time.Time{}
		repeat(messages, rate, func(i int) {
			login := fmt.Sprint("chatter", i)
			if i%oneIn == 0 {
				// allowed: their first three, and one every 4 s
				login = fmt.Sprint("spammer", i/(oneIn*400))
			}
			began := time.Now()
			id, err := server.Say(faketwitch.Line{Channel: demoChannel, Login: login, Text: "hello"})
			must(b, err)
			said[id] = began
		})
		stop()
		var waits []time.Duration
		for _, d := range server.Deletes() {
			waits = append(waits, d.At.Sub(said[d.Message.ID]))
		}
		if len(waits) < messages/oneIn*9/10 {
			b.Fatalf("only %d deletes", len(waits))
		}
		slices.Sort(waits)
		milliseconds := func(share float64) float64 {
			return float64(waits[int(share*float64(len(waits)-1))]) / float64(time.Millisecond)
		}
		b.ReportMetric(milliseconds(0.5), "median-ms")
		b.ReportMetric(milliseconds(0.99), "p99-ms")
		b.ReportMetric(float64(len(waits)), "deletes")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkFlood checks that 50,000 lines per second are read and judged without loss, and that
// memory doesn't grow after every user was seen once. Each of 250,000 users sends two lines, 5 s
// apart.
func BenchmarkFlood(b *testing.B) {
	const rate, seconds, chunk = 50_000, 10, 500
	server := twitchtest.Start(b, demoChannel)
	var chunks [][]byte
	for c := range rate * seconds / chunk / 2 {
		var text bytes.Buffer
		for i := range chunk {
			_, raw, err := server.Render(faketwitch.Line{Channel: demoChannel, Login: fmt.Sprint("chatter", c*chunk+i), Text: "a line of the flood"})
			must(b, err)
			text.WriteString(raw + "\r\n")
		}
		chunks = append(chunks, text.Bytes())
	}
	for b.Loop() {
		a, stop := runApp(b, server, demoConfig(server, b.TempDir(), "127.0.0.1:0"), slog.New(slog.DiscardHandler))
		half := heap()
		began := time.Now()
		repeat(rate*seconds/chunk, rate/chunk, func(i int) {
			if i == rate*seconds/chunk/2+rate/chunk {
				half = heap() // one second after every user was seen once
			}
			server.Flood(chunks[i%len(chunks)])
		})
		for a.Bot.Counts().Messages < rate*seconds && time.Since(began) < 3*seconds*time.Second {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(began)
		read := a.Bot.Counts().Messages
		grown := heap() - half
		stop()
		b.ReportMetric(float64(read)/took.Seconds(), "lines/s")
		b.ReportMetric(float64(rate*seconds-read), "lost")
		b.ReportMetric(grown/(1<<20), "MiB-grown")
		b.ReportMetric(0, "ns/op")
	}
}

// heap returns the number of live bytes.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// buildBinary builds chatguard like a release.
func buildBinary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "chatguard")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// BenchmarkStart measures the time from starting the binary to its dashboard's first page, with a
// new and with an existing database.
func BenchmarkStart(b *testing.B) {
	path := buildBinary(b)
	_, configuration := startTwitch(b, "")
	for b.Loop() {
		p := startBinary(b, path, configuration)
		response, err := http.Get(p.address)
		must(b, err)
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		b.StopTimer()
		must(b, err)
		p.stop(b)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/start")
}

// BenchmarkIdleMemory measures the resident memory of the binary while it is connected and idle.
func BenchmarkIdleMemory(b *testing.B) {
	path := buildBinary(b)
	server, configuration := startTwitch(b, "")
	for b.Loop() {
		p := startBinary(b, path, configuration)
		awaitJoined(b, server, 1)
		time.Sleep(5 * time.Second)
		b.ReportMetric(p.residentMemory(b), "MiB-resident")
		b.ReportMetric(0, "ns/op")
		p.stop(b)
	}
}
