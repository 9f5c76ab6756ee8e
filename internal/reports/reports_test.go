package reports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/webhook"
)

// Of several nodes, the one that acts in a channel reports what happens there by itself.
func TestReporter_Acts(t *testing.T) {
	if r := New(Options{}); !r.acts("1", false) {
		t.Error("a node alone doesn't report")
	}
	r := New(Options{Leads: func(channelID string) (leads, known bool) { return channelID == "mine", channelID != "unknown" }})
	for _, otherwise := range []bool{false, true} {
		for channelID, want := range map[string]bool{"mine": true, "theirs": false, "unknown": otherwise} {
			if got := r.acts(channelID, otherwise); got != want {
				t.Errorf("%s, otherwise %v: %v", channelID, otherwise, got)
			}
		}
	}
}

// A ban for several messages has an entry for each, but is one ban. What is known of one of them is
// known of the ban.
func TestAddBan(t *testing.T) {
	var list []webhook.BannedUser
	for _, user := range []webhook.BannedUser{
		{UserID: "1", Unknown: true}, {UserID: "1", Unknown: true}, {UserID: "2", Unknown: true}, {UserID: "1", By: "anna"}, {UserID: "2"}, {UserID: "2", Unknown: true}, {}, {},
	} {
		list = addBan(list, user)
	}
	if want := []webhook.BannedUser{{UserID: "1", Unknown: true}, {UserID: "2"}, {UserID: "1", By: "anna"}, {}, {}}; !slices.Equal(list, want) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
}

// records are what a node's database would keep.
type records struct {
	webhook.Store
	settings map[string]map[string]string
}

func (records) PutWebhook(journal.Webhook)                 {}
func (records) PutWebhookDelivery(journal.WebhookDelivery) {}

func (records) Entry(_ context.Context, id chatguard.EntryID) (journal.Entry, bool, error) {
	return journal.Entry{ChannelID: "1", UserID: fmt.Sprint("u", id), Login: fmt.Sprint("user", id)}, true, nil
}

func (records) Person(_ context.Context, _, userID string) (journal.Person, bool, error) {
	return journal.Person{Login: "user" + strings.TrimPrefix(userID, "u")}, true, nil
}

func (r records) SaveSetting(_ context.Context, channelID, name, value string) (bool, error) {
	r.settings[channelID] = map[string]string{name: value}
	return true, nil
}

// node is a Reporter with a webhook at which nobody answers.
type node struct {
	*Reporter
	t     *testing.T
	leads string // "yes", "no", or "" if nobody knows
	last  int64  // ID of the last event that want has seen
}

// start returns a node that has just started with these records.
func start(t *testing.T, name string, kept records) *node {
	t.Helper()
	n := &node{t: t}
	hooks := webhook.New(webhook.Options{Store: kept})
	hooks.SetConfigured([]webhook.Hook{{ID: webhook.ConfiguredID("test"), Name: "test", Format: webhook.Signed, Events: webhook.Kinds}})
	n.Reporter = New(Options{
		Webhooks: hooks, Store: kept, Node: func() string { return name }, Log: slog.New(slog.DiscardHandler), StreamOver: 10 * time.Minute,
		Leads: func(string) (leads, known bool) { return n.leads == "yes", n.leads != "" },
		Name:  func(string) string { return "gardenhour" },
	})
	return n
}

// want checks the texts of the events since the last call.
func (n *node) want(parts ...string) {
	n.t.Helper()
	waiting, _, err := n.options.Webhooks.Deliveries(webhook.ConfiguredID("test"))
	if err != nil {
		n.t.Fatal(err)
	}
	waiting = slices.DeleteFunc(waiting, func(d webhook.Delivery) bool { return d.ID <= n.last })
	for i, d := range waiting {
		if n.last = d.ID; len(waiting) != len(parts) || !strings.Contains(d.Text, parts[i]) {
			n.t.Errorf("event %d of %d: %q, want %q", i+1, len(waiting), d.Text, parts)
		}
	}
	if len(waiting) != len(parts) {
		n.t.Errorf("%d events, want %q", len(waiting), parts)
	}
}

