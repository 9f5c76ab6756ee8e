//go:build !race

package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestRequests_Refused(t *testing.T) {
	policy := config.DefaultPolicy()
	broken := policy.Clone()
	broken.Limits[1].Messages = -1
	matching := setHeader("If-Match", "*")
	tests := []struct {
		name         string
		method, path string
		body         any
		adjust       []func(*http.Request)
		status       int
		says         string
	}{
		{"no token", "GET", "/api/v1/status", nil, nil, 401, "chatguard signin"},
		{"wrong token", "GET", "/api/v1/status", nil, []func(*http.Request){setHeader("Authorization", "Bearer wrong")}, 401, "token"},
		{"unknown session", "GET", "/api/v1/throttled", nil, []func(*http.Request){setHeader("Cookie", "chatguard=guess")}, 401, "Sign in"},
		{"change without token", "PUT", policyPath, policy, nil, 401, "Sign in"},
		{"live feed without token", "GET", "/api/v1/live", nil, nil, 401, "Sign in"},
		{"metrics through a proxy", "GET", "/metrics", nil, []func(*http.Request){setHeader("X-Forwarded-For", "192.0.2.1")}, 401, "Sign in"},
		{"foreign host", "GET", "/api/v1/status", nil, []func(*http.Request){asOwner, setHost("evil.example")}, 421, "public_url"},
		{"foreign host, page", "GET", "/", nil, []func(*http.Request){setHost("evil.example:80")}, 421, "public_url"},
		{"write from another site", "PUT", policyPath, policy, []func(*http.Request){asOwner, setHeader("Sec-Fetch-Site", "cross-site")}, 403, "Requests from another site"},
		{"write from another origin", "POST", "/api/v1/session", map[string]string{"code": "good-code"},
			[]func(*http.Request){setHeader("Origin", "http://evil.example")}, 403, "Requests from another site"},
		{"no If-Match", "PUT", policyPath, policy, []func(*http.Request){asOwner}, 428, "If-Match"},
		{"stale If-Match", "PUT", policyPath, policy, []func(*http.Request){asOwner, setHeader("If-Match", `"old"`)}, 412, "Someone else"},
		{"invalid policy", "PUT", policyPath, broken, []func(*http.Request){asOwner, matching}, 422, `"daily"`},
		{"unknown key", "PUT", policyPath, map[string]any{"modus": "enforce"}, []func(*http.Request){asOwner, matching}, 400, "modus"},
		{"one role in place of a list", "PUT", policyPath, map[string]any{"exempt": "vip"}, []func(*http.Request){asOwner, matching}, 400, `"exempt" has the wrong kind of value (string)`},
		{"bytes in place of roles", "PUT", policyPath, map[string]any{"exempt": "AwY="}, []func(*http.Request){asOwner, matching}, 400, `"exempt" has the wrong`},
		{"unknown role", "PUT", policyPath, map[string]any{"mode": "enforce", "exempt": []string{"king"}, "timezone": "UTC", "limits": []any{}, "penalties": map[string]any{}},
			[]func(*http.Request){asOwner, matching}, 422, "lead_moderator"},
		{"text in place of a number", "PUT", policyPath, map[string]any{"limits": []any{map[string]any{"queue": "x"}}},
			[]func(*http.Request){asOwner, matching}, 400, `"queue" has the wrong kind of value (string), want a whole number`},
		{"text in place of true", "PUT", policyPath, map[string]any{"limits": []any{map[string]any{"similar": "yes"}}},
			[]func(*http.Request){asOwner, matching}, 400, `"similar" has the wrong kind of value (string), want true or false`},
		{"no JSON", "PUT", policyPath, "x", []func(*http.Request){asOwner, matching, setHeader("Content-Type", "text/plain")}, 415, "JSON"},
		{"too large", "POST", "/api/v1/session", map[string]string{"code": strings.Repeat("x", 4<<10)}, nil, 413, "4096 bytes"},
		{"neither code nor token", "POST", "/api/v1/session", map[string]string{}, nil, 400, "code or a token"},
		{"no limits any more", "PUT", policyPath, map[string]any{}, []func(*http.Request){asOwner, matching}, 422, `lacks "mode"`},
		{"null for a list", "PUT", policyPath, map[string]any{"mode": "observe", "exempt": nil, "timezone": "", "limits": []any{}, "penalties": nil}, []func(*http.Request){asOwner, matching}, 422, `lacks "exempt"`},
		{"unknown channel", "GET", "/api/v1/channels/99/policy", nil, []func(*http.Request){asOwner}, 404, `"99"`},
		{"nothing to ask for", "GET", policyPath + "?channel=7", nil, []func(*http.Request){asOwner}, 422, `Unknown parameter "channel"`},
		{"unknown parameter", "GET", "/api/v1/users?query=anna", nil, []func(*http.Request){asOwner}, 422, `channel, q, noted, not "query"`},
		{"wrong method", "PATCH", policyPath, nil, []func(*http.Request){asOwner}, 405, "use DELETE, GET, HEAD, PUT"},
		{"unknown path", "GET", "/api/v1/nothing", nil, []func(*http.Request){asOwner}, 404, "nothing"},
		{"write to a file", "POST", "/app.css", nil, nil, 405, "read"},
	}
	d := dash(t)
	before := d.guard.ChannelPolicy(channelID)
	for _, test := range tests {
		a := d.do(test.method, test.path, test.body, test.adjust...)
		if a.StatusCode != test.status || !strings.Contains(string(a.body), strings.ReplaceAll(test.says, `"`, `\"`)) {
			t.Errorf("%s: %s %s, want %d and %q", test.name, a.Status, a.body, test.status, test.says)
		}
		if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%s: the answer is %s", test.name, kind)
		}
	}
	if policies.Tag(d.guard.ChannelPolicy(channelID)) != policies.Tag(before) || len(d.store.revisions) > 0 {
		t.Error("a refused request changed the policy")
	}
	if _, ok := d.store.codes["good-code"]; !ok {
		t.Error("another site's page has used up the sign-in code")
	}
}

