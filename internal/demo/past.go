package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/textkey"
)

// The demo's past, as times before its start. There was a stream on the evening before, and the
// channels have been live again since liveSince.
const (
	pastBegan      = 36 * time.Hour
	lastStream     = 26 * time.Hour
	lastStreamOver = 24 * time.Hour
	liveSince      = 2 * time.Hour
)

// past is what chatguard would have stored if it had moderated the demo's channels until now. The
// messages go through a Guard and into a database, with the times at which they would have been
// written. Only one goroutine uses it, except for the clock.
type past struct {
	host   *host.Host
	guard  *chatguard.Guard
	twitch *faketwitch.Server
	random *rand.Rand

	start time.Time    // of the demo
	clock atomic.Int64 // the time in the past, in nanoseconds since the Unix epoch

	events   []event
	people   people
	silenced map[userKey]time.Time // when timeouts end
	failing  bool                  // Twitch refuses the next timeout
	messages int
}

// event is something that happened at a time: a message, or a moderator's change.
type event struct {
	at     time.Time
	line   faketwitch.Line
	change func(context.Context) error // nil if it is a message
}

// MakePast fills the configuration's database with what happened until start. It returns the crowds
// that continue from there, one for each channel.
func MakePast(ctx context.Context, server *faketwitch.Server, c config.Config, seed uint64, start time.Time) (crowds []*faketwitch.Crowd, err error) {
	p := &past{
		twitch: server, random: rand.New(rand.NewPCG(seed, 0x94d049bb133111eb)), start: start,
		people: people{}, silenced: map[userKey]time.Time{},
	}
	p.setTime(p.before(pastBegan))
	if err := p.open(ctx, c); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.host.Close()) }()
	for _, channel := range Channels {
		crowds = append(crowds, p.addChannel(channel, seed))
		p.addStreams(channel)
	}
	p.addChanges()
	slices.SortStableFunc(p.events, func(a, b event) int { return a.at.Compare(b.at) })
	if err := p.play(ctx); err != nil {
		return nil, err
	}
	p.restoreTimeouts()
	return crowds, nil
}

