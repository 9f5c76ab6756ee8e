package chatguard

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestWrap(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	broken := errors.New("broken")
	var heard []string
	handle := g.Wrap(func(_ context.Context, m Message) error {
		heard = append(heard, m.Text)
		if m.Text == "b" {
			return broken
		}
		return nil
	})
	say := func(text string, cost int) error {
		m := messageFrom("7", 0)
		m.Text, m.Cost = text, cost
		return handle(t.Context(), m)
	}
	for text, want := range map[string]error{"a": nil, "b": broken, "c": nil} {
		if err := say(text, 0); err != want {
			t.Errorf("%s: error %v, want %v", text, err, want)
		}
	}
	for want, err := range map[string]error{
		"throttled by burst: the next message passes in 4 s":                      say("d", 0),
		"throttled by burst: the message costs more than the limit can ever hold": say("e", 4),
	} {
		var throttled *ThrottledError
		if !errors.As(err, &throttled) || err.Error() != want || throttled.Verdict.Limit != "burst" || throttled.Verdict.EntryID == 0 {
			t.Errorf("error %v (%+v), want %s", err, throttled, want)
		}
	}
	if err := handle(t.Context(), Message{ChannelID: "1", Text: "f"}); err != ErrNoUser {
		t.Errorf("without a user: %v", err)
	}
	slices.Sort(heard)
	if want := []string{"a", "b", "c"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

func TestWrap_Holds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var heard []time.Duration
		handle := newPacedGuard(t).Wrap(func(context.Context, Message) error {
			heard = append(heard, time.Since(start))
			return nil
		})
		if err := handle(t.Context(), messageNow("7")); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := handle(short, messageNow("7")); err != context.DeadlineExceeded || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a message whose connection ends: %v after %s", err, time.Since(start))
		}
		if err := handle(t.Context(), messageNow("7")); err != nil {
			// the previous message has used up its place in the queue
			t.Fatal(err)
		}
		if want := []time.Duration{0, 2 * time.Second}; !slices.Equal(heard, want) {
			t.Errorf("heard at %v, want %v", heard, want)
		}
	})
}
