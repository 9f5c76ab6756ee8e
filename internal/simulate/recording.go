package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// ReplayOptions configure how lines are read and what is reported during the replay.
type ReplayOptions struct {
	// Guard judges the messages. Its clock is never used, because recorded messages have their own
	// times.
	Guard *chatguard.Guard

	// Parse parses a line that is not JSON. It returns false for a line that is not a chat message.
	Parse func(line string) (chatguard.Message, bool, error)

	// Enter is called for each channel with its first message and that message's line, before the
	// message is judged. If Enter returns an error, the message counts as unreadable, and Enter is
	// called again for the channel's next message. Nil means no call.
	Enter func(first chatguard.Message, line string) error

	// Decided is called with every verdict, in the order of the lines. Nil means no call. An error
	// ends the replay.
	Decided func(chatguard.Verdict) error

	// Skipped is called for every line that cannot be read. Nil means no call.
	Skipped func(name string, line int, why error)
}

// Summary is the result of a replay.
type Summary struct {
	Messages          int            `json:"messages"`
	Users             int            `json:"users"`
	ThrottledMessages int            `json:"throttled_messages"`
	ThrottledUsers    int            `json:"throttled_users"`
	ExemptMessages    int            `json:"exempt_messages"`
	Skipped           int            `json:"skipped"` // lines that cannot be read
	ByLimit           map[string]int `json:"by_limit"`
	// WithoutText is how many messages have no text, or none on record, in channels with limits on
	// repeated text. Such limits don't count them.
	WithoutText int    `json:"without_text,omitempty"`
	Top         []User `json:"top"` // the most throttled users, at most ten
}

// User is the result for one user.
type User struct {
	UserID    string `json:"user_id"`
	Login     string `json:"login"`
	Messages  int    `json:"messages"`
	Throttled int    `json:"throttled"`
}

// topUsers is the maximum number of users in Summary.Top.
const topUsers = 10

// Replay reads records one after another and summarizes them.
type Replay struct {
	options ReplayOptions
	reader  Reader
	summary Summary
	users   map[string]*User
	entered map[string]bool // by channel ID: whether the channel has limits on repeated text
}

// NewReplay returns a Replay without any messages.
func NewReplay(o ReplayOptions) *Replay {
	return &Replay{
		options: o, reader: Reader{Parse: o.Parse, Skipped: o.Skipped},
		users: map[string]*User{}, entered: map[string]bool{}, summary: Summary{ByLimit: map[string]int{}},
	}
}

// Read judges the messages of one record, plain or gzip, in the order of its lines and at their
// recorded times. name identifies the record in messages about its lines. The error is the
// reader's, the context's, Decided's, or ErrNoMessage. After ErrNoMessage, another record may be
// read.
func (r *Replay) Read(ctx context.Context, name string, record io.Reader) error {
	r.reader.Visit = func(m chatguard.Message, line []byte) error { return r.judge(ctx, m, line) }
	return r.reader.Read(ctx, name, record)
}

// judge judges a message.
func (r *Replay) judge(ctx context.Context, m chatguard.Message, line []byte) error {
	if err := r.enter(m, line); err != nil {
		return err
	}
	v, err := r.options.Guard.Check(ctx, m)
	if err != nil {
		return err
	}
	r.count(m, v)
	if r.options.Decided != nil {
		if err := r.options.Decided(v); err != nil {
			return Stop(err)
		}
	}
	return nil
}

// maxChannels is the maximum number of channels. Each takes a few kilobytes in the Guard.
const maxChannels = 10_000

var errChannels = fmt.Errorf("the channel is one of more than %d: split the record by channels, and replay the parts one by one", maxChannels)

// enter handles the first message of a channel.
func (r *Replay) enter(m chatguard.Message, line []byte) error {
	if _, ok := r.entered[m.ChannelID]; ok {
		return nil
	}
	if len(r.entered) == maxChannels {
		return errChannels
	}
	if r.options.Enter != nil {
		if err := r.options.Enter(m, string(line)); err != nil {
			return err
		}
	}
	r.entered[m.ChannelID] = inner.Of(r.options.Guard).ReadsTexts(m.ChannelID)
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
	if m.Text == "" && r.entered[m.ChannelID] {
		r.summary.WithoutText++
	}
	if v.Exempt {
		r.summary.ExemptMessages++
	}
	if v.Throttled() {
		u.Throttled++
		r.summary.ThrottledMessages++
		r.summary.ByLimit[v.Limit]++
	}
}

// Summary returns the result of everything read so far.
func (r *Replay) Summary() Summary {
	s := r.summary
	s.Users, s.Skipped = len(r.users), r.reader.Unreadable
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