// A page of the same host that was loaded without encryption can't change anything at an encrypted
// address.
func TestProtect_UnencryptedPage(t *testing.T) {
	for address, want := range map[string]int{"https://chat.example.org": http.StatusForbidden, "http://chat.example.org": http.StatusOK} {
		d := dash(t, func(o *Options) { o.Access.Site.PublicURL = parseURL(address) })
		for origin, status := range map[string]int{"http://chat.example.org": want, address: http.StatusOK} {
			d.wantStatus(origin+" at "+address, status, "POST", channelPath+"/pause", nil, asOwner, setHost("chat.example.org"), setHeader("Origin", origin))
		}
	}
}

func TestQuery_UnknownChannel(t *testing.T) {
	var none atomic.Bool
	d := dash(t, func(o *Options) {
		o.Setup = func(string) (BotSetup, bool) { return BotSetup{}, true }
		o.Live.Channels = func() []live.Channel {
			if none.Load() {
				return nil
			}
			return []live.Channel{{ID: channelID, Login: "somechannel"}}
		}
	})
	for _, path := range []string{"/throttled", "/status", "/rates", "/users", "/journal", "/audit", "/live", "/overlay", "/setup"} {
		d.wantProblem(path, "GET", "/api/v1"+path+"?channel=99", nil, owned, 404, `There is no channel with the ID \"99\" here.`)
	}
	none.Store(true) // as if Twitch had not reported the channels yet
	d.wantStatus("before any channel is known", http.StatusOK, "GET", "/api/v1/journal?channel="+channelID, nil, asOwner)
}

func TestRoutes_WrongMethod(t *testing.T) {
	d := dash(t)
	for path, allowed := range map[string]string{
		"/session": "DELETE, GET, HEAD, POST", "/status": "GET, HEAD", "/channels/7/pause": "POST", "/channels/7/modes": "PATCH", "/channels/7/users/86/override": "DELETE, PUT",
	} {
		if a := d.do("TRACE", "/api/v1"+path, nil, asOwner); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != allowed {
			t.Errorf("%s: %s, Allow %q", path, a.Status, a.Header.Get("Allow"))
		}
	}
}

// Each route of the API refuses callers without the access that it needs, and no others.
func TestRoutes_NeedAccess(t *testing.T) {
	d := dash(t)
	holders := map[auth.Access]string{auth.Own: token}
	for _, access := range []auth.Access{auth.View, auth.Help, auth.Moderate, auth.ModerateNotices, auth.Check, auth.Overlay} {
		holders[access] = d.newToken(access)
	}
	words := map[auth.Access]string{auth.Own: "owner"}
	fill := strings.NewReplacer("{channel}", channelID, "{id}", "41", "{entry}", "1")
	for _, route := range d.server.api() {
		method, path, _ := strings.Cut(route.pattern, " ")
		path = "/api/v1" + fill.Replace(path)
		repair := "Sign in first"
		if route.needs == auth.Check {
			repair = `"chatguard token make NAME --role check\" makes one`
		}
		if a := d.do(method, path, nil); a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(a.body), repair) {
			t.Errorf("%s without a token: %s %s", route.pattern, a.Status, a.body)
		}
		for access, bearer := range holders {
			a := d.do(method, path, nil, setBearer(bearer))
			refused := a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden
			if may := access.Allows(route.needs); may == refused {
				t.Errorf("%s for one who may %s: %s %s", route.pattern, access, a.Status, a.body)
			}
			if refused && !strings.Contains(string(a.body), fmt.Sprintf("may-%s has %[1]s access; this needs %s access", access, cmp.Or(words[route.needs], string(route.needs)))) {
				t.Errorf("%s for one who may %s: %s", route.pattern, access, a.body)
			}
		}
	}
	if p := d.guard.ChannelPolicy(channelID); policies.Tag(p) != policies.Tag(d.opts.Live.Policies.Base(channelID)) {
		t.Error("a request without a body changed the policy")
	}
}
