//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestReady(t *testing.T) {
	d := dash(t)
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/healthz", "/api/v1/readyz"} {
		d.wantStatus(path, http.StatusOK, "GET", path, nil)
	}
	for state, want := range map[journal.DatabaseState]int{journal.DatabaseOK: 200, journal.DatabaseFailing: 503, journal.DatabaseOff: 200} {
		d.store.setState(journal.Database{State: state, Since: d.now(), Dropped: 1})
		d.wantStatus(string(state), want, "GET", "/readyz", nil)
	}
}

func TestReady_ReasonsOnlySignedIn(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Live.Connections = func() []live.Connection {
			return []live.Connection{{Name: "Twitch", State: live.Disconnected, Detail: "no route"}, {Name: "EventSub", State: live.Connected}}
		}
		o.Live.Database = func() journal.Database { return journal.Database{State: journal.DatabaseFailing, Detail: "disk full"} }
	})
	if a := d.do("GET", "/readyz", nil); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "route") {
		t.Errorf("for anybody: %s %s", a.Status, a.body)
	}
	a := d.do("GET", "/readyz", nil, asOwner)
	if want := `{"reasons":["Twitch: disconnected: no route","database: failing: disk full"],"status":"unavailable"}`; strings.TrimSpace(string(a.body)) != want {
		t.Errorf("for the owner: %s", a.body)
	}
	d.wantStatus("healthz", http.StatusOK, "GET", "/healthz", nil)
}

// A connection in trouble makes the server not ready, and the reason names it. A Helix that has not
// been asked yet is no trouble, and is never reported as ok; neither is a notice, such as a pause.
// Trouble that is still brief doesn't count.
func TestReady_Connections(t *testing.T) {
	for state, isReady := range map[live.ConnectionState]bool{
		live.Connected: true, live.Connecting: false, live.Disconnected: false, live.NotRead: false, live.NotEnforcing: false, live.Renamed: true, live.NotRenewed: true, live.Observing: true, live.Paused: true, live.RaidMode: true,
		live.Unasked: true, live.Ample: true, live.Low: true, live.Failing: false,
	} {
		d := dash(t, func(o *Options) {
			o.Live.Connections = func() []live.Connection {
				return []live.Connection{{Name: "Helix", State: state, Detail: "status 500"}, {Name: "Twitch", State: live.Disconnected, Brief: true}}
			}
		})
		want, status := `{"status":"ok"}`, http.StatusOK
		if state == live.NotRenewed {
			want = fmt.Sprintf(`{"reasons":["Helix: %s: status 500"],"status":"degraded"}`, state)
		}
		if !isReady {
			want, status = fmt.Sprintf(`{"reasons":["Helix: %s: status 500"],"status":"unavailable"}`, state), http.StatusServiceUnavailable
		}
		if a := d.do("GET", "/readyz", nil, asOwner); a.StatusCode != status || strings.TrimSpace(string(a.body)) != want {
			t.Errorf("%s: %s %s", state, a.Status, a.body)
		}
		if a := d.do("GET", "/api/v1/status", nil, asOwner); !strings.Contains(string(a.body), `"state":"`+string(state)+`"`) {
			t.Errorf("%s: %s", state, a.body)
		}
	}
}

func TestStatus_Database(t *testing.T) {
	d := dash(t)
	for want, database := range map[string]journal.Database{
		`"database":{"state":"ok"}`: {State: journal.DatabaseOK},
		`"database":{"state":"failing","detail":"disk full","since":"2026-03-01T12:00:00Z","last_flush":"2026-03-01T11:59:00Z","queued":7,"dropped":2,"lag_seconds":61.5}`: {
			State: journal.DatabaseFailing, Detail: "disk full", Since: noon, LastFlush: noon.Add(-time.Minute), Lag: 61500 * time.Millisecond, Queued: 7, Dropped: 2,
		},
	} {
		d.store.setState(database)
		if a := d.do("GET", "/api/v1/status", nil, asOwner); !strings.Contains(string(a.body), want) {
			t.Errorf("got  %s\nwant %s", a.body, want)
		}
	}
}

func TestMetrics_IncludeOthers(t *testing.T) {
	set := metrics.NewSet()
	set.NewCounter("chatguard_rows_written_total").Add(7)
	shared, own := dash(t, func(o *Options) { o.Live.Metrics = set }), dash(t)
	for line, d := range map[string]*dashboard{"chatguard_rows_written_total 7\n": shared, "chatguard_live_feeds 0\n": own} {
		if a := d.do("GET", "/metrics", nil); !strings.Contains(string(a.body), line) {
			t.Errorf("no line %q in\n%s", line, a.body)
		}
	}
	if a := own.do("GET", "/metrics", nil); strings.Contains(string(a.body), "chatguard_rows_written_total") {
		t.Error("the metrics include those of another server's set")
	}
}

func TestMetrics_PublicURL(t *testing.T) {
	d := dash(t, func(o *Options) { o.Access.Site.PublicURL = parseURL("https://chat.example.org/guard/") })
	for _, name := range []string{"chat.example.org", "127.0.0.1:8080", "localhost"} {
		// a proxy may ask for any of these hosts
		d.wantStatus(fmt.Sprintf("at %s", name), http.StatusUnauthorized, "GET", "/metrics", nil, setHost(name))
		d.wantStatus(fmt.Sprintf("at %s, for the owner", name), http.StatusOK, "GET", "/metrics", nil, setHost(name), asOwner)
	}
}

