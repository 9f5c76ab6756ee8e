package live

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// knowingChat is a chat that knows one user's timeout or ban.
type knowingChat struct {
	mu    sync.Mutex
	knows journal.Silence
}

func (c *knowingChat) learn(s journal.Silence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.knows = s
}

func (c *knowingChat) silence(string, string) (journal.Silence, bool) {
	c.mu.Lock()
	s := c.knows
	c.mu.Unlock()
	runtime.Gosched() // others may report changes between the question and the use of its answer
	return s, true
}

// TestModel_SilencedAtOnce checks that the board has the last timeout or ban that the chat knows,
// if several changes of it are reported at once.
func TestModel_SilencedAtOnce(t *testing.T) {
	m, chat := newModel(t), &knowingChat{}
	m.opts.Controls = control.New(control.Options{Guard: m.opts.Guard, Policies: m.opts.Policies})
	m.opts.Controls.Join(control.Chat{Acts: control.Acts{Serves: func(string) bool { return true }, Silence: chat.silence}})
	now := m.opts.Guard.Now()
	for range 1000 {
		var reports sync.WaitGroup
		for _, s := range []journal.Silence{{Until: now.Add(time.Hour)}, {Banned: true}, {Until: now}, {Until: now.Add(2 * time.Hour)}} {
			reports.Go(func() {
				chat.learn(s)
				m.Silenced(channelID, "a", "")
			})
		}
		reports.Wait()
		r, _ := m.board.find(channelID, "a")
		known, _ := chat.silence("", "")
		if shown := r.Silenced; known.IsInForce(now) != (shown != nil) || shown != nil && (shown.Banned != known.Banned || !shown.Until.Equal(known.Until)) {
			t.Fatalf("shown %+v, known %+v", shown, known)
		}
	}
}

// brokenRecords are Records that can't be read.
type brokenRecords struct{ Records }

func (brokenRecords) Person(context.Context, string, string) (p journal.Person, ok bool, err error) {
	return p, false, errors.New("broken")
}

// TestModel_SilencedStrikes checks that the row of a user whom only a timeout lists has the user's
// strikes, also after they were taken back, and even if no names can be read.
func TestModel_SilencedStrikes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, chat := newModel(t), &knowingChat{knows: journal.Silence{Banned: true}}
		m.opts.Records = brokenRecords{}
		m.opts.Controls = control.New(control.Options{Guard: m.opts.Guard, Policies: m.opts.Policies})
		m.opts.Controls.Join(control.Chat{Acts: control.Acts{Serves: func(string) bool { return true }, Silence: chat.silence}})
		policy := m.opts.Guard.Policy()
		policy.Mode = chatguard.ModeEnforce
		if err := m.opts.Guard.SetPolicy(policy); err != nil {
			t.Fatal(err)
		}
		users := []string{"a", "b"}
		strikes := map[string]int{}
		for _, user := range users {
			for strikes[user] == 0 {
				v, err := m.opts.Guard.Check(t.Context(), chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: user}})
				if err != nil {
					t.Fatal(err)
				}
				strikes[user] = v.Strikes
			}
		}
		want := func(when string) {
			t.Helper()
			for _, user := range users {
				if r, ok := m.board.find(channelID, user); !ok || r.Strikes != strikes[user] {
					t.Errorf("%s: %s is listed: %v, with %d strikes, want %d", when, user, ok, r.Strikes, strikes[user])
				}
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		var naming sync.WaitGroup
		naming.Go(func() { m.nameUsers(ctx) })
		for _, user := range users {
			m.Silenced(channelID, user, "")
		}
		synctest.Wait()
		want("banned")
		if err := m.opts.Guard.Reset(t.Context(), chatguard.Key{ChannelID: channelID, UserID: "a"}); err != nil {
			t.Fatal(err)
		}
		strikes["a"] = 0
		m.Amended(channelID, "a")
		want("after a reset")
		stop()
		naming.Wait()
	})
}

// TestModel_MadeEnded checks that a row says what a person has ended, if that is known.
func TestModel_MadeEnded(t *testing.T) {
	m := newModel(t)
	m.board.silence(rowKey{channelID, "a"}, &journal.Silence{Banned: true, At: m.opts.Guard.Now()}, journal.Person{}, m.opts.Guard.Now())
	timeout, ban := &journal.Silence{}, &journal.Silence{Banned: true}
	for _, c := range []struct {
		action journal.AuditAction
		detail journal.Detail
		want   chatguard.Action
	}{
		{journal.UserLifted, journal.LiftDetail{Former: timeout}, chatguard.ActionTimeout},
		{journal.UserLifted, journal.LiftDetail{Banned: true, Former: ban}, chatguard.ActionBan},
		{journal.UserLifted, journal.LiftDetail{Banned: true}, ""},
		{journal.UserTimedOut, journal.TimeoutDetail{Former: ban, Restored: true}, chatguard.ActionBan},
		{journal.UserTimedOut, journal.TimeoutDetail{Former: ban}, ""},
		{journal.UserBanned, journal.BanDetail{Former: timeout}, ""},
	} {
		m.Made(journal.Audit{Action: c.action, ChannelID: channelID, UserID: "a", Detail: c.detail})
		if r, _ := m.board.find(channelID, "a"); r.Act == nil || r.Act.Action != c.action || r.Act.Ended != c.want {
			t.Errorf("%s %+v: %+v, want %q", c.action, c.detail, r.Act, c.want)
		}
	}
}