// TestRaid_Nodes checks that of two nodes one reports raid mode, and both what a person does there.
func TestRaid_Nodes(t *testing.T) {
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	raid := func(author string, on bool) journal.Audit {
		a := journal.Audit{At: at, Author: author, Action: journal.RaidSwitched, ChannelID: "1"}
		if on {
			a.Detail = journal.RaidDetail{Until: at.Add(time.Minute), MessagesPerSecond: 20}
		}
		return a
	}
	for name, steps := range map[string][]struct {
		leads  string
		change journal.Audit
		want   []string
	}{
		"it leads":              {{"yes", raid(journal.ProgramAuthor, true), []string{"is on"}}, {"yes", raid(journal.ProgramAuthor, false), []string{"ended by itself"}}},
		"another leads":         {{"no", raid(journal.ProgramAuthor, true), nil}, {"no", raid(journal.ProgramAuthor, false), nil}},
		"nobody knows":          {{"", raid(journal.ProgramAuthor, true), []string{"is on"}}, {"", raid(journal.ProgramAuthor, false), []string{"ended by itself"}}},
		"it ends":               {{"", raid(journal.ProgramAuthor, false), nil}},
		"it ends, and it leads": {{"yes", raid(journal.ProgramAuthor, false), []string{"ended by itself"}}},
		"it ends twice":         {{"", raid(journal.ProgramAuthor, true), []string{"is on"}}, {"", raid("carl", false), []string{"carl ended"}}, {"", raid(journal.ProgramAuthor, false), nil}},
		"a person":              {{"no", raid("berta", true), []string{"berta started"}}, {"no", raid("carl", false), []string{"carl ended"}}},
		"another leads now":     {{"yes", raid(journal.ProgramAuthor, true), []string{"is on"}}, {"no", raid(journal.ProgramAuthor, false), nil}},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, "a", records{})
			for _, step := range steps {
				n.leads = step.leads
				n.NoteChange(step.change)
				n.want(step.want...)
			}
		})
	}
}

// TestStream_Once checks that the end of a stream is reported once: by the node that leads, as soon
// as it can be summed up, not again after a restart, and not if it is old news.
func TestStream_Once(t *testing.T) {
	ended := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	stream := journal.Stream{ChannelID: "1", Start: ended.Add(-time.Hour), Seen: ended, Ended: true}
	soon, later := ended.Add(10*time.Minute), ended.Add(10*time.Minute+1)
	var failing error
	summary := func(context.Context, journal.Stream) (s webhook.StreamSummary, err error) { return s, failing }

	kept := records{settings: map[string]map[string]string{}}
	n := start(t, "a", kept)
	n.options.Summary = summary
	n.NoteStream(stream)
	n.leads = "yes"
	n.reportStreams(t.Context(), soon)
	n.want() // it may go on
	failing = errors.New("the database is busy")
	n.reportStreams(t.Context(), later)
	n.want() // it can't be summed up
	n = start(t, "a", kept)
	n.options.Summary, n.leads, failing = summary, "yes", nil
	n.RestoreStreams([]journal.Stream{stream, {ChannelID: "1", Start: ended.Add(-9 * time.Hour), Seen: ended.Add(-8 * time.Hour), Ended: true}}, kept.settings)
	n.reportStreams(t.Context(), later)
	n.want("The stream is over")
	n.reportStreams(t.Context(), later)
	n.want()
	n = start(t, "a", kept)
	n.options.Summary, n.leads = summary, "yes"
	n.RestoreStreams([]journal.Stream{stream}, kept.settings)
	n.reportStreams(t.Context(), later)
	n.want()

	for _, leads := range []string{"no", ""} {
		other := start(t, "b", records{settings: map[string]map[string]string{}})
		other.options.Summary, other.leads = summary, leads
		other.NoteStream(stream)
		other.reportStreams(t.Context(), later)
		other.leads = "yes"
		other.reportStreams(t.Context(), later)
		other.want()
	}
	n.NoteStream(stream)
	n.reportStreams(t.Context(), ended.Add(12*time.Hour+1))
	n.reportStreams(t.Context(), later)
	n.want()
}

// TestBans_Once checks that bans are reported once, together and in the order of their times, also
// those that were pending when the last process ended.
func TestBans_Once(t *testing.T) {
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	n := start(t, "a", records{})
	n.NoteInterrupted([]journal.Entry{{ID: 3, At: at.Add(time.Second)}})
	n.NoteOutcome(journal.Outcome{Entry: 2, At: at.Add(2 * time.Second), Action: chatguard.ActionBan, Result: journal.Done})
	n.NoteOutcome(journal.Outcome{Entry: 4, At: at, Action: chatguard.ActionBan, Result: journal.Failed})
	n.NoteOutcome(journal.Outcome{Entry: 5, At: at, Action: chatguard.ActionDelete, Result: journal.Done})
	n.NoteChange(journal.Audit{At: at, Author: "berta", Action: journal.UserBanned, ChannelID: "1", UserID: "u1", Detail: journal.BanDetail{Reason: "links"}})
	n.want()
	for range 2 {
		n.ReportBans(t.Context())
	}
	n.want("Banned. user1, by berta: links user3, by chatguard; whether Twitch carried it out is unknown user2, by chatguard")
}

// TestBans_Bounded checks that the bans of a flood are several events, and that not all are kept.
func TestBans_Bounded(t *testing.T) {
	n := start(t, "a", records{})
	for i := range MaxBans + 1 {
		n.noteBan(ban{entry: chatguard.EntryID(i + 1)})
	}
	if len(n.bans) != MaxBans {
		t.Errorf("%d bans are kept", len(n.bans))
	}
	n.bans = n.bans[:webhook.MaxBans+1]
	n.ReportBans(t.Context())
	n.want("user1,", fmt.Sprint("user", webhook.MaxBans+1))
}
