package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/journal"
)

func TestASlashFindsAUser(t *testing.T) {
	w := dash(t).open(360, 800)
	const isFinding = `location.hash.startsWith("#/people") && document.activeElement.id === "find"`
	w.See(says("Nobody is throttled."))
	w.Type("/")
	w.See(isFinding + `&& document.getElementById("find").value === ""`)
	w.Type("/")
	w.See(`document.getElementById("find").value === "/"`) // there it is a letter
	w.Must(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	w.Type("/")
	w.See(isFinding)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.TypeIn("#burst-0", "/")
	w.See(`location.hash.startsWith("#/limits")`)
}

func TestTheHeaderSaysWhoIsSignedIn(t *testing.T) {
	d := dash(t)
	for access, text := range map[journal.Access]string{
		journal.AccessView: "gardenhour, looks on", journal.AccessModerate: "gardenhour, moderator", journal.AccessOwn: "gardenhour, owner",
	} {
		w := d.openAs("gardenhour", access, 1600, 900)
		w.See(`document.querySelector(".me")?.innerText === "` + text + `"`)
	}
	w := d.openBlank(1600, 900)
	w.Must(chromedp.Navigate("http://" + w.address + "/"))
	w.See(says("chatguard signin"))
	w.Write("#token", token+kb.Enter)
	w.See(`document.querySelector(".me")?.innerText === "owner"`)
}

// TestHeader_Helix: Helix isn't said to be ok before it has answered, nor after it has failed.
func TestHeader_Helix(t *testing.T) {
	for state, want := range map[ConnectionState]string{
		Unasked: inHeader("off", "Helix not asked yet"), Ample: inHeader("good", "Helix ok"), Failing: inHeader("bad", "Helix failing status 500"),
	} {
		c := Connection{Name: "Helix", State: state}
		if state == Failing {
			c.Detail = "status 500"
		}
		w := dash(t, func(o *Options) { o.Connections = func() []Connection { return []Connection{c} } }).open(360, 800)
		w.See(want)
		w.Accessible()
	}
}

func TestTheHeaderTellsOfTheBudget(t *testing.T) {
	w := dash(t, func(o *Options) {
		o.Connections = func() []Connection {
			return []Connection{{Name: "Twitch", State: Connected}, {Name: "Helix", State: "low", Detail: "12 of 800 points left"}, {Name: "Moon", State: "waxing"}}
		}
	}).open(360, 800)
	w.See(inHeader("warn", "Helix low 12 of 800 points left") + "&&" + inHeader("off", "Moon waxing"))
	w.fits()
	w.Accessible()
}
