//go:build browser

package web

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
)

// revisions is a script for the texts of the history's rows.
const revisions = `[...document.querySelectorAll(".revisions > li")].map((li) => li.innerText.replace(/\s+/g, " ").replace(/\d\d:\d\d:\d\d/, "TIME")).join("\n")`

func (w *window) openHistory() {
	w.Window.Helper()
	w.Click(".history summary")
	w.See(`document.querySelector(".revisions li")`)
}

func TestLimitsHistory_Revert(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Limits[0].Burst, p.Limits[0].Refill = 5, time.Minute }))
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 9}}
		p.Limits = append(p.Limits, chatguard.Limit{Name: "teatime", Algorithm: chatguard.UserWindow, Messages: 30, Every: time.Hour})
	}))
	w := d.open(1400, 900)
	w.openLimits()
	w.openHistory()
	want := `2 owner TIME in force teatime: added (user window, every 1 hour, messages 30) burst: messages at once for vip: same as everyone → 9
1 owner TIME burst: messages at once 3 → 5 burst: one more every 10 minutes → 1 minute Restore`
	if got := browsertest.Eval[string](w.Window, revisions); got != want {
		t.Errorf("history:\n%s\nwant\n%s", got, want)
	}

	w.Press(`button[aria-label="Restore revision 1"]`)
	w.See(hasText("Saved by anna") + `&& document.querySelectorAll(".revisions > li").length === 3 && !document.querySelector("#messages-2")`)
	w.See(elementHasText(`document.querySelector(".revisions > li")`, "3 anna") + "&&" + elementHasText(`document.querySelector(".revisions > li")`, "teatime: removed (user window)"))
	if p := d.guard.ChannelPolicy(channelID); len(p.Limits) != 2 || p.Limits[0].Burst != 5 || p.Limits[0].Roles != nil {
		t.Errorf("after the revert, the policy in force is %+v", p)
	}
	w.Press(".note button") // undo
	w.See(`document.querySelectorAll(".revisions > li").length === 4 && document.querySelector("#messages-2")`)

	w.Press(".to-file")
	w.See(hasText("Same as the configuration file.") + "&&" + hasText("No differences.") + `&& document.querySelector("#burst-0").value === "3"`)
	if p := d.guard.ChannelPolicy(channelID); len(p.Limits) != 2 || p.Limits[0].Burst != 3 {
		t.Errorf("as in the file, and in force is %+v", p)
	}
}

func TestLimitsHistory_NoRevertOverDraft(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(burst(5)))
	decode[control.Revised](t, d.put(burst(6)))
	w := d.open(1400, 900)
	w.openLimits()
	w.openHistory()
	w.Write("#burst-0", "7")
	w.See(hasText("To restore a revision, first save or discard your changes.") + `&& !document.querySelector(".revisions button, .to-file")`)
}

func TestLimitsHistory_ShowsUnsaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	decode[control.Revised](t, d.put(burst(5)))
	w := d.open(1400, 900)
	w.openLimits()
	w.openHistory()
	w.See(elementHasText(`document.querySelector(".revisions > li")`, "not saved yet"))
}

func TestLimitsHistory_Export(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.ExportPolicy = func(p chatguard.Policy) ([]byte, error) { return []byte("# " + p.Mode.String() + "\n"), nil }
	})
	decode[control.Revised](t, d.put(burst(5)))
	w := d.open(360, 800)
	w.openLimits()
	w.openHistory()
	w.See(elementHasText(`document.querySelector(".history")`, "Value in the file → current value: burst: messages at once 3 → 5"))
	w.Must(chromedp.Evaluate[chromedp.Void](`
		navigator.clipboard.writeText = async (text) => (window.copied = text);
		fetch(document.querySelector(".history a[download]").href).then(async (answer) => (window.file = answer.headers.get("Content-Disposition") + await answer.text())), null`))
	w.See(`window.file === 'attachment; filename="chatguard-somechannel.toml"# enforce\n'`)
	w.Must(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".history button")].find((b) => b.innerText === "Copy").click()`))
	w.See(`window.copied === "# enforce\n" && ` + hasText("Copied."))
	w.wantNoOverflow()
}

func TestLimitsHistory_MergesTwoModerators(t *testing.T) {
	d := dash(t)
	w, other := d.open(1400, 900), d.openAgain(360, 800)
	w.openLimits()
	other.openLimits()
	w.Write("#burst-0", "8")
	other.Write("#messages-1", "200")
	other.Write("#burst-0", "2")
	other.save()
	w.See(hasText("ben (link) changed these limits while you were editing.") + `&& document.querySelector(".finish .primary").ariaDisabled === "true"`)
	w.Press(".compare")
	w.See(elementHasText(`document.querySelector(".sides")`, "ben (link) changed burst: messages at once 3 → 2 daily: messages 300 → 200 You changed burst: messages at once 3 → 8"))
	w.Press(".both")
	w.See(`document.querySelector("#burst-0").value === "8" && document.querySelector("#messages-1").value === "200" && !document.querySelector(".compare")`)
	if p := d.guard.ChannelPolicy(channelID); p.Limits[0].Burst != 2 {
		t.Errorf("before saving, the burst is %d", p.Limits[0].Burst)
	}
	w.save()
	if p := d.guard.ChannelPolicy(channelID); p.Limits[0].Burst != 8 || p.Limits[1].Messages != 200 {
		t.Errorf("in force is %+v", p)
	}
	// nothing is typed in the other window, so its form shows the change
	other.See(`document.querySelector("#burst-0").value === "8"`)
}

func TestLimitsHistory_MergesLimitsOfBothSides(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Press("#add-limit")
	w.Press(".chooser button[value=user-window]")
	w.pickOption("#role-0", "vip")
	w.Write("#burst-0-vip", "9")
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits = append(p.Limits[:1:1], chatguard.Limit{Name: "teatime", Algorithm: chatguard.SlidingLog, Messages: 5, Every: time.Minute})
	}))
	w.Press(".compare")
	w.Press(".both")
	w.save()
	limits := d.guard.ChannelPolicy(channelID).Limits
	if len(limits) != 3 || limits[0].Roles[chatguard.VIP].Burst != 9 || limits[1].Name != "teatime" || limits[2].Name != "user-window" {
		t.Errorf("limits %+v", limits)
	}
}
