package peers

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// operation is what a step calls.
type operation func(*chatguard.Guard, chatguard.Message) (answer, error)

func check(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	a.Verdict, err = g.Check(context.Background(), m)
	return a, err
}

func peek(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	a.Verdict, err = g.Peek(context.Background(), m)
	return a, err
}

// left asks as a message that costs nothing.
func left(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	a.Verdict, err = inner.Of(g).Left(context.Background(), m)
	return a, err
}

func upTo(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	a.taken, a.Verdict, err = g.CheckUpTo(context.Background(), m)
	return a, err
}

// reset forgets what a step's user has used, and then asks what is left.
func reset(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	if err := g.Reset(context.Background(), m.Key()); err != nil {
		return a, err
	}
	return left(g, m)
}

// look says what is left before a message, and whether the message would pass.
func look(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
	next, err := peek(g, m)
	if err != nil {
		return a, err
	}
	a, err = left(g, m)
	a.Allowed = next.Allowed
	return a, err
}

// bubble runs a part with a clock that jumps to the end of each wait.
func (f *facts) bubble(part func(*facts)) {
	f.Helper()
	synctest.Test(f.T, func(t *testing.T) { part(&facts{t, f.tally}) })
}

// guardNow returns a Guard with the clock of the bubble.
func (f *facts) guardNow(limits ...chatguard.Limit) *chatguard.Guard {
	f.Helper()
	g, err := chatguard.New(chatguard.Policy{Limits: limits}, &chatguard.Options{Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	return g
}

// waited waits for a message of some cost, and says with what result and for how long.
func waited(ctx context.Context, g *chatguard.Guard, cost int) string {
	before, result := time.Now(), "passed"
	if _, err := g.Wait(ctx, step{cost: cost}.message()); err != nil {
		result = "error"
	}
	return fmt.Sprintf("%s after %s", result, time.Since(before))
}
