package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/waittest"
)

// stuckAfter returns what the Bot would have been doing for longer than half a minute, a minute
// from now.
func stuckAfter(b *Bot) string { return b.Stuck(time.Now().Add(time.Minute), time.Minute/2) }

// runBot runs a Bot until stop is called.
func runBot(t *testing.T, b *Bot) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestStuck_Judging checks that a message whose judging doesn't end is noticed, and that waiting
// for messages isn't.
func TestStuck_Judging(t *testing.T) {
	guard, err := chatguard.New(enforcePolicy("delete"), nil)
	must(t, err)
	began, release, delivered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	guard.AddObserver(func(chatguard.Message, chatguard.Verdict) { close(began); <-release })
	b := New(Options{Guard: guard, Source: script{
		batches: [][]Message{{message("a1", "7")}}, end: func() { close(delivered) },
	}})
	stop := runBot(t, b)
	<-began
	if got := stuckAfter(b); !strings.HasPrefix(got, "judging messages has taken ") {
		t.Errorf("it says %q", got)
	}
	if got := b.Stuck(time.Now(), time.Hour); got != "" {
		t.Errorf("at once it says %q", got)
	}
	close(release)
	<-delivered
	if got := b.judging.Stuck(time.Now().Add(time.Minute), time.Second); got != "" {
		t.Errorf("while waiting for messages it says %q", got)
	}
	stop()
}

// TestStuck_Choosing checks that a Moderator that never says how many requests are left is noticed,
// and that one that never answers a request isn't.
func TestStuck_Choosing(t *testing.T) {
	guard, err := chatguard.New(enforcePolicy("delete"), nil)
	must(t, err)
	m := &recorder{block: make(chan struct{})}
	m.mu.Lock()
	b := New(Options{Guard: guard, Moderator: m, Now: func() time.Time { return monday }, Source: script{batches: [][]Message{{message("a1", "7"), message("a2", "7")}}}})
	stop := runBot(t, b)
	waittest.Until(t, func() bool { return strings.HasPrefix(stuckAfter(b), "choosing the next penalty has taken ") })
	m.mu.Unlock()
	waittest.Until(t, func() bool {
		b.backlog.mu.Lock()
		defer b.backlog.mu.Unlock()
		return len(b.backlog.underWay) == 1 && stuckAfter(b) == ""
	})
	close(m.block)
	stop()
}
