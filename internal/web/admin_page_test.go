//go:build browser

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/access"
)

// openAdmin opens the page Admin on a phone.
func (d *dashboard) openAdmin() *window {
	d.Helper()
	w := d.open(390, 844)
	w.goTo("admin")
	w.See(hasText("Who can sign in, and which programs have access."))
	return w
}

// shownSecret returns the secret that the page shows.
func (w *window) shownSecret() string {
	w.Window.Helper()
	w.See(`document.querySelector(".new-secret code")`)
	return browsertest.Eval[string](w.Window, `document.querySelector(".new-secret code").innerText`)
}

// An owner makes a token on a phone, is told what is wrong with it, sees it once and ends it, which
// closes the open page of its holder.
func TestAdminPage_Token(t *testing.T) {
	d := dash(t)
	w := d.openAdmin()
	w.Accessible()
	w.wantNoOverflow()
	w.Press("#new-token")
	w.waitForFocus("access-name")
	w.Write("#access-name", "twitch:berta")
	w.Press("#access-make")
	w.See(hasText("marks the origin of an author"))
	w.Write("#access-name", "berta")
	w.pickOption("#access-role", "help")
	w.See(hasText("Also pardons, grants, exempts and resets users, and writes notes."))
	w.pickOption("#access-expires", "90d")
	w.Accessible()
	w.wantNoOverflow()
	w.Press("#access-make")
	secret := w.shownSecret()
	w.See(hasText("Token of berta") + "&&" + hasText("It isn’t shown again.") + `&& document.activeElement.className === "new-secret"`)
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".new-secret > button")
	w.See(`!document.body.innerText.includes("` + secret + `") && ` + elementHasText(`document.querySelector(".grants")`, "berta helper Made"))

	session := d.signIn(map[string]string{"token": secret})
	feed := d.listenWith("Cookie", session.String(), "")
	feed.next("snapshot")
	w.See(hasText("Signed in with a token"))
	w.Press(`[aria-label="End the token of berta"]`)
	w.See(hasText("End the token of berta? Their links and sessions end too."))
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".grants .danger")
	w.See(hasText("No tokens.") + "&& !" + hasText("Signed in with a token"))
	feed.waitClosed()
	if a := d.do("GET", "/api/v1/session", nil, addCookie(session)); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the ended session: %s", a.Status)
	}
	w.goTo("audit")
	w.See(hasText("made a token") + "&&" + hasText("ended a token") + "&&" + hasText("anna (link)") + "&&" + hasText("berta, helper"))
}

// An owner makes a sign-in link, which works once, and sees the session that it started.
func TestAdminPage_Link(t *testing.T) {
	d := dash(t)
	w := d.openAdmin()
	w.Press("#new-link")
	w.Write("#access-name", "clara")
	w.Press("#access-make")
	link := w.shownSecret()
	w.See(hasText("Sign-in link for clara") + "&&" + hasText("Unused sign-in links"))
	w.Accessible()
	w.wantNoOverflow()
	code, ok := strings.CutPrefix(link, "http://"+d.address+"/#signin=")
	if !ok {
		t.Fatalf("the link is %s", link)
	}
	cookie := d.signIn(map[string]string{"code": code})
	w.See(hasText("Signed in by a link") + "&& !" + hasText("Unused sign-in links"))
	w.Press(`[aria-label="End a session of clara"]`)
	w.Press(".grants .danger")
	w.See(`document.querySelectorAll(".grants li").length === 1`)
	if a := d.do("GET", "/api/v1/session", nil, addCookie(cookie)); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the ended session: %s", a.Status)
	}
	w.See(hasText("this browser"))
	w.Press(`[aria-label="End a session of anna"]`)
	w.See(hasText("End your own session? You will be signed out."))
	w.Press(".grants .danger")
	w.See(hasText("Sign in to chatguard"))
}

