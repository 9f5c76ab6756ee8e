package policies

import (
	"context"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// The limit of policy changes. Each is kept for good, as a revision with the whole policy.
const (
	changeBurst  = 20               // at once, per person
	changeRefill = 30 * time.Second // until one more is allowed
)

// TooOftenError is the error for a change by a person who has made too many. Nothing has changed.
type TooOftenError struct {
	Wait time.Duration // until the change would be made
}

func (e *TooOftenError) Error() string {
	return fmt.Sprintf("you have changed the limits many times: try again in %d s", (e.Wait+time.Second-1)/time.Second)
}

// pace limits the changes per person.
type pace struct{ guard *chatguard.Guard }

func newPace(now func() time.Time) pace {
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{chatguard.TokenBucketLimit("changes", changeBurst, changeRefill)},
	}, &chatguard.Options{Now: now})
	if err != nil {
		panic(err) // the policy is constant
	}
	return pace{guard}
}

// check returns a TooOftenError if the author has made too many changes.
func (p pace) check(ctx context.Context, author string) error {
	v, err := p.guard.Check(ctx, chatguard.Message{ChannelID: "changes", User: chatguard.User{ID: "by " + author}})
	if err == nil && !v.Allowed {
		err = &TooOftenError{v.RetryAfter}
	}
	return err
}
