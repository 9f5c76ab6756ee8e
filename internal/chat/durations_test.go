package chat

import (
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// The verdict counts from when the message was read, and the request from the verdict. A request
// that is sent again counts once.
func TestDurations(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		s.platform.allow(1)
		s.platform.spent = 1 // no request can be sent
		first, second := message("a1", "a"), message("a2", "a")
		first.SentAt, second.SentAt = time.Now(), time.Now()
		s.sink.Messages(time.Now().Add(-3*time.Second), []Message{first, second})
		s.wait(2 * time.Second)
		s.sink.Messages(time.Time{}, []Message{message("b1", "b")}) // nobody knows when
		if n := s.bot.Pending(); n != 1 {
			t.Errorf("%d penalties are pending", n)
		}
		s.platform.allow(1)
		s.wait(time.Second)
		if n := s.bot.Pending(); n != 0 {
			t.Errorf("%d penalties are pending after the request", n)
		}
		d := s.bot.Durations()
		if got := d.LineToVerdict; got.Sum != 6 || sumOf(got.Counts) != 2 {
			t.Errorf("line to verdict: %+v", got)
		}
		if got := d.VerdictToRequest; got.Sum < 2 || got.Sum > 2+budgetTick.Seconds() || sumOf(got.Counts) != 1 {
			t.Errorf("verdict to request: %+v", got)
		}
	}, "delete")
}

// What a node kept as a standby counts from when it was read.
func TestDurations_Standby(t *testing.T) {
	lease := &testLease{}
	lease.give(time.Minute)
	c := &standbyChannel{lease: lease, log: slog.New(slog.DiscardHandler), received: make(chan struct{}, 1)}
	read := time.Now()
	m := message("a1", "a")
	c.add(&m, read, read.Add(time.Second))
	if got, messages := c.next(read.Add(2 * time.Second)); !got.Equal(read) || len(messages) != 1 {
		t.Errorf("%d messages, read at %s, want %s", len(messages), got, read)
	}
}

func sumOf(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// BenchmarkDurations judges messages of many users in batches, without and with measuring; an
// operation is a message.
func BenchmarkDurations(b *testing.B) {
	for _, size := range []int{1, 16} {
		for name, read := range map[string]func() time.Time{"unmeasured": func() time.Time { return time.Time{} }, "measured": time.Now} {
			b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
				guard, err := chatguard.New(enforcePolicy("delete"), nil)
				must(b, err)
				bot, batch := New(Options{Guard: guard}), make([]Message, size)
				at := monday
				for n := 0; n < b.N; n += size {
					at = at.Add(time.Millisecond)
					for i := range batch {
						batch[i] = message("", strconv.Itoa((n+i)%100_000))
						batch[i].SentAt = at
					}
					bot.receive(b.Context(), b.Context(), read(), batch)
				}
			})
		}
	}
}
