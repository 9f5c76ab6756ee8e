//go:build browser

package web

import (
	"reflect"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestLimitsRules_FollowTheNumbers(t *testing.T) {
	w := dash(t, addLimits(t, everyAlgorithm...)).open(1400, 900)
	w.openLimits()
	w.See(elementHasText(`document.querySelector(".role-row[aria-label=subscriber]")`, "Subscribers: one message every 1.5 seconds, with 9 more waiting"))
	w.Write("#burst-0", "1")
	w.See(elementHasText(`document.querySelector(".limit .rule")`, "One message every 10 minutes"))
	w.Write("#burst-0", "0")
	w.See(elementHasText(`document.querySelector(".limit .rule")`, "Fix the highlighted field."))
}

func TestLimitsLength_Typed(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.See(`document.querySelector("#refill-0").value === "10 minutes"`)
	w.Write("#refill-0", "1h30")
	w.See(elementHasText(`document.querySelector("#refill-0-unit")`, "= 1 hour 30 minutes"))
	w.Write("#refill-0", "soon"+kb.Tab)
	w.See(elementHasText(`document.querySelector("#refill-0-error")`, "Enter a length of time, such as 30m, 1h30 or 90 seconds.") + `&& document.querySelector("#refill-0").value === "soon"`)
	w.Write("#refill-0", "90"+kb.Tab)
	w.See(`document.querySelector("#refill-0").value === "1 minute 30 seconds" && document.querySelector("#refill-0-unit").innerText === ""`)
	w.Write("#forget_after", "0")
	w.See(elementHasText(`document.querySelector("#forget_after-unit")`, "= never"))
	w.Write("#forget_after", "2d"+kb.Tab)
	w.Write("#rung-4", "15m"+kb.Tab)
	w.See(`document.querySelector("#rung-4").value === "15 minutes"`)
	w.save()
	p := d.guard.ChannelPolicy(channelID)
	if got := p.Penalties.Ladder[4].Duration; got != 15*time.Minute {
		t.Errorf("the last timeout lasts %v", got)
	}
	if p.Limits[0].Refill != 90*time.Second || p.Penalties.ForgetAfter != 48*time.Hour {
		t.Errorf("in force is %+v", p)
	}
	w.Write("#refill-0", "1.5 min"+kb.Tab) // the same
	w.See(isIdle + `&& document.querySelector("#refill-0").value === "1 minute 30 seconds"`)
}

// Every preset is a valid policy: it can be saved. Observe, exempt roles and the time zone stay.
func TestLimitsPreset_FillsAndSaves(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Mode, p.Timezone, p.Exempt = chatguard.Observe, "Europe/Berlin", []chatguard.Role{chatguard.VIP}
	}))
	w := d.open(1400, 900)
	w.openLimits()
	w.See(`!document.querySelector(".presets")`) // people have changed these limits
	w.Press("#choose-preset")
	w.See(`document.querySelectorAll(".presets > ul button").length === 4`)
	for _, id := range browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".presets > ul button")].map((button) => button.id)`) {
		before := d.guard.ChannelPolicy(channelID)
		w.Press("#" + id)
		w.See(`document.querySelector("#` + id + `").ariaPressed === "true" && ` + hasText("has filled the limits and penalties. Nothing changes until you save."))
		if got := d.guard.ChannelPolicy(channelID); !reflect.DeepEqual(got, before) {
			t.Errorf("%s: in force before it is saved: %+v", id, got)
		}
		w.save()
		p := d.guard.ChannelPolicy(channelID)
		if p.Mode != before.Mode || p.Timezone != before.Timezone || !reflect.DeepEqual(p.Exempt, before.Exempt) {
			t.Errorf("%s: %+v", id, p)
		}
		if len(p.Limits) < 2 || reflect.DeepEqual(p.Limits, before.Limits) || len(p.Penalties.Ladder) < 3 {
			t.Errorf("%s has not changed the limits: %+v", id, p)
		}
	}
}

func TestLimitsPreset_PreviewedAndUndone(t *testing.T) {
	d := dash(t)
	d.say(clara, 3)
	w := d.open(1400, 900)
	w.openLimits()
	w.See(`document.querySelector(".presets")`) // nobody has changed the limits yet
	w.Write("#burst-0", "4")
	w.Press("#preset-subscribers-first")
	w.See(hasHeadline("The change would have throttled 2 more messages.") + "&&" + elementHasText(`document.querySelector(".limit .rule")`, "One message every 30 seconds"))
	w.See(elementHasText(`document.querySelector(".role-row[aria-label=vip]")`, "VIPs: 5 messages, then one every 3 seconds"))
	w.Press("#preset-gentle")
	w.See(`document.querySelector("#burst-0").value === "5"`)
	w.Accessible()
	w.Press("#undo-preset")
	w.waitForFocus("preset-gentle")
	w.See(`document.querySelector("#burst-0").value === "4" && !document.querySelector("#undo-preset")`)
	w.Press("#preset-raid-proof")
	w.See(`document.querySelector("#undo-preset")`)
	w.Write("#burst-0", "9") // then undoing the preset would undo this, too
	w.See(`!document.querySelector("#undo-preset")`)
	w.Press(".discard")
	w.See(`document.querySelector("#burst-0").value === "3" && document.querySelectorAll(".limit").length === 2 && ` + isIdle)
}

func TestLimitsRole_Exempt(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.openLimits()
	w.See(`document.querySelector("#role-0 option[value=moderator]").innerText === "moderator (exempt)" && !document.querySelector("#role-0 option[value=everyone]")`)
	w.pickOption("#role-0", "moderator")
	w.waitForFocus("burst-0-moderator")
	w.Write("#burst-0-moderator", "50")
	w.See(elementHasText(`document.querySelector(".role-row")`, "Moderators are exempt: these numbers do nothing."))
	w.Press(".useless button")
	w.waitForFocus("exempt-moderator")
	w.Type(" ")
	w.See(elementHasText(`document.querySelector(".role-row")`, "Moderators: 50 messages, then one every 10 minutes") + `&& !document.querySelector(".useless")`)
}

func TestLimitsKind_RenameAndConvert(t *testing.T) {
	d := dash(t)
	own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}
	if _, err := d.control.SetOverride(t.Context(), journal.Target{ChannelID: channelID, UserID: "51", Author: "anna"}, nil, own); err != nil {
		t.Fatal(err)
	}
	w := d.open(1400, 900)
	w.openLimits()
	w.See(`document.querySelector(".overrides a")`)
	w.Click(".limit .kind summary")
	w.Write("#name-0", "daily")
	w.See(elementHasText(`document.querySelector("#name-0-error")`, "Another limit has this name."))
	w.Write("#name-0", "flood")
	w.See(hasText("Usage starts again when you save: everyone gets the full allowance of this limit. It was “burst” before. Custom limits of 1 user in “burst” will no longer apply."))
	w.save()
	w.openHistory()
	w.See(elementHasText(`document.querySelector(".revisions > li")`, "burst: renamed to flood"))
	if l := d.guard.ChannelPolicy(channelID).Limits; len(l) != 2 || l[0].Name != "flood" || l[0].Burst != 3 || l[0].Refill != 10*time.Minute {
		t.Errorf("limits %+v", l)
	}

	w.pickOption("#algorithm-0", "sliding-log")
	w.See(`document.querySelector("#messages-0").value === "3" && document.querySelector("#every-0").value === "30 minutes" && ` + hasText("Usage starts again when you save"))
	w.pickOption("#algorithm-0", "token-bucket")
	w.See(isIdle + "&& !" + hasText("Usage starts again when you save"))
	w.pickOption("#algorithm-0", "sliding-log")
	w.pickOption("#per-0", "channel")
	w.save()
	want := chatguard.Limit{Name: "flood", Algorithm: chatguard.SlidingLog, Per: chatguard.PerChannel, Messages: 3, Every: 30 * time.Minute}
	if l := d.guard.ChannelPolicy(channelID).Limits; !reflect.DeepEqual(l[0], want) {
		t.Errorf("limit %+v, want %+v", l[0], want)
	}
}

func TestLimitsOrder_ByKeyboard(t *testing.T) {
	d := dash(t, addLimits(t, everywhere, everyAlgorithm[5]))
	w := d.open(1400, 900)
	w.openLimits()
	wantNames := func(want string) {
		t.Helper()
		w.See(`[...document.querySelectorAll(".limit .name")].map((name) => name.innerText).join(" ") === "` + want + `"`)
	}
	wantNames("burst daily " + everywhere.Name + " exact")
	w.TypeIn("#limit-3-up", kb.Enter) // over the limit of all channels, which keeps its place
	wantNames("burst exact " + everywhere.Name + " daily")
	w.waitForFocus("limit-1-up")
	w.Type(kb.Enter)
	w.waitForFocus("limit-0-down")
	w.save()
	w.openHistory()
	w.See(elementHasText(`document.querySelector(".revisions > li")`, "order of limits: burst, daily, exact → exact, burst, daily"))
	limits := d.guard.ChannelPolicy(channelID).Limits
	if len(limits) != 4 || limits[0].Name != "exact" || limits[1].Name != "burst" || limits[3].Name != "daily" {
		t.Errorf("limits %+v", limits)
	}
	w.Press(".note button") // undo
	wantNames("burst daily " + everywhere.Name + " exact")
}

func TestLimitsOrder_MergesTwoModerators(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Press("#limit-0-down")
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits[0].Burst = 5
		p.Limits = append(p.Limits, chatguard.Limit{Name: "teatime", Algorithm: chatguard.SlidingLog, Messages: 5, Every: time.Minute})
	}))
	w.Press(".compare")
	w.See(elementHasText(`document.querySelector(".sides")`, "You changed order of limits: burst, daily → daily, burst"))
	w.Press(".both")
	w.save()
	limits := d.guard.ChannelPolicy(channelID).Limits
	if len(limits) != 3 || limits[0].Name != "daily" || limits[1].Burst != 5 || limits[2].Name != "teatime" {
		t.Errorf("limits %+v", limits)
	}
}

func TestLimitsLayout_LinesOnDesktop(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.LeadModerator: {Burst: 9}}
		p.Exempt = nil
	}))
	for _, width := range []int64{1400, 1920} {
		w := d.openAgain(width, 900)
		w.openLimits()
		heights := browsertest.Eval[map[string]float64](w.Window, `Object.fromEntries(Object.entries({ bar: ".finish", rung: ".rung:has(#rung-4)" })
			.map(([name, selector]) => [name, document.querySelector(selector).getBoundingClientRect().height]))`)
		if heights["bar"] > 60 || heights["rung"] > 48 {
			t.Errorf("at %d: heights %v", width, heights)
		}
		w.See(elementHasText(`document.querySelector(".steps")`, "delete → delete → warn → 30 s → 10 min"))
		w.wantNoOverflow()
	}
}

func TestLimitsLayout_PreviewFoldsOnPhones(t *testing.T) {
	d := dash(t)
	d.say(clara, 4)
	for _, width := range []int64{320, 390} {
		w := d.openAgain(width, 844)
		w.openLimits()
		w.See(hasHeadline("These limits would have throttled 1 message") + `&& document.querySelector(".preview .details").offsetHeight === 0 && !document.querySelector(".presets")` +
			`&& document.querySelector(".rules").getBoundingClientRect().bottom <= document.querySelector(".preview").getBoundingClientRect().top`)
		w.Press(".unfold")
		w.See(`document.querySelector(".preview .details").offsetHeight > 0`)
		w.Press("#choose-preset")
		w.Press("#preset-raid-proof")
		w.wantNoOverflow()
		w.Accessible()
	}
}

func TestLimitsMode_SaysWhyNotEnforcing(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Connections = func() []live.Connection {
			return []live.Connection{{Name: "Token", State: live.Missing, Detail: "Not enforcing yet: the bot has no token. Run `chatguard login`."}}
		}
	})
	if err := d.control.Hold(channelID, "no token"); err != nil {
		t.Fatal(err)
	}
	w := d.open(1400, 900)
	w.openLimits()
	w.See(elementHasText(`document.querySelector(".effect")`, "Messages over the limits are throttled. Not enforcing yet: the bot has no token. Run chatguard login.") + `&& document.querySelector(".effect code")`)
	w.Click("input[value=observe]")
	w.See(`document.querySelector(".effect").innerText === "Nobody is throttled; the journal shows who would be."`)
}
