//go:build !race

package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
)

// listGrants returns what gives access, as the owner sees it.
func (d *dashboard) listGrants() shownGrants {
	d.Helper()
	return decode[shownGrants](d, d.do("GET", "/api/v1/access", nil, asOwner))
}

func TestGrants_TokenMadeUsedEnded(t *testing.T) {
	d := dash(t)
	made := decode[madeToken](t, d.do("POST", "/api/v1/tokens", tokenWanted{Name: "anna", Role: auth.Help, Expires: "90d"}, asOwner))
	if len(made.Token) != 26 || !made.Expires.After(d.now().Add(89*24*time.Hour)) {
		t.Fatalf("made %+v", made)
	}
	if a := d.newestAudit(); a.Author != "owner" || a.Action != journal.TokenMade || a.ChannelID != "" || !strings.Contains(string(a.Detail), `"name":"anna"`) || strings.Contains(string(a.Detail), made.Token) {
		t.Errorf("recorded %+v", a)
	}
	if a := d.do("POST", "/api/v1/tokens", tokenWanted{Name: "anna", Role: auth.View}, asOwner); a.StatusCode != http.StatusConflict || !strings.Contains(string(a.body), "anna already has a token") {
		t.Errorf("again: %s %s", a.Status, a.body)
	}
	cookie := d.signIn(map[string]string{"token": made.Token})
	feed, byToken := d.listenWith("Cookie", cookie.String(), ""), d.listenWith("Authorization", "Bearer "+made.Token, "")
	feed.next(live.SnapshotFrame)
	byToken.next(live.SnapshotFrame)
	all := d.listGrants()
	if len(all.Tokens) != 1 || all.Tokens[0].Author() != "token:anna" || all.Tokens[0].Access != auth.Help || all.Tokens[0].Used.IsZero() {
		t.Errorf("tokens %+v", all.Tokens)
	}
	if len(all.Sessions) != 1 || all.Sessions[0].ID != access.SessionID(cookie.Value) || all.Sessions[0].Author() != "token:anna" || all.Sessions[0].Used.IsZero() || all.Session != "" {
		t.Errorf("sessions %+v", all)
	}
	if strings.Contains(all.Sessions[0].ID, cookie.Value) {
		t.Error("the ID of a session contains its secret")
	}
	ended := decode[auth.Revoked](t, d.do("DELETE", "/api/v1/tokens/anna", nil, asOwner))
	if ended != (auth.Revoked{Tokens: 1, Sessions: 1}) {
		t.Errorf("ended %+v", ended)
	}
	for name, l := range map[string]*listener{"session": feed, "token": byToken} {
		if code := l.waitClosed(); code != live.SignedOut {
			t.Errorf("the feed of the %s ends with %d", name, code)
		}
	}
	d.wantStatus("the ended token", http.StatusUnauthorized, "GET", "/api/v1/session", nil, setBearer(made.Token))
	if a := d.newestAudit(); a.Action != journal.TokenEnded {
		t.Errorf("recorded %+v", a)
	}
	d.wantStatus("ended again", http.StatusNotFound, "DELETE", "/api/v1/tokens/anna", nil, asOwner)
}

func TestGrants_LinkMadeUsedEnded(t *testing.T) {
	d := dash(t)
	link := func(name string) (code string) {
		made := decode[madeLink](t, d.do("POST", "/api/v1/links", linkWanted{Name: name, Role: auth.View}, asOwner))
		code, ok := strings.CutPrefix(made.Link, "http://"+d.address+"/#signin=")
		if !ok {
			t.Fatalf("the link is %s", made.Link)
		}
		return code
	}
	cookie := d.signIn(map[string]string{"code": link("anna")})
	if me := decode[access.SignedInAs](t, d.do("GET", "/api/v1/session", nil, addCookie(cookie))); me.Author != "link:anna" || me.Access != auth.View {
		t.Errorf("signed in as %+v", me)
	}
	unused := link("berta")
	all := d.listGrants()
	if len(all.Links) != 1 || all.Links[0].Name != "berta" || len(all.Sessions) != 1 {
		t.Fatalf("listed %+v", all)
	}
	if a := d.newestAudit(); a.Action != journal.LinkMade || strings.Contains(string(a.Detail), unused) {
		t.Errorf("recorded %+v", a)
	}
	d.wantStatus("ending the link", http.StatusNoContent, "DELETE", "/api/v1/links/"+all.Links[0].ID, nil, asOwner)
	d.wantStatus("the ended link", http.StatusUnauthorized, "POST", "/api/v1/session", map[string]string{"code": unused})
	d.wantStatus("ending the session", http.StatusNoContent, "DELETE", "/api/v1/sessions/"+all.Sessions[0].ID, nil, asOwner)
	d.wantStatus("the ended session", http.StatusUnauthorized, "GET", "/api/v1/session", nil, addCookie(cookie))
	if a := d.newestAudit(); a.Action != journal.SessionEnded || !strings.Contains(string(a.Detail), `"name":"anna"`) {
		t.Errorf("recorded %+v", a)
	}
}

