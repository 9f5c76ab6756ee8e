// Package replay runs recorded chat through a Guard: who would have been throttled? It knows JSON lines, leaves other lines to a
// parser that it is given, and knows neither a platform nor a store.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/chatguard/chatguard"
)

// Options say how to read and what to report meanwhile.
type Options struct {
	// Guard judges. Its clock is never asked: recorded messages bring their time along.
	Guard *chatguard.Guard

	// Parse reads a line that is no JSON. It returns false for a line that is no chat message.
	Parse func(line string) (chatguard.Message, bool, error)

	// Enter is told of each channel by its first message, before that is judged, and the line that it was read from. Nil means nobody is told.
	// With an error the message counts as one that can't be read, and Enter is told again.
	Enter func(first chatguard.Message, line string) error

	// Decided is told every verdict, in the order of the lines. Nil means nobody is told. Its error ends the replay.
	Decided func(chatguard.Verdict) error

	// Skipped is told every line that can't be read. Nil means nobody is told.
	Skipped func(name string, line int, why error)
}

// Summary is what came of a replay.
type Summary struct {
	Messages          int            `json:"messages"`
	Users             int            `json:"users"`
	ThrottledMessages int            `json:"throttled_messages"`
	ThrottledUsers    int            `json:"throttled_users"`
	ExemptMessages    int            `json:"exempt_messages"`
	Skipped           int            `json:"skipped"` // lines that can't be read
	ByLimit           map[string]int `json:"by_limit"`
	Top               []User         `json:"top"` // the users throttled most, at most ten
}

// User is what came of one user's messages.
type User struct {
	UserID    string `json:"user_id"`
	Login     string `json:"login"`
	Messages  int    `json:"messages"`
	Throttled int    `json:"throttled"`
}

// topUsers is how many users a Summary names.
const topUsers = 10

// Replay reads records one after another and sums up.
type Replay struct {
	options Options
	summary Summary
	users   map[string]*User
	entered map[string]bool // by channel ID
	read    int             // messages, the mirrored ones included
}

// New returns a Replay without any messages.
func New(o Options) *Replay {
	return &Replay{options: o, users: map[string]*User{}, entered: map[string]bool{}, summary: Summary{ByLimit: map[string]int{}}}
}

// ErrNoMessage is the error of a record without a single message that can be read.
var ErrNoMessage = errors.New("no message in it can be read")

// Read judges the messages of one record, plain or gzip, in the order of its lines and at the times given there. The name is for
// messages about its lines. The error is the reader's or Decided's, or ErrNoMessage; after that another record may be read.
func (r *Replay) Read(ctx context.Context, name string, record io.Reader) error {
	lines, err := newLineReader(record)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := r.read
	for ctx.Err() == nil {
		line, err := lines.next()
		if err == io.EOF {
			return r.sinceThen(name, before)
		}
		if err != nil && err != errLongLine {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err == nil {
			err = r.line(ctx, line)
		}
		if fatal, ok := err.(decidedError); ok {
			return fatal.error
		}
		if err != nil {
			r.skip(name, lines.number, err)
		}
	}
	return ctx.Err()
}

// sinceThen is the error of a record in which nothing was read after so many messages.
func (r *Replay) sinceThen(name string, before int) error {
	if r.read == before {
		return fmt.Errorf("%s: %w", name, ErrNoMessage)
	}
	return nil
}

func (r *Replay) skip(name string, line int, why error) {
	r.summary.Skipped++
	if r.options.Skipped != nil {
		r.options.Skipped(name, line, why)
	}
}

// decidedError is an error of Options.Decided, and ends the replay.
type decidedError struct{ error }

// line judges the message in a line, if it holds one. A mirrored message counts where it was written, and not here.
func (r *Replay) line(ctx context.Context, line []byte) error {
	m, ok, err := r.parse(line)
	if err != nil || !ok {
		return err
	}
	if m.SentAt.IsZero() {
		return errNoTime
	}
	if m.Mirrored() {
		r.read++
		return nil
	}
	if err := r.enter(m, line); err != nil {
		return err
	}
	v, err := r.options.Guard.Check(ctx, m)
	if err != nil {
		return err
	}
	r.read++
	r.count(m, v)
	if r.options.Decided != nil {
		if err := r.options.Decided(v); err != nil {
			return decidedError{err}
		}
	}
	return nil
}

// maxChannels is how many channels are judged: the Guard keeps a few kilobytes for each, for good.
const maxChannels = 10_000

var errChannels = fmt.Errorf("the channel is one of more than %d: split the record by channels, and replay the parts one by one", maxChannels)

// enter tells of a channel that no message came from before.
func (r *Replay) enter(m chatguard.Message, line []byte) error {
	switch {
	case r.entered[m.ChannelID]:
		return nil
	case len(r.entered) == maxChannels:
		return errChannels
	case r.options.Enter != nil:
		if err := r.options.Enter(m, string(line)); err != nil {
			return err
		}
	}
	r.entered[m.ChannelID] = true
	return nil
}

func (r *Replay) count(m chatguard.Message, v chatguard.Verdict) {
	u := r.users[v.UserID]
	if u == nil {
		u = &User{UserID: v.UserID}
		r.users[v.UserID] = u
	}
	u.Login = cmp.Or(m.User.Login, u.Login)
	u.Messages++
	r.summary.Messages++
	if v.Exempt {
		r.summary.ExemptMessages++
	}
	if v.Throttled() {
		u.Throttled++
		r.summary.ThrottledMessages++
		r.summary.ByLimit[v.Limit]++
	}
}

// Summary returns what came of everything read so far.
func (r *Replay) Summary() Summary {
	s := r.summary
	s.Users = len(r.users)
	s.ByLimit = maps.Clone(s.ByLimit)
	throttled := []User{}
	for _, u := range r.users {
		if u.Throttled > 0 {
			throttled = append(throttled, *u)
		}
	}
	slices.SortFunc(throttled, func(a, b User) int {
		return cmp.Or(b.Throttled-a.Throttled, b.Messages-a.Messages, cmp.Compare(a.UserID, b.UserID))
	})
	s.ThrottledUsers = len(throttled)
	s.Top = throttled[:min(topUsers, len(throttled))]
	return s
}
