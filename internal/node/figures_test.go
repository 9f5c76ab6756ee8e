package node

import (
	"log/slog"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// TestFigures_MessagesPerSecond checks that messages are counted, not swaps: one decides several
// messages, and synchronised nodes make none for a message. Only those have an overshoot.
func TestFigures_MessagesPerSecond(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		store, err := redisstore.Open(t.Context(), server.URL(), &redisstore.Options{Namespace: string(mode), Timeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		defer store.Close()
		n := new(Node)
		n.guard, err = chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store, SharedMode: mode})
		must(t, err)
		n.guard.AddObserver(n.figures.observe)
		describe := func(at time.Duration) shared.Node {
			described := shared.Node{Mode: mode}
			n.describe(&described, time.Unix(0, 0).Add(at))
			return described
		}
		if is := describe(0); is.MessagesPerSecond != 0 || is.Overshoot != nil {
			t.Errorf("%s: %+v at the start", mode, is)
		}
		all := make([]chatguard.Message, 30)
		for i := range all {
			all[i] = chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
		}
		must(t, n.guard.CheckAll(t.Context(), all, make([]chatguard.Verdict, len(all))))
		for _, step := range []struct {
			at   time.Duration
			want float64
		}{{2 * time.Second, 15}, {3 * time.Second, 0}} {
			if is := describe(step.at); is.MessagesPerSecond != step.want || (is.Overshoot != nil) != (mode == shared.Synchronised) {
				t.Errorf("%s: after %s, %+v, want %v/s", mode, step.at, is, step.want)
			}
		}
	}
}

// TestFigures_Overshoot checks that the overshoot is that of the last hour.
func TestFigures_Overshoot(t *testing.T) {
	var f figures
	var sharing shared.Counts
	start := time.Unix(0, 0)
	for _, step := range []struct {
		at               time.Duration
		spent, overdrawn int64 // since the last step
		want             float64
		ok               bool
	}{
		{0, 0, 0, 0, false},
		{30 * time.Second, 100, 5, 0.05, true},
		{time.Minute, 0, 0, 0.05, true},
		{30 * time.Minute, 300, 3, 0.02, true},
		{time.Hour, 0, 0, 0.02, true},
		{61 * time.Minute, 0, 0, 0.01, true}, // only what came after the first minute
		{90 * time.Minute, 0, 0, 0, false},
		{91 * time.Minute, 50, 0, 0, true},
		{24 * time.Hour, 0, 0, 0, false},
	} {
		for range step.spent {
			f.observe(chatguard.Message{}, chatguard.Verdict{Spent: 1})
		}
		sharing.Overdrawn += step.overdrawn
		if got, ok := f.overshoot(start.Add(step.at), sharing); got != step.want || ok != step.ok {
			t.Errorf("after %s: %v, %t, want %v, %t", step.at, got, ok, step.want, step.ok)
		}
	}
	for i := range 10_000 {
		f.overshoot(start.Add(25*time.Hour+time.Duration(i)*time.Second), sharing)
	}
	if n := len(f.minutes); n > 61 {
		t.Errorf("%d marks are kept", n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
