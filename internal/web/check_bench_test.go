package web

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
)

const (
	benchBatch = 100
	benchUsers = 1000
	benchSlice = 150 * time.Millisecond // per server and turn
)

// benchServer is a server that a benchmark sends requests to over keep-alive connections.
type benchServer struct {
	url     string
	header  http.Header
	content []string
	calls   atomic.Int64
	took    time.Duration
}

func newBenchServer(address, path, token string, content []string) *benchServer {
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	return &benchServer{url: "http://" + address + path, header: header, content: content}
}

// sendSlice sends requests for one slice of time, over as many connections as there are processors.
func (a *benchServer) sendSlice(b *testing.B) {
	b.Helper()
	began := time.Now()
	var asking sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		asking.Go(func() {
			if err := a.sendUntil(began.Add(benchSlice)); err != nil {
				b.Error(err)
			}
		})
	}
	asking.Wait()
	a.took += time.Since(began)
}

func (a *benchServer) sendUntil(end time.Time) error {
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for time.Now().Before(end) {
		r, err := http.NewRequest("POST", a.url, strings.NewReader(a.content[random.IntN(len(a.content))]))
		if err != nil {
			return err
		}
		r.Header = a.header
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s, %v", answer.Status, err)
		}
		a.calls.Add(1)
	}
	return nil
}

func (a *benchServer) rate() float64 { return float64(a.calls.Load()) / a.took.Seconds() }

// benchContents returns messages of many users of a chat server, and the same messages in batches.
func benchContents() (single, batches []string) {
	for user := range benchUsers {
		id := fmt.Sprint(100_000_000 + user*7919)
		single = append(single, fmt.Sprintf(`{"channel":"lobby","user_id":"%s","login":"user%s","text":"hello everyone, how are you?"}`, id, id))
	}
	for messages := range slices.Chunk(single, benchBatch) {
		batches = append(batches, `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	return single, batches
}

// raiseLimits sets limits so high that they throttle nobody in a benchmark.
func raiseLimits(o *Options) {
	p := config.DefaultPolicy()
	p.Mode, p.Limits[0].Burst, p.Limits[1].Messages = chatguard.ModeEnforce, 1_000_000, 1_000_000
	if err := inner.At(o.Live.Guard, time.Now()).SetPolicy(p); err != nil {
		panic(err)
	}
}

// emptyHandler reads a message like POST /check, but answers without judging it.
func emptyHandler(w http.ResponseWriter, r *http.Request) {
	var m checkForm
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"allowed":true}`)
}

// benchCheck runs a dashboard with a real database and returns its POST /check and POST
// /check/batch, called with a token over keep-alive connections.
func benchCheck(b *testing.B) (single, batch *benchServer) {
	b.Helper()
	d := dash(b, raiseLimits, setCheckSpace)
	token := d.newToken(auth.Check)
	messages, batches := benchContents()
	return newBenchServer(d.address, "/api/v1/check", token, messages), newBenchServer(d.address, "/api/v1/check/batch", token, batches)
}

// sendInTurns sends requests to each server for a slice of time, in turns.
func sendInTurns(b *testing.B, servers ...*benchServer) {
	b.Helper()
	for b.Loop() {
		for _, server := range servers {
			server.sendSlice(b)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCheckHTTP compares POST /check with an empty net/http handler that reads the same JSON,
// in turns.
func BenchmarkCheckHTTP(b *testing.B) {
	single, _ := benchCheck(b)
	server := httptest.NewServer(http.HandlerFunc(emptyHandler))
	defer server.Close()
	empty := newBenchServer(server.Listener.Addr().String(), "/", "of-nobody", single.content)
	sendInTurns(b, empty, single)
	b.ReportMetric(empty.rate(), "empty/s")
	b.ReportMetric(single.rate(), "checks/s")
	b.ReportMetric(single.rate()/empty.rate(), "of-empty")
}

// BenchmarkCheckBatch compares POST /check and POST /check/batch, in turns.
func BenchmarkCheckBatch(b *testing.B) {
	single, batch := benchCheck(b)
	sendInTurns(b, single, batch)
	b.ReportMetric(single.rate(), "single/s")
	b.ReportMetric(batch.rate()*benchBatch, "batched/s")
	b.ReportMetric(batch.rate()*benchBatch/single.rate(), "of-single")
}
