//go:build browser

package web

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// pickOption selects an option of a select element.
func (w *window) pickOption(selector, value string) {
	w.Window.Helper()
	w.See(fmt.Sprintf(`document.querySelector("%s option[value='%s']")`, selector, value))
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const select = document.querySelector(%q);
		select.value = %q;
		select.dispatchEvent(new Event("change", { bubbles: true }));
	}`, selector, value)))
}

// save presses the save button and waits until saving is done.
func (w *window) save() {
	w.Window.Helper()
	w.Press(".finish .primary")
	w.See(`document.querySelector(".note.good") && document.querySelector(".finish .primary").ariaDisabled === "true"`)
}

// waitForFocus waits until an element has the focus.
func (w *window) waitForFocus(id string) {
	w.Window.Helper()
	w.See(fmt.Sprintf(`document.activeElement.id === %q`, id))
}

func TestLimitsEdit_RoleNumbers(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.pickOption("#role-0", "vip")
	w.waitForFocus("burst-0-vip")
	w.Write("#burst-0-vip", "0")
	w.See(elementHasText(`document.querySelector("#burst-0-vip-error")`, "1 or more. Leave empty to inherit."))
	w.Write("#burst-0-vip", "5")
	w.Write("#refill-0-vip", "2.5s")
	w.pickOption("#role-0", "first_timer")
	w.save()
	want := map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 5, Refill: 2500 * time.Millisecond}, chatguard.FirstTimer: {}}
	if got := d.guard.ChannelPolicy(channelID).Limits[0].Roles; !reflect.DeepEqual(got, want) {
		t.Errorf("roles %+v, want %+v", got, want)
	}
	if v := d.say(chatguard.User{ID: "9", Login: "clara", Roles: chatguard.RolesOf(chatguard.VIP)}, 5); !v.Allowed {
		t.Error("a vip's fifth message is throttled")
	}

	w.Write("#refill-0-vip", kb.Backspace) // same as everyone's
	w.Press(`button[aria-label="Remove first timer from burst"]`)
	w.waitForFocus("role-0")
	w.save()
	want = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 5}}
	if got := d.guard.ChannelPolicy(channelID).Limits[0].Roles; !reflect.DeepEqual(got, want) {
		t.Errorf("roles %+v, want %+v", got, want)
	}
}

func TestLimitsEdit_AddAndRemove(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Press("#add-limit")
	w.Press(".chooser button[value=sliding-log]")
	w.waitForFocus("name-2")
	w.Write("#name-2", "burst")
	w.See(elementHasText(`document.querySelector("#name-2-error")`, "Another limit has this name. Enter a different one.") + `&& document.querySelector(".finish .primary").ariaDisabled === "true"`)
	w.Write("#name-2", "teatime")
	w.Write("#messages-2", "7")
	w.pickOption("#per-2", "channel")
	w.Click("#observes-2")
	w.Click("#counts-2")
	w.save()
	want := chatguard.Limit{
		Name: "teatime", Algorithm: chatguard.SlidingLog, Per: chatguard.PerChannel, Messages: 7, Every: 30 * time.Second, Mode: chatguard.Observe, CountThrottled: true,
	}
	if limits := d.guard.ChannelPolicy(channelID).Limits; len(limits) != 3 || !reflect.DeepEqual(limits[2], want) {
		t.Errorf("limits %+v", limits)
	}

	w.Press("#remove-0")
	w.waitForFocus("keep-0")
	w.See(hasText("Saving removes burst and clears everyone’s usage of it."))
	w.Press("#keep-0")
	w.See(`document.querySelector("#burst-0") && document.querySelector(".finish .primary").ariaDisabled === "true"`)
	w.Press("#remove-0")
	w.save()
	w.See(`document.querySelector("#messages-0") && !document.querySelector("#burst-0")`)
	if limits := d.guard.ChannelPolicy(channelID).Limits; len(limits) != 2 || limits[0].Name != "daily" || limits[1].Name != "teatime" {
		t.Errorf("limits %+v", limits)
	}
	if v := d.say(spammer, 5); !v.Allowed {
		t.Error("the burst is gone, and a fifth message is throttled")
	}

	w.Press("#add-limit")
	w.Press(".chooser button[value=token-bucket]")
	w.waitForFocus("name-2")
	w.Press("#remove-2") // never saved
	w.waitForFocus("add-limit")
	w.See(`!document.querySelector("#name-2") && document.querySelector(".finish .primary").ariaDisabled === "true"`)
}

func TestLimitsEdit_AddEveryAlgorithm(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Press("#add-limit")
	w.See(`document.querySelector(".chooser li")`)
	kinds := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".chooser li button")].map((b) => b.value)`)
	w.Press("#add-limit")
	w.See(`!document.querySelector(".chooser li")`)
	for i, kind := range kinds {
		w.Press("#add-limit")
		w.Press(fmt.Sprintf(".chooser button[value=%s]", kind))
		w.waitForFocus(fmt.Sprintf("name-%d", i+2))
	}
	w.save()
	if limits := d.guard.ChannelPolicy(channelID).Limits; len(kinds) != len(chatguard.Algorithms()) || len(limits) != 2+len(kinds) {
		t.Errorf("%d algorithms are offered, and there are %d limits", len(kinds), len(limits))
	}
}

