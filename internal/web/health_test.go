package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestReadyWhenMessagesAreJudgedAndKept(t *testing.T) {
	d := dash(t)
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/healthz", "/api/v1/readyz"} {
		if a := d.do("GET", path, nil); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
}

func TestReasonsAreForThoseSignedIn(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Connections = func() []Connection {
			return []Connection{{Name: "Twitch", State: Disconnected, Detail: "no route"}, {Name: "EventSub", State: Connected}}
		}
		o.Database = func() Database { return Database{State: DatabaseFailing, Detail: "disk full"} }
	})
	if a := d.do("GET", "/readyz", nil); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "route") {
		t.Errorf("for anybody: %s %s", a.Status, a.body)
	}
	a := d.do("GET", "/readyz", nil, asOwner)
	if want := `{"reasons":["Twitch: disconnected: no route","database: failing: disk full"],"status":"unavailable"}`; strings.TrimSpace(string(a.body)) != want {
		t.Errorf("for the owner: %s", a.body)
	}
	if a := d.do("GET", "/healthz", nil); a.StatusCode != http.StatusOK {
		t.Errorf("healthz: %s", a.Status)
	}
}

func TestMetricsCountVerdictsAndOutcomes(t *testing.T) {
	d := dash(t)
	v := d.say(spammer, 5)
	d.server.Report(journal.Outcome{Entry: v.EntryID, Action: chatguard.Delete, Result: journal.Done})
	a := d.do("GET", "/metrics", nil)
	for _, line := range []string{
		`chatguard_messages_total{channel="7"} 5`,
		`chatguard_throttled_messages_total{channel="7"} 2`,
		`chatguard_outcomes_total{action="delete",result="done"} 1`,
		`chatguard_throttled_users 1`,
		`chatguard_users 1`,
		`chatguard_users_evicted_total 0`,
	} {
		if !strings.Contains(string(a.body), line+"\n") {
			t.Errorf("no line %q in\n%s", line, a.body)
		}
	}
}

func TestObserveCostsAnAllowedMessageNoMemory(t *testing.T) {
	d := dash(t)
	m := chatguard.Message{ChannelID: channelID, User: spammer}
	v := chatguard.Verdict{Allowed: true, ChannelID: channelID, UserID: spammer.ID}
	if n := testing.AllocsPerRun(1000, func() { d.server.Observe(m, v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
