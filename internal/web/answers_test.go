//go:build !race

package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/live"
)

var updateAnswers = flag.Bool("update-answers", false, "write the answers with which the tests of the pages begin")

// answersOfTests has what the pages get from their server in web/test/pages, unless a test says
// otherwise.
const answersOfTests = "../../web/testing/answers.json"

// changing matches names that differ from run to run.
var changing = regexp.MustCompile(`"(feed|message_id|id|session)":"[^"]{16,}"`)

// rates are the figures of the status, which count the messages once a second has ended.
var rates = regexp.MustCompile(`"((?:messages|throttled)_(?:per_second|last_minute))":[0-9.]+`)

// TestAnswers_OfPages checks that the tests of the pages begin with real answers: those about one
// channel in which one of two users has written too much.
func TestAnswers_OfPages(t *testing.T) {
	d := dashAt(t, time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC))
	d.say(spammer, 5)
	d.say(chatguard.User{ID: "43", Login: "anna", DisplayName: "Anna"}, 2)
	d.flush()
	session := d.signIn(map[string]string{"token": token})
	cookie := addCookie(session)
	answers := map[string]any{"frame": d.listenWith("Cookie", session.String(), "").next(live.SnapshotFrame)}
	for _, path := range []string{
		"/access", "/audit?channel=7", "/channels", "/channels/7/overrides", "/channels/7/policy", "/channels/7/policy/revisions",
		"/channels/7/settings", "/channels/7/summary", "/channels/7/top", "/channels/7/users/42", "/channels/7/users/42/notes",
		"/channels/7/users/43", "/channels/7/users/43/notes", "/journal?channel=7", "/overlay?channel=7", "/session",
		"/sign-in", "/users?channel=7&q=spam",
	} {
		a := d.do("GET", "/api/v1"+path, nil, cookie)
		if a.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s: %s", path, a.Status, a.body)
		}
		name, _, _ := strings.Cut(path, "?")
		answers["GET "+name] = json.RawMessage(a.body)
	}
	answers["every change"] = json.RawMessage(d.changeAll().do("GET", "/api/v1/audit?channel=7", nil, asOwner).body)
	answers["POST /channels/7/preview"] = json.RawMessage(d.try(func(p *chatguard.Policy) { p.Limits[0].Burst = 2 }).body)
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		answer, err := json.Marshal(answers[name])
		if err != nil {
			t.Fatal(err)
		}
		text = fmt.Appendf(text, ",\n%q: %s", name, answer)
	}
	text = append(changing.ReplaceAll(rates.ReplaceAll(text, []byte(`"$1":0`)), []byte(`"$1":"random"`)), "\n}\n"...)
	text[0] = '{'
	if *updateAnswers {
		if err := os.WriteFile(answersOfTests, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(answersOfTests)
	if err != nil || !bytes.Equal(known, text) {
		t.Errorf("%s is out of date (%v); run go test ./internal/web -run TestAnswers -update-answers", answersOfTests, err)
	}
}

// changeAll makes one change of each kind in another dashboard, which it returns.
func (d *dashboard) changeAll() *dashboard {
	d.Helper()
	d = dashAt(d.TB, d.now())
	entry := d.say(spammer, 4).EntryID
	d.flush()
	pardon := d.pardonSpammer().ID
	user := channelPath + "/users/42"
	own := chatguard.UserOverride{Exempt: chatguard.ExemptNever, Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"burst": {Burst: 9, Refill: 2 * time.Second}}}
	for _, change := range []struct {
		method, path string
		body         any
	}{
		{"DELETE", fmt.Sprintf("%s/pardon/%d", user, pardon), nil},
		{"POST", user + "/grant", map[string]any{"limit": "daily", "messages": 10}},
		{"POST", fmt.Sprintf("/api/v1/journal/%d/pardon", entry), nil},
		{"POST", user + "/reset", nil},
		{"POST", user + "/exempt", map[string]any{"for": "1h"}},
		{"POST", user + "/exempt", nil},
		{"PUT", user + "/override", own},
		{"POST", user + "/timeout", timeoutWanted{Length: "10m", Reason: "spam"}},
		{"DELETE", user + "/timeout", nil},
		{"POST", user + "/ban", nil},
		{"POST", user + "/notes", map[string]any{"text": "rude"}},
		{"DELETE", user + "/notes/1", nil},
		{"PATCH", modesPath, map[string]any{"slow_mode": true, "slow_mode_wait_time": 30}},
		{"PATCH", modesPath, map[string]any{"follower_mode": true, "follower_mode_duration": 10, "emote_mode": false}},
		{"POST", channelPath + "/pause", nil},
		{"POST", channelPath + "/raid", map[string]any{"for": "10m"}},
		{"DELETE", channelPath + "/raid", nil},
		{"POST", "/api/v1/tokens", map[string]any{"name": "berta", "role": "help"}},
		{"DELETE", "/api/v1/tokens/berta", nil},
	} {
		if a := d.do(change.method, change.path, change.body, asOwner, setHeader("If-Match", "*")); a.StatusCode >= 300 {
			d.Errorf("%s %s: %s %s", change.method, change.path, a.Status, a.body)
		}
	}
	d.put(burst(7))
	d.flush()
	return d
}
