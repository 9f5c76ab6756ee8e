package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// The bounds of grants.
const (
	maxGrants  = 200 // of a lane
	maxGranted = 1_000_000
)

// Grant gives a user extra messages in each limit of a lane that isn't shared, as a moderator does.
// A message of the same time comes later.
type Grant struct {
	At       Moment `json:"at"`
	UserID   string `json:"user_id"`
	Messages int    `json:"messages"`
}

// Granted says when the messages of a grant lapse.
type Granted struct {
	Until []*Moment `json:"until"` // in each limit of the lane; nil in a shared one, and in one on repeated text
}

// checkGrants returns an error for grants that can't be made.
func (l *lane) checkGrants() error {
	if len(l.grants) > maxGrants {
		return &Error{Lane: l.number, Text: fmt.Sprintf("it has %d grants: send %d or fewer", len(l.grants), maxGrants)}
	}
	for i, g := range l.grants {
		var fix string
		switch {
		case g.UserID == "" || len(g.UserID) > 256:
			fix = "set user_id to 1 to 256 bytes"
		case g.Messages < 1 || g.Messages > maxGranted:
			fix = fmt.Sprintf("set messages to 1 to %d", maxGranted)
		case i > 0 && g.At < l.grants[i-1].At:
			fix = "send grants in the order of their times"
		default:
			continue
		}
		return &Error{Lane: l.number, Text: fmt.Sprintf("grant %d: %s", i+1, fix)}
	}
	return nil
}

// granter makes the grants of a lane when they are due.
type granter struct {
	guard  *chatguard.Guard
	limits []chatguard.Limit
	due    []Grant
	made   []Granted
}

// before makes the grants that come before a message of the given time.
func (g *granter) before(ctx context.Context, next time.Time) error {
	for ; len(g.due) > 0 && !next.Before(g.due[0].At.Time()); g.due = g.due[1:] {
		if err := g.make(ctx, g.due[0]); err != nil {
			return err
		}
	}
	return nil
}

// rest makes the grants that no message follows.
func (g *granter) rest(ctx context.Context) error {
	if len(g.due) == 0 {
		return nil
	}
	return g.before(ctx, g.due[len(g.due)-1].At.Time())
}

func (g *granter) make(ctx context.Context, one Grant) error {
	granted := Granted{Until: make([]*Moment, len(g.limits))}
	for i, l := range g.limits {
		if inner.IsShared(l.Per) || inner.IsText(l.Per) {
			continue
		}
		key := chatguard.Key{Per: l.Per, UserID: one.UserID}
		if !inner.InAllChannels(l.Per) {
			key.ChannelID = channelID
		}
		until, err := inner.At(g.guard, one.At.Time()).Grant(ctx, key, l.Name, one.Messages)
		if err != nil {
			return err
		}
		at := momentOf(until)
		granted.Until[i] = &at
	}
	g.made = append(g.made, granted)
	return nil
}
