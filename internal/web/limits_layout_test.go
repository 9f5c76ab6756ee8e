//go:build browser

package web

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
)

func TestLimitsPage_Wide(t *testing.T) {
	d := dash(t)
	decode[policies.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{roles.LeadModerator: {Burst: 9}}
		p.Exempt = nil
	}))
	w := d.open(1400, 900)
	w.openLimits()
	for _, width := range []int64{1400, 1920} {
		w.Must(chromedp.EmulateViewport(width, 900))
		w.See(fmt.Sprintf(`innerWidth === %d`, width))
		heights := browsertest.Eval[map[string]float64](w.Window, `Object.fromEntries(Object.entries({ bar: ".finish", rung: ".rung:has(#rung-4)" })
			.map(([name, selector]) => [name, document.querySelector(selector).getBoundingClientRect().height]))`)
		if heights["bar"] > 60 || heights["rung"] > 48 {
			t.Errorf("at %d: heights %v", width, heights)
		}
		w.wantNoOverflow()
	}
}

// On phones, the preview is folded, and texts of strangers fit and do no harm.
func TestLimitsPage_Narrow(t *testing.T) {
	d := dash(t)
	for i, login := range hostileNames {
		user := chatguard.User{ID: fmt.Sprint(60 + i), Login: login}
		d.say(user, 4)
		own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 1200}}}
		if _, err := d.control.Users.SetOverride(t.Context(), journal.Target{ChannelID: channelID, UserID: user.ID, Author: "anna"}, nil, own); err != nil {
			t.Fatal(err)
		}
	}
	decode[policies.Revised](t, d.put(burst(2)))
	w := d.open(390, 844)
	for _, width := range []int64{390, 320} {
		w.Must(chromedp.EmulateViewport(width, 844))
		w.goTo("now")
		w.openLimits()
		w.See(fmt.Sprintf(`document.querySelectorAll(".overrides a").length === %d`, len(hostileNames)))
		w.See(`document.querySelector(".preview .details")?.offsetHeight === 0 && !document.querySelector(".presets")` +
			`&& document.querySelector(".rules").getBoundingClientRect().bottom <= document.querySelector(".preview").getBoundingClientRect().top`)
		w.wantNoOverflow()
	}
	w.Press(".unfold")
	w.See(`document.querySelector(".preview .details").offsetHeight > 0`)
	w.Write("#burst-0", "1")
	w.See(fmt.Sprintf(`document.querySelectorAll(".changed tbody tr").length === %d && document.title === "(4) Limits · #somechannel · chatguard"`, len(hostileNames)))
	w.wantNoOverflow()
	w.wantUnharmed()
	w.openHistory()
	w.Press("#choose-preset")
	w.Press("#preset-raid-proof")
	w.wantNoOverflow()
	w.Accessible()
	w.Press(".discard")
	for _, name := range hostileNames {
		for _, numbers := range []string{name + ":burst=2", "burst:burst=" + name} {
			w.visit("#/limits?try=" + url.QueryEscape(numbers))
			w.See(`document.querySelector(".tried")`)
			w.wantNoOverflow()
			w.wantUnharmed()
			w.Press("#dismiss-tried")
			w.See(`!document.querySelector(".tried")`)
		}
	}
}

func TestLimitsPage_Accessible(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...))
	d.say(clara, 4)
	decode[policies.Revised](t, d.put(burst(4)))
	w := d.open(1600, 900)
	w.openLimits()
	w.See(`document.querySelector(".preview table")`)
	w.Click("#unfold-kind-0")
	w.See(`document.querySelector("#kind-of-0 input")`)
	w.Accessible()
	w.visit("#/limits?try=" + url.QueryEscape("burst:burst=2,rate=9"))
	w.See(`document.querySelector(".tried")`)
	w.Press("#choose-preset")
	w.Click(".presets .known summary")
	w.Press("#preset-rapidity")
	w.See(`document.querySelector("#undo-preset")`)
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".discard")
	w.See(isIdle)
	w.openHistory()
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("details.rare summary").click(), document.querySelector("#remove-2").click(), document.querySelector("#add-limit").click()`))
	w.Write("#burst-0", "1")
	w.Write("#messages-1", "0")
	w.pickOption("#role-0", "vip")
	w.See(`document.querySelector("[aria-invalid=true]") && document.querySelector("#keep-2")`)
	w.Accessible()
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.Must(chromedp.EmulateViewport(360, 900))
	w.See(`document.documentElement.dataset.theme === "dark" && innerWidth === 360`)
	w.Accessible()
	w.wantNoOverflow()

	viewer := d.openAs("berta", auth.View, 1400, 900)
	viewer.openLimits()
	viewer.See(`document.querySelector(".preview table")`)
	viewer.Accessible()
}
