//go:build browser

package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestHeader_SlashFindsUser(t *testing.T) {
	w := dash(t).open(360, 800)
	const isFinding = `location.hash.startsWith("#/people") && document.activeElement.id === "find"`
	w.See(hasText("Nobody is throttled."))
	w.Type("/")
	w.See(isFinding + `&& document.getElementById("find").value === ""`)
	w.Type("/")
	w.See(`document.getElementById("find").value === "/"`) // in a text field, / is a character
	w.Must(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	w.Type("/")
	w.See(isFinding)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.TypeIn("#burst-0", "/")
	w.See(`location.hash.startsWith("#/limits")`)
}

func TestHeader_SignedInAs(t *testing.T) {
	d := dash(t)
	for access, text := range map[auth.Access]string{
		auth.View: "gardenhour · view only", auth.Moderate: "gardenhour · moderator", auth.Own: "gardenhour · owner",
	} {
		w := d.openAs("gardenhour", access, 1600, 900)
		w.See(`document.querySelector(".me")?.innerText === "` + text + `"`)
	}
	w := d.openBlank(1600, 900)
	w.Must(chromedp.Navigate("http://" + w.address + "/"))
	w.See(hasText("chatguard signin"))
	w.Write("#token", token+kb.Enter)
	w.See(`document.querySelector(".me")?.innerText === "owner"`)
}

// The header does not show Twitch's API as ok before it has answered or after it has failed.
func TestHeader_Helix(t *testing.T) {
	for state, want := range map[live.ConnectionState]string{
		live.Unasked: headerHasState("off", "Twitch API not asked yet"), live.Ample: headerHasState("good", "Twitch API ok"), live.Failing: headerHasState("bad", "Twitch API failing status 500"),
	} {
		c := live.Connection{Name: "Helix", State: state}
		if state == live.Failing {
			c.Detail = "status 500"
		}
		w := dash(t, func(o *Options) { o.Connections = func() []live.Connection { return []live.Connection{c} } }).open(360, 800)
		w.See(want)
		w.Accessible()
	}
}

func TestHeader_Budget(t *testing.T) {
	w := dash(t, func(o *Options) {
		o.Connections = func() []live.Connection {
			return []live.Connection{{Name: "Twitch", State: live.Connected}, {Name: "Helix", State: "low", Detail: "12 of 800 points left"}, {Name: "Moon", State: "waxing"}}
		}
	}).open(360, 800)
	w.See(headerHasState("warn", "Twitch API low 12 of 800 points left") + "&&" + headerHasState("off", "Moon waxing"))
	w.wantNoOverflow()
	w.Accessible()
}
