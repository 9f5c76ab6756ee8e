//go:build browser

package web

import (
	"fmt"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// Bounds and suggestions are those that the API lists, also of an algorithm that the page doesn't
// know.
func TestLimitsFields_AsListed(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.fetch = async (address, options) => {
			const answer = await real(address, options);
			if (!address.endsWith("/algorithms")) return answer;
			const { algorithms } = await answer.json();
			algorithms[0].parameters[0].most = 7;
			algorithms.push({ name: "new-one", parameters: [{ name: "big_steps", kind: "count", least: 2, most: 9, suggested: 4, overridable: true }], state_bytes: 8 });
			return Response.json({ algorithms });
		};
	}`))
	w.openLimits()
	w.Write("#burst-0", "8")
	w.See(elementHasText(`document.querySelector("#burst-0-error")`, "Enter at most 7."))
	w.Write("#burst-0", "7")
	w.See(`document.querySelector("#burst-0-error").innerText === ""`)
	w.Press("#add-limit")
	w.Press(".chooser button[value=new-one]")
	w.See(`document.querySelector("#big_steps-2")?.value === "4" && document.querySelector("label[for=big_steps-2]").innerText === "Big steps"`)
	w.Write("#big_steps-2", "1")
	w.See(elementHasText(`document.querySelector("#big_steps-2-error")`, "Enter a whole number, 2 or more."))
}

// A known limit replaces the limits in the draft, and keeps the penalties.
func TestLimitsPreset_KnownLimit(t *testing.T) {
	d := dash(t)
	d.say(clara, 3)
	before := d.guard.ChannelPolicy(channelID)
	w := d.open(1400, 900)
	w.openLimits()
	w.Click(".presets .known summary")
	w.Press("#preset-rapidity")
	w.See(hasText("Rapidity: five windows has filled the limits. Nothing changes until you save.") + `&& document.querySelectorAll(".limit:not(.removed)").length === 5`)
	w.See(elementHasText(`document.querySelector("#preset-rapidity")`, "80 bytes of state per user"))
	w.Accessible()
	w.wantNoOverflow()
	if got := d.guard.ChannelPolicy(channelID); !reflect.DeepEqual(got, before) {
		t.Errorf("in force before it is saved: %+v", got)
	}
	w.save()
	want := chatguard.Limit{Name: "month", Algorithm: chatguard.UserWindow, Messages: 6_000_000, Every: 720 * time.Hour}
	got := d.guard.ChannelPolicy(channelID)
	if len(got.Limits) != 5 || !reflect.DeepEqual(got.Limits[4], want) || !reflect.DeepEqual(got.Penalties, before.Penalties) {
		t.Errorf("saved is %+v", got)
	}
}

// tried returns the address of the page Limits with numbers from the Lab.
func tried(numbers string) string { return "#/limits?try=" + url.QueryEscape(numbers) }

func TestLimitsTried_FillsDraft(t *testing.T) {
	d := dash(t)
	d.say(clara, 3)
	w := d.open(1400, 900)
	w.visit(tried("burst:burst=2,refill=6s,rate=9;slow:sliding-log,messages=5,every=30s"))
	w.See(`document.querySelector("#burst-0")?.value === "2" && document.querySelector("#refill-0").value === "6 seconds" && document.querySelector("#messages-2").value === "5"`)
	w.See(elementHasText(`document.querySelector(".tried")`, "Numbers from the Lab: filled in burst, added slow. Nothing changes until you save.") +
		"&&" + elementHasText(`document.querySelector(".tried")`, "Not filled in: burst: “rate” is not a number of a token bucket."))
	w.See(hasHeadline("The change would have throttled 1 more message.") + `&& location.hash === "#/limits"`)
	w.Accessible()
	if burst := d.guard.ChannelPolicy(channelID).Limits[0].Burst; burst != 3 {
		t.Errorf("before saving, the burst in force is %d", burst)
	}
	w.Press("#dismiss-tried")
	w.See(`!document.querySelector(".tried") && document.querySelector("#burst-0").value === "2"`)
	w.save()
	if limits := d.guard.ChannelPolicy(channelID).Limits; len(limits) != 3 || limits[0].Burst != 2 || limits[2].Name != "slow" {
		t.Errorf("saved is %+v", limits)
	}
}

func TestLimitsTried_HarmlessTexts(t *testing.T) {
	w := dash(t).open(360, 800)
	for _, name := range hostileNames {
		for _, text := range []string{name + ":burst=2", "burst:burst=" + name, "burst:" + name + "=1", "burst:" + name} {
			w.visit(tried(text))
			w.See(`document.querySelector(".tried")`)
			w.wantNoOverflow()
			w.wantUnharmed()
			w.See(`document.querySelector("#burst-0").value === "3" && ` + isIdle)
			w.Press("#dismiss-tried")
			w.See(`!document.querySelector(".tried")`)
		}
	}
}

// Who may only look gets no draft, but may open the Lab.
func TestLimitsTried_ViewOnly(t *testing.T) {
	w := dash(t).openAs("ben", auth.View, 1400, 900)
	w.visit(tried("burst:burst=2"))
	w.See(hasText("Not filled in: Your access does not allow changing limits.") + `&& document.querySelector("#burst-0").value === "3"`)
	w.See(`document.querySelector("#try-0") && document.querySelector("nav a[href=lab]")`)
}

// The link to the Lab names the limit in force and, if it differs, the draft.
func TestLimitsLab_Link(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.openLimits()
	const lane, traffic = "burst:token-bucket,burst=3,refill=10m", "&traffic=recorded,channel=7,for=10m"
	address := func() string {
		return browsertest.Eval[string](w.Window, `document.querySelector("#try-0").getAttribute("href")`)
	}
	if got, want := address(), "lab#lanes="+lane+traffic; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.Write("#burst-0", "5")
	w.See(fmt.Sprintf(`document.querySelector("#try-0").getAttribute("href").includes(%q)`, ";burst:token-bucket,burst=5,refill=10m"))
	if got, want := address(), "lab#lanes="+lane+";burst:token-bucket,burst=5,refill=10m"+traffic; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.openPalette()
	w.Write("[role=combobox]", "lab")
	w.See(elementHasText(`document.querySelector("#palette-entries li[aria-selected=true]")`, "Go to the Lab"))
}

// A cascade is a limit like any other, and the other limits can keep a reserve.
func TestLimitsFields_CascadeAndReserve(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Click("details.rare summary") // of the first limit
	w.Write("#reserve-0", "3")
	w.See(hasText("3 messages, then one every 10 minutes; keeps 3 for normal priority"))
	w.Write("#reserve-0", "2")
	w.Press("#add-limit")
	w.Press(".chooser button[value=cascade]")
	w.Write("#extra_refill-2", "30s")
	w.See(hasText("3 messages, then one every 4 seconds; at low priority 2 more, then one every 30 seconds"))
	w.Accessible()
	w.save()
	limits := d.guard.ChannelPolicy(channelID).Limits
	want := chatguard.Limit{Name: "cascade", Algorithm: chatguard.Cascade, Burst: 3, Refill: 4 * time.Second, ExtraBurst: 2, ExtraRefill: 30 * time.Second}
	if len(limits) != 3 || limits[0].Reserve != 2 || !reflect.DeepEqual(limits[2], want) {
		t.Errorf("saved is %+v", limits)
	}
	w.See(`document.querySelector("details.rare").open && document.querySelector("#reserve-0").value === "2"`)
}
