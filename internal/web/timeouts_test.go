//go:build !race

package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// act sends a request about the spammer's timeout or ban, and fails the test unless it succeeds.
func (d *dashboard) act(method, what string, body any) acted {
	d.Helper()
	return decode[acted](d, d.do(method, "/api/v1/channels/"+channelID+"/users/"+spammer.ID+"/"+what, body, asOwner))
}

// A timeout and a ban are carried out, shown on the card and undone with the address in the answer.
func TestTimeout_UndoneByItsAnswer(t *testing.T) {
	d := dash(t)
	d.stopClock()
	timedOut := d.act("POST", "timeout", timeoutWanted{Length: "1h30m", Reason: "spam"})
	if s := timedOut.Silenced; s == nil || s.Banned || !s.Until.Equal(d.now().Add(90*time.Minute)) || s.By != "owner" || !strings.HasPrefix(timedOut.Undo, "timeout?given=") || !timedOut.Saved || timedOut.Already {
		t.Errorf("timed out: %+v %+v", timedOut, s)
	}
	user := "/api/v1/channels/" + channelID + "/users/" + spammer.ID
	if c := decode[card](t, d.do("GET", user, nil, asOwner)); c.Silenced == nil || !c.Silenced.Until.Equal(timedOut.Silenced.Until) {
		t.Errorf("the card: %+v", c.Silenced)
	}
	if lifted := d.act("DELETE", timedOut.Undo, nil); lifted.Silenced != nil || lifted.Before == nil || lifted.Before.By != "owner" || lifted.Undo != "" {
		t.Errorf("lifted: %+v", lifted)
	}
	banned := d.act("POST", "ban", banWanted{Reason: "spam again"})
	if banned.Silenced == nil || !banned.Silenced.Banned || !strings.HasPrefix(banned.Undo, "ban?given=") {
		t.Errorf("banned: %+v", banned)
	}
	d.act("DELETE", banned.Undo, nil)
	if c := decode[card](t, d.do("GET", user, nil, asOwner)); c.Silenced != nil {
		t.Errorf("the card at last: %+v", c.Silenced)
	}
	if want := []string{"timeout 1h30m0s spam of 42", "lift of 42", "ban spam again of 42", "lift of 42"}; !slices.Equal(d.chat.list(), want) {
		t.Errorf("%q", d.chat.list())
	}
	changes := decode[auditAnswer](t, d.do("GET", "/api/v1/audit?user=42", nil, asOwner)).Changes
	var actions []journal.AuditAction
	for _, c := range changes {
		actions = append(actions, c.Action)
	}
	if want := []journal.AuditAction{journal.UserLifted, journal.UserBanned, journal.UserLifted, journal.UserTimedOut}; !slices.Equal(actions, want) {
		t.Fatalf("audit: %q", actions)
	}
	if detail := string(changes[3].Detail); !strings.HasPrefix(detail, `{"length":"1h30m0s","reason":"spam","until":"`) {
		t.Errorf("audit: %s", detail)
	}
}