// The list contains the sessions of the Site's token and those of members, and they can be ended.
func TestGrants_EverySessionCanBeEnded(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, addMembers)
	owner := d.signIn(map[string]string{"token": token})
	other := d.signIn(map[string]string{"token": token})
	member := d.startMember(members, auth.Identity{Name: "clara", Access: auth.View, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.View}})
	all := decode[shownGrants](t, d.do("GET", "/api/v1/access", nil, addCookie(owner)))
	if len(all.Sessions) != 3 || all.Session != access.SessionID(owner.Value) {
		t.Fatalf("listed %+v", all)
	}
	for name, cookie := range map[string]*http.Cookie{"owner": other, "member": member} {
		feed := d.listenWith("Cookie", cookie.String(), "")
		feed.next(live.SnapshotFrame)
		d.wantStatus(fmt.Sprintf("ending that of the %s", name), http.StatusNoContent, "DELETE", "/api/v1/sessions/"+access.SessionID(cookie.Value), nil, addCookie(owner))
		if code := feed.waitClosed(); code != live.SignedOut {
			t.Errorf("the feed of the %s ends with %d", name, code)
		}
		d.wantStatus(fmt.Sprintf("the %s afterwards", name), http.StatusUnauthorized, "GET", "/api/v1/session", nil, addCookie(cookie))
		d.wantStatus(fmt.Sprintf("ending that of the %s again", name), http.StatusNotFound, "DELETE", "/api/v1/sessions/"+access.SessionID(cookie.Value), nil, addCookie(owner))
	}
	if all := decode[shownGrants](t, d.do("GET", "/api/v1/access", nil, addCookie(owner))); len(all.Sessions) != 1 {
		t.Errorf("left %+v", all.Sessions)
	}
}

func TestGrants_Refused(t *testing.T) {
	d := dash(t)
	for name, wanted := range map[string]tokenWanted{
		"no name":         {Role: auth.View},
		"owner":           {Name: "owner", Role: auth.View},
		"origin":          {Name: "twitch:anna", Role: auth.View},
		"other origin":    {Name: "token:anna", Role: auth.View},
		"line break":      {Name: "a\nb", Role: auth.View},
		"bidi":            {Name: "a\u202eb", Role: auth.View},
		"long":            {Name: strings.Repeat("a", 401), Role: auth.View},
		"no role":         {Name: "anna"},
		"old role":        {Name: "anna", Role: auth.ModerateNotices},
		"unknown role":    {Name: "anna", Role: "king"},
		"expires":         {Name: "anna", Role: auth.View, Expires: "soon"},
		"expires at once": {Name: "anna", Role: auth.View, Expires: "0s"},
		"expires late":    {Name: "anna", Role: auth.View, Expires: "4000d"},
	} {
		d.wantStatus(name, http.StatusUnprocessableEntity, "POST", "/api/v1/tokens", wanted, asOwner)
	}
	for _, role := range []auth.Access{auth.Check, auth.Overlay, auth.ModerateNotices, auth.Any} {
		d.wantStatus(fmt.Sprintf("a link with the role %q", role), http.StatusUnprocessableEntity, "POST", "/api/v1/links", linkWanted{"anna", role}, asOwner)
	}
	d.wantStatus("a link with which somebody else is the owner", http.StatusUnprocessableEntity, "POST", "/api/v1/links", linkWanted{"owner", auth.Own}, asOwner)
	if all := d.listGrants(); len(all.Tokens)+len(all.Links) != 0 {
		t.Errorf("made %+v", all)
	}
}

// Everyone who owns can make 20 tokens and links at once, then one every 30 s.
func TestGrants_NumberIsLimited(t *testing.T) {
	d := dash(t)
	d.stopClock()
	berta := setBearer(d.newToken(auth.Own))
	make := func(as func(*http.Request), i int) answer {
		if i%2 == 0 {
			return d.do("POST", "/api/v1/links", linkWanted{"anna", auth.View}, as)
		}
		return d.do("POST", "/api/v1/tokens", tokenWanted{Name: fmt.Sprint("program", i), Role: auth.Check}, as)
	}
	for i := range makeBurst {
		if a := make(asOwner, i); a.StatusCode != http.StatusOK {
			t.Fatalf("number %d: %s %s", i+1, a.Status, a.body)
		}
	}
	if a := make(asOwner, 0); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "30" {
		t.Errorf("one more: %s, after %s", a.Status, a.Header.Get("Retry-After"))
	}
	if a := make(berta, 0); a.StatusCode != http.StatusOK {
		t.Errorf("somebody else: %s %s", a.Status, a.body)
	}
	d.advance(makeRefill)
	if a := make(asOwner, 0); a.StatusCode != http.StatusOK {
		t.Errorf("30 s later: %s %s", a.Status, a.body)
	}
}

// While the store cannot be read, the answers say so, without internals.
func TestGrants_StoreInTrouble(t *testing.T) {
	d := dash(t)
	d.newToken(auth.View)
	d.store.lookups.set(errors.New("locked: /secret/path"))
	for _, c := range []struct{ method, path string }{{"GET", "/access"}, {"POST", "/tokens"}, {"DELETE", "/tokens/may-view"}, {"DELETE", "/sessions/00"}, {"DELETE", "/links/00"}} {
		var body any
		if c.method == "POST" {
			body = tokenWanted{Name: "anna", Role: auth.View}
		}
		if a := d.do(c.method, "/api/v1"+c.path, body, asOwner); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "secret") {
			t.Errorf("%s %s: %s %s", c.method, c.path, a.Status, a.body)
		}
	}
}

// A mounted dashboard has no tokens and sessions of its own.
func TestGrants_Mounted(t *testing.T) {
	d := dash(t, mountInSite, func(o *Options) { o.Grants = nil })
	d.wantStatus("/api/v1/access", http.StatusNotFound, "GET", "/api/v1/access", nil, setHeader("Who", "anna"))
}
