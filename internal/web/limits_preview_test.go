//go:build browser

package web

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

var (
	clara   = chatguard.User{ID: "51", Login: "clara"}
	teatime = chatguard.User{ID: "52", Login: "teatime"}
)

// hasHeadline returns a script that is true if the preview's headline contains the text.
func hasHeadline(text string) string {
	return elementHasText(`document.querySelector(".preview .verdict")`, text)
}

// previewRows returns the preview's figures and the rows of its tables, one per line.
func (w *window) previewRows() string {
	w.Window.Helper()
	return browsertest.Eval[string](w.Window, `[...document.querySelectorAll(".tally > div, .preview tbody tr")]
		.map((row) => [...row.children].map((cell) => cell.innerText.trim().replace(/\s+/g, " ")).join(" | ")).join("\n")`)
}

// openLimits opens the Limits page and waits until the limits are shown.
func (w *window) openLimits() {
	w.Window.Helper()
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
}

func TestLimitsPreview_TrySaveEnforce(t *testing.T) {
	d := dash(t)
	d.say(clara, 4)
	d.say(teatime, 2)
	w := d.open(1400, 900)
	w.openLimits()
	w.See(hasHeadline("These limits would have throttled 1 message from 1 user."))
	if got, want := w.previewRows(), "Messages throttled | 1\nUsers throttled | 1\nMessages throttled, by limit\nburst | 1\nPenalties\ndeleted | 1"; got != want {
		t.Errorf("today:\n%s\nwant\n%s", got, want)
	}
	w.Write("#burst-0", "1")
	w.See(hasHeadline("The change would have throttled 3 more messages."))
	want := `Messages throttled | 4 +3 1 now
Users throttled | 2 +1 1 now
Messages throttled, by limit
burst | 1 | 4 | +3
Penalties
deleted | 1 | 4 | +3
clara | 1 | 3 | +2
teatime | 0 | 1 | +1`
	if got := w.previewRows(); got != want {
		t.Errorf("the change beside today:\n%s\nwant\n%s", got, want)
	}
	w.See(elementHasText(`document.querySelector(".preview")`, "6 messages from 2 users") + `&& document.querySelector(".changed a[href='#/people?user=51']")`)
	if n := d.guard.ChannelPolicy(channelID).Limits[0].Burst; n != 3 {
		t.Errorf("after a preview without saving, the burst is %d", n)
	}

	w.Click("input[value=observe]")
	w.See(elementHasText(`document.querySelector(".finish .primary")`, "Save and observe"))
	w.Press(".finish .primary")
	w.See(hasText("Saved by anna") + "&&" + headerHasState("notice", "Observing nobody is throttled"))
	if v := d.say(chatguard.User{ID: "53", Login: "berta"}, 2); !v.Allowed || !v.Observed {
		t.Errorf("saved to observe, and the second message: %+v", v)
	}
	w.Click("input[value=enforce]")
	w.See(elementHasText(`document.querySelector(".finish .primary")`, "Save and enforce"))
	w.Press(".finish .primary")
	w.See(headerHasState("good", "Enforcing"))
	if v := d.say(chatguard.User{ID: "54", Login: "gardenhour"}, 2); v.Allowed {
		t.Error("saved to enforce, and a second message is allowed")
	}
}

func TestLimitsPreview_LooserMeansFewer(t *testing.T) {
	d := dash(t)
	d.say(clara, 5)
	w := d.open(1400, 900)
	w.openLimits()
	w.Write("#burst-0", "4")
	w.See(hasHeadline("The change would have throttled 1 fewer message."))
	w.See(elementHasText(`document.querySelector(".tally dd")`, "1 −1 2 now"))
	w.Write("#burst-0", "3")
	w.See(hasHeadline("These limits would have throttled 2 messages from 1 user."))
	w.Write("#messages-1", "299")
	w.See(hasHeadline("The change would have made no difference."))
}

func TestLimitsPreview_WithdrawnOnTyping(t *testing.T) {
	d := dash(t)
	d.say(clara, 3)
	w := d.open(1400, 900)
	w.openLimits()
	w.See(hasHeadline("These limits would have throttled nobody."))
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.asked = [];
		window.fetch = (address, options) => {
			if (!address.endsWith("/preview")) return real(address, options);
			asked.push(options.signal);
			return asked.length > 1 ? real(address, options) : new Promise((_, refuse) => (options.signal.onabort = () => refuse(options.signal.reason)));
		};
	}`))
	w.Write("#burst-0", "2")
	w.See(`asked.length === 1 && !asked[0].aborted && ` + hasHeadline("Counting…"))
	w.Write("#burst-0", "1")
	w.See(`asked.length === 2 && asked[0].aborted && ` + hasHeadline("The change would have throttled 2 more messages."))
}

func TestLimitsPreview_NothingRecorded(t *testing.T) {
	w := dash(t).open(360, 800)
	w.openLimits()
	w.See(hasHeadline("No messages recorded yet.") + `&& !document.querySelector(".preview table")`)
	w.wantNoOverflow()
}

func TestLimitsPreview_FailureShown(t *testing.T) {
	d := dash(t)
	d.say(clara, 4)
	d.store.failReads(errors.New("disk gone"))
	w := d.open(1400, 900)
	w.openLimits()
	w.See(elementHasText(`document.querySelector(".preview [role=alert]")`, "database is failing"))
	d.store.failReads(nil)
	w.Write("#burst-0", "0")
	w.See(hasHeadline("Fix the highlighted field to update the preview.") + `&& !document.querySelector(".preview [role=alert]")`)
	w.Write("#burst-0", "4")
	w.See(hasHeadline("The change would have throttled 1 fewer message."))
}

func TestLimitsPreview_ServerErrorsShownEarly(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.Write("#burst-0", "2147483647")
	w.Write("#refill-0", "1000000000")
	const why = "burst × refill is too long"
	w.See(elementHasText(`document.querySelector(".preview [role=alert]")`, why))
	w.Press(".finish .primary")
	w.See(elementHasText(`document.querySelector(".finish .note.bad")`, why))
	if n := d.guard.ChannelPolicy(channelID).Limits[0].Burst; n != 3 {
		t.Errorf("refused, and the burst is %d", n)
	}
}

func TestLimitsPreview_ReturnsAfterReconnect(t *testing.T) {
	d := dash(t)
	d.say(clara, 4)
	w := d.open(1400, 900)
	w.openLimits()
	w.See(hasHeadline("These limits would have throttled 1 message"))
	d.stop()
	w.See(hasHeadline("Connection lost. The preview updates after reconnecting."))
	d.start(d.opts)
	w.See(hasHeadline("These limits would have throttled 1 message"))
}

func TestLimitsPreview_HostileNames(t *testing.T) {
	d := dash(t)
	for i, login := range hostileNames {
		d.say(chatguard.User{ID: fmt.Sprint(60 + i), Login: login}, 4)
	}
	w := d.open(360, 800)
	w.openLimits()
	w.Write("#burst-0", "1")
	w.See(fmt.Sprintf(`document.querySelectorAll(".changed tbody tr").length === %d && document.title === "(4) Limits · #somechannel · chatguard"`, len(hostileNames)))
	w.wantNoOverflow()
}
