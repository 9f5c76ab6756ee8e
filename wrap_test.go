package chatguard

import (
	"context"
	"errors"
	"fmt"
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
		"chatguard: throttled by burst: the next message passes in 4 s":                      say("d", 0),
		"chatguard: throttled by burst: the message costs more than the limit can ever hold": say("e", 4),
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
		must(t, handle(t.Context(), messageNow("7")))
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := handle(short, messageNow("7")); err != context.DeadlineExceeded || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a message whose connection ends: %v after %s", err, time.Since(start))
		}
		if err := handle(t.Context(), messageNow("7")); err != nil {
			t.Fatal(err) // it gets the place that the previous message has given back
		}
		if want := []time.Duration{0, time.Second}; !slices.Equal(heard, want) {
			t.Errorf("heard at %v, want %v", heard, want)
		}
	})
}

// Wrap gives back what a message has spent if the message isn't delivered.
func TestWrap_GivesBack(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	for err, want := range map[error]int{errors.New("broken"): 2, fmt.Errorf("the room is closed: %w", ErrUndelivered): 3} {
		m := messageNow("of " + err.Error())
		if got := g.Wrap(func(context.Context, Message) error { return err })(t.Context(), m); got != err {
			t.Errorf("error %v, want %v", got, err)
		}
		if e, explainErr := g.Explain(m); explainErr != nil || e.Limits[0].Remaining != want || e.Limits[1].Remaining != 297+want {
			t.Errorf("after %v: %+v, %v; want %d left", err, e.Limits, explainErr, want)
		}
	}
}