func TestMetrics_Proxied(t *testing.T) {
	d := dash(t)
	d.wantStatus("from this machine", http.StatusOK, "GET", "/metrics", nil)
	for _, name := range []string{
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via", "CF-Connecting-IP", "CF-Ray", "True-Client-IP",
	} {
		for _, value := range []string{"192.0.2.1", ""} {
			d.wantStatus(fmt.Sprintf("with %s: %q", name, value), http.StatusUnauthorized, "GET", "/metrics", nil, setHeader(name, value))
		}
		d.wantStatus(fmt.Sprintf("with %s, for the owner", name), http.StatusOK, "GET", "/metrics", nil, setHeader(name, "192.0.2.1"), asOwner)
	}
}

func TestMetrics_CountsAndStates(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Live.Database = func() journal.Database { return journal.Database{State: journal.DatabaseFailing} }
	})
	v := d.say(spammer, 5)
	d.server.Report(journal.Outcome{Entry: v.EntryID, Action: chatguard.ActionDelete, Result: journal.Done})
	a := d.do("GET", "/metrics", nil)
	for _, line := range []string{
		`chatguard_messages_total{channel="somechannel",channel_id="7"} 5`,
		`chatguard_throttled_messages_total{channel="somechannel",channel_id="7"} 2`,
		`chatguard_outcomes_total{action="delete",result="done"} 1`,
		`chatguard_throttled_users 1`,
		`chatguard_users 1`,
		`chatguard_users_evicted_total 0`,
		`chatguard_texts 0`,
		`chatguard_texts_evicted_total 0`,
		`chatguard_database_ok 0`, `chatguard_ready 0`,
		`chatguard_channel_enforcing{channel="somechannel",channel_id="7"} 1`,
	} {
		if !strings.Contains(string(a.body), line+"\n") {
			t.Errorf("no line %q in\n%s", line, a.body)
		}
	}
	if n := strings.Count(string(a.body), "\ngo_"); n > 12 {
		t.Errorf("%d lines about Go", n)
	}
}

// Each channel that several nodes are in has a metric of whether this one acts.
func TestMetrics_Leader(t *testing.T) {
	if all := string(dash(t).do("GET", "/metrics", nil).body); strings.Contains(all, "shared_leader") {
		t.Errorf("a node alone leads in\n%s", all)
	}
	d := dash(t, func(o *Options) {
		o.Live.Channels = func() []live.Channel { return []live.Channel{{ID: "7"}, {ID: "8"}, {ID: "9"}} }
		o.Leads = func(channelID string) (leads, ok bool) { return channelID == "7", channelID != "9" }
	})
	all := string(d.do("GET", "/metrics", nil).body)
	if want := "# TYPE chatguard_shared_leader gauge\nchatguard_shared_leader{channel=\"7\",channel_id=\"7\"} 1\nchatguard_shared_leader{channel=\"8\",channel_id=\"8\"} 0\n"; !strings.Contains(all, want) || strings.Count(all, "shared_leader{") != 2 {
		t.Errorf("no %s in\n%s", want, all)
	}
}

// Prometheus can parse the metrics whatever the IDs of servers' channels are. A label may contain
// any valid text; three characters must be escaped.
func TestMetrics_AnyChannelID(t *testing.T) {
	d := dash(t)
	for id, labelled := range map[string]string{
		"a\u202eb": "a\u202eb", "a\u200bb": "a\u200bb", `a\b"c`: `a\\b\"c`, "a\nb": `a\nb`, "a\tb": "a\tb", "a\xffb": "a\uFFFDb",
	} {
		d.server.Observe(chatguard.Message{ChannelID: id, User: spammer}, chatguard.Verdict{Allowed: true, ChannelID: id, UserID: spammer.ID})
		if a := d.do("GET", "/metrics", nil); !strings.Contains(string(a.body), `chatguard_messages_total{channel="`+labelled+`",channel_id="`+labelled+"\"} 1\n") {
			t.Errorf("%q isn't as %s in\n%s", id, labelled, a.body)
		}
	}
}

// The label channel is the login. A renamed channel keeps its ID and its counters, and channels of
// the same name stay apart.
func TestMetrics_ChannelNames(t *testing.T) {
	var login atomic.Value
	login.Store("before")
	d := dash(t, func(o *Options) {
		o.Live.Channels = func() []live.Channel {
			return []live.Channel{{ID: "7", Login: login.Load().(string)}, {ID: "check:lobby", Login: "lobby"}, {ID: "8", Login: "lobby"}}
		}
	})
	for _, id := range []string{"7", "7", "8", "check:lobby", "unlisted"} {
		d.server.Observe(chatguard.Message{ChannelID: id, User: spammer}, chatguard.Verdict{Allowed: true, ChannelID: id, UserID: spammer.ID})
	}
	check := func(name string) {
		t.Helper()
		want := `chatguard_messages_total{channel="` + name + `",channel_id="7"} 2
chatguard_messages_total{channel="lobby",channel_id="8"} 1
chatguard_messages_total{channel="lobby",channel_id="check:lobby"} 1
chatguard_messages_total{channel="unlisted",channel_id="unlisted"} 1
`
		if a := d.do("GET", "/metrics", nil); !strings.Contains(string(a.body), want) {
			t.Errorf("no\n%s\nin\n%s", want, a.body)
		}
	}
	check("before")
	login.Store("after")
	check("after")
}
