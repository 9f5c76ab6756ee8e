package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// A busy evening: in each channel only one of the many chatters is throttled. That chatter sends
// one line in five hundred.
const (
	busyChannels = 100
	busyRate     = 50 // lines per second in each channel
	busyChatters = 400
	busySpam     = 500
	busyWarmUp   = 1 // seconds until first-use costs are over
	busySeconds  = 10
)

// BenchmarkChannels measures the processor time that the binary needs for 100 channels with 50
// lines per second each on one connection, on one core. Ten lines per second exceed the limits and
// are deleted.
func BenchmarkChannels(b *testing.B) {
	path := buildBinary(b)
	for _, transport := range []string{config.TransportIRC, config.TransportIRCWebSocket, config.TransportEventSub} {
		b.Run(transport, func(b *testing.B) {
			for b.Loop() {
				server, configuration := startTwitch(b, enforceConfig)
				p := startBinary(b, path, configuration, busyEnvironment(server, transport)...)
				wait, n := server.WaitJoined, busyChannels
				if transport == config.TransportEventSub {
					wait, n = server.WaitSubscribed, 3*busyChannels
				}
				must(b, wait(b.Context(), n))
				talk := func(seconds int) {
					repeat(seconds*busyChannels*busyRate, busyChannels*busyRate, func(i int) { busyLine(b, server, i) })
				}
				talk(busyWarmUp)
				began, before := time.Now(), p.metricSum(b, processorTime)
				talk(busySeconds)
				took := time.Since(began)
				p.catchUp(b, server.Said())
				b.ReportMetric((p.metricSum(b, processorTime)-before)*1000/took.Seconds(), "ms-CPU/s")
				b.ReportMetric(busySeconds*busyChannels*busyRate/took.Seconds(), "lines/s")
				b.ReportMetric(float64(server.Said())-p.metricSum(b, messagesRead), "lost")
				b.ReportMetric(float64(server.Deleted()), "deletes")
				p.stop(b)
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// enforceConfig is a configuration that deletes what the default limits throttle.
const enforceConfig = `
[policy]
mode = "enforce"

[penalties]
ladder = ["delete"]
`

// busyEnvironment opens the channels and returns an environment in which the binary reads them over
// a transport on one core.
func busyEnvironment(server *faketwitch.Server, transport string) []string {
	var channels []string
	for i := range busyChannels {
		channels = append(channels, busyChannel(i))
		server.AddChannel(busyChannel(i))
	}
	return []string{
		"GOMAXPROCS=1", "CHATGUARD_TWITCH_TOKEN=" + server.Token(), "CHATGUARD_TWITCH_CHANNELS=" + strings.Join(channels, ","),
		"CHATGUARD_TWITCH_TRANSPORT=" + transport, "CHATGUARD_TWITCH_IRC_WEBSOCKET_URL=" + server.IRCWebSocketURL(),
		"CHATGUARD_TWITCH_EVENTSUB_URL=" + server.EventSubURL(),
	}
}

func busyChannel(i int) string { return fmt.Sprint("garden", i) }

// busyLine sends the i-th line of the evening.
func busyLine(b *testing.B, server *faketwitch.Server, i int) {
	channel, login := busyChannel(i%busyChannels), fmt.Sprint("chatter", i/busyChannels%busyChatters)
	if i%busySpam == 0 {
		channel, login = busyChannel(0), "spammer"
	}
	_, err := server.Say(faketwitch.Line{Channel: channel, Login: login, Text: "hello there everyone, that jump was so close"})
	must(b, err)
}

// The metrics for a process's processor time and for the number of messages it has read.
const (
	processorTime = "process_cpu_seconds_total"
	messagesRead  = "chatguard_messages_total"
)

// catchUp waits until the process has read n messages, without a timeout.
func (p *process) catchUp(b *testing.B, n int) {
	b.Helper()
	for gaveUp := time.Now().Add(10 * time.Second); p.metricSum(b, messagesRead) < float64(n) && time.Now().Before(gaveUp); {
		time.Sleep(100 * time.Millisecond)
	}
}

// metricSum returns the sum of all metrics of the process that have this name.
func (p *process) metricSum(b *testing.B, name string) (sum float64) {
	b.Helper()
	_, text := sendRequest(b, "GET", p.address+"metrics", "")
	for line := range strings.Lines(text) {
		metric, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if bare, _, _ := strings.Cut(metric, "{"); bare == name {
			n, err := strconv.ParseFloat(value, 64)
			must(b, err)
			sum += n
		}
	}
	return sum
}