// open opens the database with a Guard whose clock is the past's.
func (p *past) open(ctx context.Context, c config.Config) (err error) {
	key, err := textkey.Open(c.TextKeyFile())
	if err != nil {
		return err
	}
	if p.guard, err = chatguard.New(c.Policy, &chatguard.Options{Now: p.now, TextKey: key}); err != nil {
		return err
	}
	for login, own := range c.Channels {
		if err := p.guard.SetChannelPolicy(p.twitch.UserID(login), own); err != nil {
			return err
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	if p.host, err = host.Open(ctx, c.Database, persist.Options{Logger: quiet, QueueSize: 1 << 20, TextRetention: c.TextRetention}); err != nil {
		return err
	}
	settings := host.SettingsOf(c)
	if err = p.host.Join(p.guard, host.Options{Settings: &settings, Acts: true}); err == nil {
		_, err = p.host.Restore(ctx)
	}
	if err != nil {
		return errors.Join(err, p.host.Close())
	}
	p.host.Controls.Join(control.Chat{Lift: p.lift})
	return nil
}

func (p *past) now() time.Time       { return time.Unix(0, p.clock.Load()) }
func (p *past) setTime(at time.Time) { p.clock.Store(at.UnixNano()) }

// addChannel adds the messages of a channel, and returns the crowd of the stream that is still
// live.
func (p *past) addChannel(channel string, seed uint64) *faketwitch.Crowd {
	live := stream(channel, seed, 3)
	if channel == First {
		live.RaidAt, live.RaidEvery = liveSince-raidAt, 1000*time.Hour
	}
	p.addLines(lull(channel, seed, 0), pastBegan, lastStream)
	p.addLines(stream(channel, seed, 1), lastStream, lastStreamOver)
	p.addLines(lull(channel, seed, 2), lastStreamOver, liveSince)
	p.addLines(live, liveSince, 0)
	return live
}

// addStreams records the stream that is over, and the one that is still live.
func (p *past) addStreams(channel string) {
	id, live := p.twitch.UserID(channel), p.before(liveSince).Truncate(time.Second)
	p.host.Store.NoteStream(journal.Stream{ChannelID: id, Start: p.before(lastStream).Truncate(time.Second), Seen: p.before(lastStreamOver), Ended: true})
	p.host.Store.NoteStream(journal.Stream{ChannelID: id, Start: live, Seen: p.start})
	p.twitch.SetLive(channel, live)
}

// before returns a time before the demo's start.
func (p *past) before(start time.Duration) time.Time { return p.start.Add(-start) }

// addLines adds what a crowd writes. from and to are times before the demo's start.
func (p *past) addLines(crowd *faketwitch.Crowd, from, to time.Duration) {
	began := p.before(from)
	for after, line := range crowd.Lines(from - to) {
		p.events = append(p.events, event{at: began.Add(after), line: line})
	}
}

// play lets the events happen in order, and writes their effects to the database.
func (p *past) play(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() { written <- p.host.Run(running) }()
	var err error
	for i := 0; i < len(p.events) && err == nil; i++ {
		m := &p.events[i]
		p.setTime(m.at)
		if m.change != nil {
			err = m.change(ctx)
		} else {
			err = p.say(ctx, m)
		}
		err = cmp.Or(err, ctx.Err())
	}
	stop()
	return errors.Join(err, <-written)
}

// say judges a message, unless its author was timed out, and records what was done about it.
func (p *past) say(ctx context.Context, m *event) error {
	channel, author := p.twitch.UserID(m.line.Channel), p.twitch.UserID(m.line.Login)
	user := userKey{channel, author}
	if p.silenced[user].After(m.at) {
		return nil
	}
	p.messages++
	v, err := p.guard.Check(ctx, chatguard.Message{
		ID: fmt.Sprintf("fa4e7817-d000-4000-8000-%012x", p.messages), ChannelID: channel, Text: m.line.Text, SentAt: m.at,
		User: chatguard.User{ID: author, Login: m.line.Login, DisplayName: m.line.DisplayName, Roles: rolesOfLine(m.line)},
	})
	if err != nil {
		return err
	}
	p.people.note(user, m.line, v)
	if !v.Allowed {
		p.host.Report(p.punish(user, v))
	}
	return nil
}

// punish carries out a penalty, a moment after the message.
func (p *past) punish(user userKey, v chatguard.Verdict) journal.Outcome {
	o := journal.Outcome{Entry: v.EntryID, Action: v.Penalty.Action, Result: journal.Done}
	o.At = v.At.Add(90*time.Millisecond + time.Duration(p.random.Int64N(int64(80*time.Millisecond))))
	if v.Penalty.Action != chatguard.ActionTimeout {
		return o
	}
	if p.failing {
		p.failing = false
		o.Result, o.Reason = journal.Failed, "Twitch answered with status 503, try again later"
		return o
	}
	p.silenced[user] = o.At.Add(v.Penalty.Duration)
	return o
}

// lift ends a user's timeout.
func (p *past) lift(_ context.Context, channelID, userID string) error {
	delete(p.silenced, userKey{channelID, userID})
	return nil
}

// restoreTimeouts repeats the timeouts that aren't over, at the simulated Twitch.
func (p *past) restoreTimeouts() {
	for user, until := range p.silenced {
		if left := until.Sub(p.start); left > 0 {
			line := p.people[user].line
			p.twitch.Silence(line.Channel, line.Login, left)
		}
	}
}

// rolesOfLine returns the roles that a line's badges stand for.
func rolesOfLine(l faketwitch.Line) chatguard.Roles {
	var set roles.Set
	for badge := range strings.SplitSeq(l.Badges, ",") {
		name, _, _ := strings.Cut(badge, "/")
		if role, ok := twitch.RoleOfBadge(name); ok {
			set = set.With(role)
		}
	}
	if l.First {
		set = set.With(roles.FirstTimer)
	}
	return set.Roles()
}