// A bad request is refused with a sentence that names the fix, and nothing reaches the chat.
func TestTimeout_Refused(t *testing.T) {
	d := dash(t, setCheckSpace, func(o *Options) { o.Check.Listed = func(id string) bool { return id == "check:lobby" } })
	const user = "/api/v1/channels/7/users/42"
	for _, c := range []struct {
		method, path string
		body         any
		as           func(*http.Request)
		status       int
		says         string
	}{
		{"POST", user + "/timeout", timeoutWanted{}, asOwner, 422, `must be from \"1s\" to \"14d\", such as \"10m\" or \"1h30m\", not \"\"`},
		{"POST", user + "/timeout", timeoutWanted{Length: "0s"}, asOwner, 422, `not \"0s\"`},
		{"POST", user + "/timeout", timeoutWanted{Length: "15d"}, asOwner, 422, `not \"15d\"`},
		{"POST", user + "/timeout", timeoutWanted{Length: "ten"}, asOwner, 422, `not \"ten\"`},
		{"POST", user + "/timeout", timeoutWanted{Length: "1m", Reason: strings.Repeat("a", 501)}, asOwner, 422, "a reason is one line of at most 500 characters"},
		{"POST", user + "/ban", banWanted{Reason: "a\nb"}, asOwner, 422, "a reason is one line of at most 500 characters"},
		{"POST", user + "/ban", nil, setBearer(d.newToken(auth.View)), 403, ""},
		{"POST", "/api/v1/channels/8/users/42/ban", nil, asOwner, 404, ""},
		{"POST", "/api/v1/channels/check:lobby/users/check:42/ban", nil, asOwner, 404, ""},
	} {
		d.wantProblem("refused", c.method, c.path, c.body, []func(*http.Request){c.as}, c.status, c.says)
	}
	d.chat.refuse(errors.New("the bot isn't a moderator here: type /mod bot in the chat of room"))
	d.wantProblem("no moderator", "POST", user+"/ban", nil, owned, 422, "isn't a moderator here")
	if given := d.chat.list(); len(given) > 0 {
		t.Errorf("%q", given)
	}
}

// A shorter timeout needs a confirmation, and a timeout's address doesn't lift a ban.
func TestTimeout_Conflict(t *testing.T) {
	d := dash(t)
	const user = "/api/v1/channels/7/users/42"
	d.chat.silence("42", journal.Silence{Until: d.now().Add(time.Hour), By: "twitch:mo"})
	d.wantProblem("shorter", "POST", user+"/timeout", timeoutWanted{Length: "1m"}, owned, http.StatusConflict, "a timeout of 60 s would be shorter")
	if done := d.act("POST", "timeout", timeoutWanted{Length: "1m", Replace: true}); done.Before == nil || done.Before.By != "twitch:mo" {
		t.Errorf("%+v", done)
	}
	d.chat.silence("42", journal.Silence{Banned: true})
	d.wantProblem("of a ban", "DELETE", user+"/timeout", nil, owned, http.StatusConflict, "the user is banned: unban them instead")
	d.chat.refuse(control.ErrBanned)
	if done := d.act("POST", "ban", nil); !done.Already || done.Undo != "" {
		t.Errorf("banned again: %+v", done)
	}
}

// The undo in an answer never ends what somebody else has given since, and the refusal says what is
// in force.
func TestTimeout_UndoIsRefused(t *testing.T) {
	d := dash(t)
	const user = "/api/v1/channels/7/users/42/"
	undo := d.act("POST", "timeout", timeoutWanted{Length: "10m"}).Undo
	d.chat.silence("42", journal.Silence{Until: d.now().Add(time.Hour), At: d.now(), By: "link:mia"})
	d.wantProblem("another's", "DELETE", user+undo, nil, owned, http.StatusConflict, "link:mia")
	if given := d.chat.list(); len(given) != 1 {
		t.Errorf("%q", given)
	}
	d.wantProblem("no time", "DELETE", user+"timeout?given=now", nil, owned, http.StatusUnprocessableEntity, "must be a time")
	d.act("DELETE", "timeout", nil) // a plain lift ends it
}

// Channels say whether people can act there.
func TestChannels_Acts(t *testing.T) {
	for name, c := range map[string]struct {
		adjust func(*dashboard)
		want   string
	}{
		"a chat":  {func(*dashboard) {}, `"acts":true`},
		"no chat": {func(d *dashboard) { d.control.Join(control.Chat{}) }, `"acts":false`},
	} {
		d := dash(t)
		c.adjust(d)
		if a := d.do("GET", "/api/v1/channels", nil, asOwner); !strings.Contains(string(a.body), c.want) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	d := dash(t)
	d.control.Join(control.Chat{})
	d.wantProblem("no chat", "POST", spammerPath+"/ban", nil, owned, 422, "chatguard does not moderate its chat")
}
