package live

import (
	"log/slog"
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

// A row says that its wait is only for the same message, until the user is judged without a text.
func TestModel_RepeatedText(t *testing.T) {
	m := newModel(t)
	p := m.opts.Guard.Policy()
	copies := chatguard.SlidingLogLimit("copies", 1, time.Hour)
	copies.Per = chatguard.PerUserText
	p.Limits = append(p.Limits, copies)
	if err := m.opts.Guard.SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	now := m.opts.Guard.Now()
	copied := entry(1, "a", now, time.Minute)
	copied.Limit = "copies"
	removed := entry(3, "c", now, time.Minute)
	removed.Limit, removed.Repeats = "removed", journal.Repeats{Times: 2, People: 1, Window: "30s"}
	m.Preload([]journal.Entry{entry(2, "b", now, time.Minute)})
	m.board.put(copied, "", nil, 1, now)
	m.board.put(removed, "", nil, 1, now)
	for _, row := range m.Throttled(channelID, Recent) {
		if row.SameText != (row.UserID != "b") {
			t.Errorf("%s: same text %t", row.UserID, row.SameText)
		}
	}
	m.Amended(channelID, "a")
	m.Amended(channelID, "c")
	m.judgeAgain(channelID, now)
	for _, row := range m.Throttled(channelID, Recent) {
		if row.Held {
			t.Errorf("%s is throttled whatever they write", row.UserID)
		}
	}
}
