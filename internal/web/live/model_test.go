package live

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

const channelID = "7"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entry returns an entry of a user who may speak again after wait.
func entry(id int64, user string, at time.Time, wait time.Duration) journal.Entry {
	return journal.Entry{
		ID: chatguard.EntryID(id), At: at, ChannelID: channelID, UserID: user, Limit: "burst", MaySpeakAt: journal.OptionalTime{Time: at.Add(wait)},
		Outcome: journal.Outcome{Entry: chatguard.EntryID(id), Result: journal.Pending},
	}
}

// newModel returns a Model of a real Guard. Nothing updates it in the background.
func newModel(t testing.TB) *Model {
	t.Helper()
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Guard: guard, Policies: policies.New(policies.Options{Guard: guard}),
		Channels: func() []Channel { return []Channel{{ID: channelID, Login: "somechannel"}} },
		Metrics:  metrics.NewSet(), Log: slog.New(slog.DiscardHandler),
	})
}

// A row says that its wait is only for the same message, also after the user is judged again. Of a
// message from before the start, only the text would say that.
func TestModel_RepeatedText(t *testing.T) {
	m := newModel(t)
	usual := m.opts.Guard.Policy()
	setLimits(t, m, append(usual.Limits, copies())...)
	now := m.opts.Guard.Now()
	say(t, m, "a", "the same text again", now)
	say(t, m, "a", "the same text again", now.Add(time.Second))
	preloaded, removed := entry(2, "b", now, time.Minute), entry(3, "c", now, time.Minute)
	preloaded.Limit, removed.Limit, removed.Repeats = "copies", "removed", journal.Repeats{Times: 2, People: 1, Window: "30s"}
	m.board.put(preloaded, "", chatguard.Message{}, now)
	m.board.put(removed, "", chatguard.Message{}, now)
	want := func(when string, held ...string) {
		t.Helper()
		for _, row := range m.Throttled(channelID, Recent) {
			if row.Held != slices.Contains(held, row.UserID) || row.Held && !row.SameText {
				t.Errorf("%s: %s is throttled: %t, with the same text: %t", when, row.UserID, row.Held, row.SameText)
			}
		}
	}
	want("at first", "a", "b", "c")
	m.Amended(channelID, "a")
	m.judgeAgain(channelID, now)
	want("judged again", "a")
	setLimits(t, m, usual.Limits...)
	m.judgeAgain(channelID, now)
	want("without the limit")
}

// copies is a limit that throttles the second message with a text.
func copies() chatguard.Limit {
	l := chatguard.SlidingLogLimit("copies", 1, time.Hour)
	l.Per = chatguard.PerUserText
	return l
}

func setLimits(t *testing.T, m *Model, limits ...chatguard.Limit) {
	t.Helper()
	p := m.opts.Guard.Policy()
	if p.Mode, p.Limits = chatguard.ModeEnforce, limits; m.opts.Guard.SetPolicy(p) != nil {
		t.Fatal("the policy is refused")
	}
}

// say judges a message, and tells the Model.
func say(t *testing.T, m *Model, user, text string, at time.Time) {
	t.Helper()
	msg := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: user}, Text: text, SentAt: at}
	v, err := m.opts.Guard.Check(t.Context(), msg)
	if err != nil {
		t.Fatal(err)
	}
	m.Observe(msg, v)
}
