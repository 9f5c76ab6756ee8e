package redisstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// BenchmarkSwap measures swaps of rows of 80 bytes, one after another and by 64 goroutines. Ping is
// the same client's shortest round trip.
func BenchmarkSwap(b *testing.B) {
	r := startRedis(b)
	s := open(b, r.URL(), Options{Timeout: time.Second})
	client := *s.client.Load()
	ctx := context.Background()
	var user atomic.Int64
	swapper := func() func() {
		id, n, was := fmt.Sprint(user.Add(1)), 0, []byte(nil)
		return func() {
			n++
			swap := chatguard.Swap{Rows: []chatguard.SharedRow{{ChannelID: "lobby", UserID: id, Was: was, Is: fmt.Appendf(nil, "%080d", n), Until: time.Now().Add(time.Hour)}}}
			s.Swap(ctx, []*chatguard.Swap{&swap})
			if !swap.Done {
				b.Error(swap.Err)
			}
			was = swap.Rows[0].Is
		}
	}
	b.Run("ping/one", func(b *testing.B) {
		for b.Loop() {
			client.Do(ctx, client.B().Ping().Build())
		}
	})
	b.Run("one", func(b *testing.B) {
		swap := swapper()
		b.ReportAllocs()
		for b.Loop() {
			swap()
		}
	})
	b.Run("64", func(b *testing.B) {
		b.SetParallelism(32)
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			swap := swapper()
			for p.Next() {
				swap()
			}
		})
	})
	b.Run("ping/64", func(b *testing.B) {
		b.SetParallelism(32)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				client.Do(ctx, client.B().Ping().Build())
			}
		})
	})
}

// BenchmarkSwap_Away measures a call while the server is away.
func BenchmarkSwap_Away(b *testing.B) {
	s := open(b, "redis://127.0.0.1:1", Options{})
	swaps := []*chatguard.Swap{one("a", "", "1")}
	for b.Loop() {
		s.Swap(context.Background(), swaps)
	}
}