func TestLimitsEdit_DayEnd(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Write("#reset_at-1", "24:00")
	w.Write("#timezone-1", "Europe/Nowhere")
	w.Write("#zone", "there")
	w.See(`document.querySelectorAll(".columns [aria-invalid=true]").length === 3`)
	w.Write("#reset_at-1", "04:30")
	w.Write("#timezone-1", "America/New_York")
	w.Write("#zone", "Europe/Berlin")
	w.See(hasText("300 messages a day, until 04:30 in America/New_York"))
	w.save()
	p := d.guard.ChannelPolicy(channelID)
	if l := p.Limits[1]; l.ResetAt != "04:30" || l.Timezone != "America/New_York" || p.Timezone != "Europe/Berlin" {
		t.Errorf("in force is %+v", p)
	}
}

func TestLimitsEdit_PenaltiesByKeyboard(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	// The ladder is delete, delete, warn, timeout 30s, timeout 10m. This moves warn up.
	w.TypeIn("#rung-2-up", kb.Enter)
	w.waitForFocus("rung-1-up")
	w.Type(kb.Enter) // and up to the top
	w.waitForFocus("rung-0-action")
	w.TypeIn("#add-rung", kb.Enter)
	w.waitForFocus("rung-5-action")
	w.Write("#rung-5", "15d")
	w.See(elementHasText(`document.querySelector("#rung-5-error")`, "Enter at most 14 days."))
	w.Write("#rung-5", "1h")
	w.pickOption("#rung-3-action", "timeout refill")
	w.Write("#strike_every", "20")
	w.TypeIn("#exempt-moderator", " ")
	w.TypeIn("#exempt-vip", " ")
	w.TypeIn("#forget_after", kb.Enter) // Enter saves
	w.See(hasText("Saved by anna"))
	p := d.guard.ChannelPolicy(channelID)
	want := "[warn delete delete timeout refill timeout 10m timeout 1h]"
	if got := fmt.Sprint(p.Penalties.Ladder); got != want || p.Penalties.StrikeEvery != 20*time.Second || p.Penalties.ForgetAfter != 30*time.Minute {
		t.Errorf("penalties %+v, want the ladder %s", p.Penalties, want)
	}
	if got := fmt.Sprint(p.Exempt); got != "[broadcaster lead_moderator vip]" {
		t.Errorf("exempt are %s", got)
	}
}

func TestLimitsEdit_AddByKeyboard(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.openLimits()
	w.TypeIn("#add-limit", kb.Enter)
	w.See(`document.querySelector(".chooser li button")`)
	w.Type(kb.Tab + kb.Escape)
	w.waitForFocus("add-limit")
	w.Type(kb.Enter)
	w.See(`document.querySelector(".chooser li button")`)
	w.Type(kb.Tab + kb.Enter)
	w.waitForFocus("name-2")
	w.Type(kb.Enter)
	w.See(hasText("Saved by anna"))
	if limits := d.guard.ChannelPolicy(channelID).Limits; len(limits) != 3 || limits[2].Name != "token-bucket" {
		t.Errorf("limits %+v", limits)
	}
	w.wantNoOverflow()
}

func TestLimitsEdit_NamesOverriddenUsers(t *testing.T) {
	d := dash(t)
	hostile := `<img src=x onerror="document.title='broken'">`
	for id, login := range map[string]string{"51": "clara", "52": hostile} {
		d.say(chatguard.User{ID: id, Login: login}, 1)
		own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 1200, Refill: time.Minute}}}
		if _, err := d.control.SetOverride(t.Context(), journal.Target{ChannelID: channelID, UserID: id, Author: "anna"}, nil, own); err != nil {
			t.Fatal(err)
		}
	}
	w := d.open(360, 800)
	w.openLimits()
	w.See(`document.querySelectorAll(".overrides a").length === 2 && document.title === "Limits · #somechannel · chatguard"`)
	w.See(elementHasText(`document.querySelector(".overrides")`, "clara 1,200, one every 1 minute") + "&&" + elementHasText(`document.querySelector(".overrides")`, hostile))
	w.See(`document.querySelector(".overrides a[href='#/people?user=51']") && !document.querySelector(".overrides img")`)
	w.wantNoOverflow()
}

func TestLimitsEdit_NoButtonsForViewers(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...))
	d.say(clara, 4)
	w := d.openAs("berta", auth.View, 1400, 900)
	w.openLimits()
	w.See(hasHeadline("These limits would have throttled 1 message") + "&&" + hasText("Enforced."))
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".history summary").click()`))
	w.See(hasText("No changes yet"))
	shown := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll("main button, main select, main input:not([readonly]):not(:disabled)")].map((e) => e.innerText || e.id)`)
	if !reflect.DeepEqual(shown, []string{"Copy", "Show details"}) {
		t.Errorf("a viewer's page has the controls %q", shown)
	}
	w.Accessible()
}

func TestLimitsEdit_Accessible(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1600} {
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				d := dash(t, addLimits(t, everyAlgorithm...))
				d.say(clara, 4)
				decode[control.Revised](t, d.put(burst(4)))
				w := d.open(width, 900)
				w.Prefer(map[string]string{"prefers-color-scheme": scheme})
				w.openLimits()
				w.See(`document.querySelector(".preview table")`)
				w.Accessible()
				w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".history summary").click(), document.querySelector("#remove-2").click(), document.querySelector("#add-limit").click()`))
				w.Write("#burst-0", "1")
				w.Write("#messages-1", "0")
				w.pickOption("#role-0", "vip")
				w.See(`document.querySelector("[aria-invalid=true]") && document.querySelector(".revisions li") && document.querySelector("#keep-2")`)
				w.Accessible()
				w.wantNoOverflow()
			})
		}
	}
}
