//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

const (
	echoers = 64   // connections, each alone in its room
	echoes  = 5    // echoes per connection and slice, in turn
	pairs   = 2000 // pairs of slices
)

// serveUnguarded serves the same chat without chatguard: it identifies nobody and judges nothing.
func (c *chat) serveUnguarded(w http.ResponseWriter, r *http.Request) {
	name, room := r.FormValue("name"), r.FormValue("room")
	c.visit(w, r, room, func(context.Context) {}, func(_ context.Context, _ *member, text string) error {
		c.broadcast(room, frame{From: name, Text: text})
		return nil
	})
}

// roomyPolicy returns the default policy's limits with room for every message, because a throttled
// one would not be echoed.
func roomyPolicy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Limits[0].Burst, p.Limits[0].Refill = 1_000_000, time.Microsecond
	p.Limits[1].Messages = 1_000_000_000
	return p
}

// spent is the wall time and the processor time of a slice. Other work on the machine disturbs the
// processor time less.
type spent struct{ wall, processor time.Duration }

// echo runs one slice: all connections wait for their echoes.
func echo(b *testing.B, conns []*websocket.Conn, text []byte) spent {
	b.Helper()
	var working sync.WaitGroup
	began, used := time.Now(), processorTime(b)
	for _, conn := range conns {
		working.Go(func() {
			for range echoes {
				if err := conn.Write(b.Context(), websocket.MessageText, text); err != nil {
					b.Error(err)
					return
				}
				if _, _, err := conn.Read(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	return spent{time.Since(began), processorTime(b) - used}
}

// processorTime returns the processor time that this process, with both ends of all connections,
// has used so far.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// visitors opens the connections to a handler, each in its own room.
func visitors(b *testing.B, handler http.Handler, prefix string) (conns []*websocket.Conn) {
	b.Helper()
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	for n := range echoers {
		conn, _, err := websocket.Dial(b.Context(), fmt.Sprintf("%s?name=user%d&room=%s%d", server.URL, n, prefix, n), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.CloseNow() })
		conns = append(conns, conn)
	}
	return conns
}

// report prints the median of the pairs' ratios and the distance of their quartiles. The median's
// own error is about quartiles / sqrt(pairs).
func report(b *testing.B, of string, ratios []float64) {
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], of+"-ratio")
	b.ReportMetric(ratios[3*len(ratios)/4]-ratios[len(ratios)/4], of+"-quartiles")
}

// BenchmarkEcho compares the chat with the guard and without it, in turns: the ratios of throughput
// and of processor time.
func BenchmarkEcho(b *testing.B) {
	guard, err := chatguard.New(roomyPolicy(), nil)
	if err != nil {
		b.Fatal(err)
	}
	door, err := connguard.New(guard, &connguard.Options{
		ConnectsPerAddress: chatguard.Limit{Algorithm: chatguard.TokenBucket, Burst: echoers, Refill: time.Second},
	})
	if err != nil {
		b.Fatal(err)
	}
	in, err := httpguard.Sessions(door, identify, &httpguard.SessionOptions{Channel: func(r *http.Request) string { return r.FormValue("room") }})
	if err != nil {
		b.Fatal(err)
	}
	var c chat
	guarded, unguarded := visitors(b, in(&c), "guarded"), visitors(b, http.HandlerFunc(c.serveUnguarded), "unguarded")
	text := []byte(strings.Repeat("hello ", 10))
	pair := func(n int) (with, without spent) {
		if n%2 == 0 {
			with, without = echo(b, guarded, text), echo(b, unguarded, text)
		} else {
			without, with = echo(b, unguarded, text), echo(b, guarded, text)
		}
		return with, without
	}
	for n := range pairs / 10 { // warm-up
		pair(n)
	}
	for b.Loop() {
		var wall, processor []float64
		var total time.Duration
		for n := range pairs {
			with, without := pair(n)
			wall = append(wall, without.wall.Seconds()/with.wall.Seconds())
			processor = append(processor, without.processor.Seconds()/with.processor.Seconds())
			total += with.wall
		}
		report(b, "throughput", wall)
		report(b, "processor", processor)
		b.ReportMetric(pairs*echoers*echoes/total.Seconds(), "echoes/s")
	}
}
