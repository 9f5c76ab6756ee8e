//go:build !race

package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// around returns the messages in an answer, with brackets around the one that was asked for.
func around(t *testing.T, a answer) string {
	t.Helper()
	var all []string
	for _, s := range decode[map[string][]live.Said](t, a)["messages"] {
		if s.Asked {
			s.Text = "[" + s.Text + "]"
		}
		all = append(all, s.Text)
	}
	return strings.Join(all, " ")
}

func TestMessages_Around(t *testing.T) {
	d := dash(t)
	var entry chatguard.EntryID
	for i := range 4 {
		d.write(chatguard.User{ID: "43"}, fmt.Sprint("other", i))
		entry = d.write(spammer, fmt.Sprint("spam", i)).EntryID
	}
	d.write(chatguard.User{ID: "44"}, "last")
	const path = "/api/v1/channels/" + channelID + "/messages"
	for query, want := range map[string]string{
		fmt.Sprint("?n=2&entry=", entry):             "spam2 other3 [spam3] last",
		"?n=1&user=43":                               "spam2 [other3] spam3",
		fmt.Sprint("?n=1&user=43&entry=", entry):     "",
		fmt.Sprint("?entry=", int64(entry)+1_000):    "",
		fmt.Sprint("?n=0&entry=", entry, "&user=42"): "[spam3]",
		"?user=44": "spam1 other2 spam2 other3 spam3 [last]",
	} {
		if got := around(t, d.do("GET", path+query, nil, asOwner)); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]int{"": 200, "?user=43&n=21": 422, "?entry=x": 422, "?text=x": 422} {
		d.wantStatus(query, want, "GET", path+query, nil, asOwner)
	}
	d.wantStatus("another channel", http.StatusNotFound, "GET", "/api/v1/channels/other/messages?user=43", nil, asOwner)
	d.advance(live.Recent)
	if got := around(t, d.do("GET", path+"?user=44", nil, asOwner)); got != "" {
		t.Errorf("10 minutes later: %q", got)
	}
}

// An allowed message is in memory only: neither in the journal nor in the log nor in a file, from
// which backups and exports are made.
func TestMessages_NeverWritten(t *testing.T) {
	var logged waittest.Output
	d := dash(t, func(o *Options) {
		o.Live.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Access.Log = o.Live.Log
	})
	const secret, shown = "only-in-memory", "in-the-journal"
	d.write(chatguard.User{ID: "43"}, secret)
	for range 4 {
		d.write(spammer, shown)
	}
	if got := around(t, d.do("GET", "/api/v1/channels/"+channelID+"/messages?user=42&n=4", nil, asOwner)); !strings.Contains(got, secret) {
		t.Fatalf("messages %q", got)
	}
	d.flush()
	written := map[string]string{
		"journal":  string(d.do("GET", "/api/v1/journal?channel="+channelID, nil, asOwner).body),
		"audit":    string(d.do("GET", "/api/v1/audit", nil, asOwner).body),
		"metrics":  string(d.do("GET", "/api/v1/metrics", nil, asOwner).body),
		"the card": string(d.do("GET", "/api/v1/channels/"+channelID+"/users/43", nil, asOwner).body),
	}
	d.advance(time.Minute)
	d.restart()
	written["log"] = logged.String()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(d.database), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		written[filepath.Base(name)] = string(data)
	}
	isJournalled := false
	for name, text := range written {
		if strings.Contains(text, secret) {
			t.Errorf("%s has the message", name)
		}
		isJournalled = isJournalled || strings.Contains(text, shown)
	}
	if !isJournalled {
		t.Error("nothing has the throttled message")
	}
}