// Names that change the writing direction or look like markup stay names. Earlier versions and the
// command line store such names.
func TestAdminPage_HostileNames(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, addMembers)
	const hostile = "\u202e<b>evil</b>\u2066 owner"
	if _, err := d.store.NewToken(t.Context(), auth.Identity{Name: hostile, Access: auth.View}, 0); err != nil {
		t.Fatal(err)
	}
	d.startMember(members, auth.Identity{
		Name: "\u202elive_" + strings.Repeat("w", 200), Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own, "\u202e9": auth.View},
	})
	w := d.openAdmin()
	w.See(fmt.Sprintf(`[...document.querySelectorAll(".grants strong > bdi")].some((name) => name.textContent === %q)`, hostile))
	w.See(`!document.querySelector(".grants strong b") && document.querySelectorAll(".grants li").length === 3`)
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".grants li button")
	w.See(`document.querySelector(".grants .asked bdi").textContent.includes("<b>evil</b>")`)
	w.Press(".grants .danger")
	w.See(hasText("No tokens."))
}

// Each role sees the buttons of what it may do, and no others.
func TestAdminPage_RolesSeeWhatTheyMay(t *testing.T) {
	d := dash(t)
	d.say(spammer, 5)
	for _, c := range []struct {
		access                              auth.Access
		pardons, pauses, notices, overrides bool
		owns                                bool
	}{
		{access: auth.View},
		{access: auth.Help, pardons: true},
		{access: auth.Moderate, pardons: true, pauses: true, overrides: true},
		{access: auth.ModerateNotices, pardons: true, pauses: true, overrides: true, notices: true},
		{access: auth.Own, pardons: true, pauses: true, overrides: true, notices: true, owns: true},
	} {
		w := d.openAs("some-"+string(c.access), c.access, 1400, 900)
		w.See(hasRows("Spammer", 1))
		w.See(fmt.Sprintf(`Boolean(document.querySelector(".row .acts button")) === %v && Boolean(document.getElementById("pause")) === %v`, c.pardons, c.pauses))
		w.See(fmt.Sprintf(`Boolean(document.querySelector('nav a[href^="#/admin"]')) === %v`, c.owns))
		w.goTo("limits")
		w.See(fmt.Sprintf(`Boolean(document.getElementById("save-settings")) === %v && document.getElementById("notice-text").readOnly === %v`, c.pauses, !c.notices))
		w.visit("#/people?user=" + spammer.ID)
		w.See(hasText("ID 42"))
		w.See(fmt.Sprintf(`Boolean(document.getElementById("amend-pardon")) === %v && Boolean(document.getElementById("amend-grant")) === %[1]v && Boolean(document.getElementById("new-note")) === %[1]v`, c.pardons))
		w.See(fmt.Sprintf(`Boolean(document.getElementById("amend-override")) === %v`, c.overrides))
		w.visit("#/admin")
		w.waitForPage("admin")
		w.See(fmt.Sprintf(`Boolean(document.querySelector(".card.access")) === %v && document.body.innerText.includes("This page needs own access") === %v`, c.owns, !c.owns))
		w.Must(chromedp.Navigate("about:blank"))
	}
}

// An owner chooses what moderators may do who sign in with Twitch.
func TestAdminPage_ModeratorRole(t *testing.T) {
	d := dash(t)
	w := d.openAdmin()
	w.See(`document.getElementById("moderators-moderate").checked`)
	w.Click("#moderators-help")
	w.See(hasText("Saved. It applies at once.") + `&& document.getElementById("moderators-help").checked`)
	if role := d.control.ModeratorRole(channelID); role != auth.Help {
		t.Errorf("moderators may %s", role)
	}
	w.Accessible()
	w.wantNoOverflow()
}

// A broadcaster of one of two channels sees their own channel only, and on the page Admin what
// concerns it.
func TestAdminPage_BroadcasterOfOneChannel(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	cookie := d.startMember(members, auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own}})
	w := d.openBlank(390, 844)
	w.SetCookie("http://"+d.address+"/", cookie.Name, cookie.Value)
	w.Must(chromedp.Navigate("http://" + d.address + "/#/admin"))
	w.waitForPage("admin")
	w.See(hasText("need own access to all channels") + "&&" + hasText("Moderators who sign in with Twitch") + "&& !" + hasText("hiddenroom") + `&& !document.querySelector(".card.access, .webhooks")`)
	w.Accessible()
	members.set(cookie.Value, auth.Identity{Name: "clara", Access: auth.View, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.View}})
	w.See(hasText("This page needs own access to the channel.") + `&& !document.querySelector('nav a[href^="#/admin"]')`)
	members.End(cookie.Value)
	w.See(hasText("Sign in to chatguard"))
	if strings.Contains(access.SessionID(cookie.Value), cookie.Value) {
		t.Error("the ID of a session contains its secret")
	}
}
