package web

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

func TestLoweringTheBurstThrottlesTheNextMessage(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	if v := d.say(spammer, 2); !v.Allowed {
		t.Fatal("2 of 3 messages, and throttled")
	}
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(says("Saved by anna"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("a third message under a burst of 2, and allowed")
	}
	w.goTo("now")
	w.See(rows("Spammer", 1))

	w.goTo("limits")
	w.Press(".note button") // undo
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	if burst := d.guard.Policy(channelID).Limits[0].Burst; burst != 3 {
		t.Errorf("undone, and the burst is %d", burst)
	}
	w.Type(kb.Escape)
	w.See(`!document.querySelector(".note")`)
}

func TestWrongNumbersAreNotSaved(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#refill-0")?.value === "600"`)
	for field, wrong := range map[string]string{"#burst-0": "0", "#refill-0": "1e3", "#messages-1": "2.5"} {
		w.Write(field, wrong)
		w.See(fmt.Sprintf(`document.querySelector("%s-error").textContent.startsWith("Write a")`, field))
	}
	w.See(`document.querySelector(".finish .primary").ariaDisabled === "true"`)
	w.Press(".discard")
	w.See(`document.querySelector("#burst-0").value === "3" && !document.querySelector("[aria-invalid=true]")`)

	w.Write("#refill-0", "0.5")
	w.Click("input[value=observe]")
	w.Press(".finish .primary")
	w.See(says("Saved by anna") + "&&" + says("Observing"))
	if p := d.guard.Policy(channelID); p.Limits[0].Refill != 500*time.Millisecond || p.Mode != chatguard.Observe {
		t.Errorf("in force is %+v", p)
	}
}

func (w *window) card(limit string) string {
	w.Window.Helper()
	return browsertest.Eval[string](w.Window, fmt.Sprintf(`(() => {
		const card = [...document.querySelectorAll(".limit")].find((f) => f.querySelector("legend bdi")?.textContent === %q);
		const field = (f) => (f.querySelector("label").textContent + " [" + f.querySelector("input").value + "] " + f.querySelector(".unit").textContent).trim();
		const fields = [...card.querySelectorAll(".fields .field, .role-row .field")].map(field);
		const notes = [...card.querySelectorAll(":scope > p")].map((p) => p.textContent);
		const ticked = [...card.querySelectorAll(".choice")].filter((c) => c.querySelector("input").checked).map((c) => "[x] " + c.innerText.trim());
		return [card.querySelector("legend").textContent, ...fields, ...ticked, ...notes].join("\n");
	})()`, limit))
}

func TestEveryLimitIsShownInWords(t *testing.T) {
	w := dash(t, withLimits(t, everyAlgorithm...)).open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-8")`)
	for limit, want := range map[string]string{
		"burst": `burst token bucket, for each user
Messages at once [3] messages
Then one more every [600] seconds = 10 minutes
In the long run 6 an hour. Once all 3 are used, they are back after 30 minutes of silence.`,
		"daily": `daily daily window, for each user
Messages a day [300] messages
The day ends at [00:00]
Zone of the day []
The day ends at 00:00, UTC time.`,
		"slow": `slow leaky bucket, for each user
One message every [1.5] seconds
Messages that may wait [3] messages
Messages that may wait, subscriber [9] messages
Messages that may wait, vip [] messages
In the long run 40 a minute. Of 4 that come at once, the last has to wait 4.5 seconds for its turn. A bot that can’t hold messages back, as on Twitch, lets them appear at once; it throttles when every place is taken.`,
		"unqueued": `unqueued leaky bucket, for each user
One message every [5400] seconds = 1 hour 30 minutes
Messages that may wait [0] messages
[x] Only observe: tell whom it would throttle, and throttle nobody
In the long run 16 a day. Whatever comes less than 1 hour 30 minutes after the message before is throttled.`,
		"crowd": `crowd fixed window, for everyone in the channel together
Messages in each window [600] messages
A window lasts [60] seconds = 1 minute
In the long run 600 a minute. The windows follow the clock in UTC: where two of them meet, up to 1,200 can come close together.
Whoever finds it used up gets no strike; only the message goes.`,
		"evening": `evening user window, for each user
Messages in a window [100] messages
A window lasts [43200] seconds = 12 hours
[x] Count messages that are throttled, too
In the long run 200 a day. A window begins with its first message; 12 hours later all of it is back.`,
		"month": `month sliding window, for each user
Messages in any window [6000000] messages
A window lasts [2592000] seconds = 30 days
[x] Only observe: tell whom it would throttle, and throttle nobody
In the long run 200,000 a day. This is an estimate: it takes the messages of the window before for evenly spread.`,
		"exact": `exact sliding log, for each user
Messages in any window [20] messages
A window lasts [90] seconds = 1 minute 30 seconds
In the long run 800 an hour. This is exact: a message counts for 1 minute 30 seconds, and then no longer.`,
		"total": `total user window, for each user, in all channels together
Messages in a window [1000] messages
A window lasts [86400] seconds = 1 day
Messages in a window, vip [2000] messages
In the long run 1,000 a day. A window begins with its first message; 1 day later all of it is back.
It counts in all channels, so it can’t be changed in one of them: change it in the configuration file.`,
	} {
		if got := w.card(limit); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEveryNumberOfALimitCanBeChanged(t *testing.T) {
	limits := slices.Clone(everyAlgorithm)
	limits[1].Every = 2400*time.Hour + time.Nanosecond // more digits than a browser's numbers have
	d := dash(t, withLimits(t, limits...))
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-8")`)
	for field, wrong := range map[string]string{
		"#every-2": "0", "#queue-2": "-1", "#queue-3": "2147483647", "#messages-4": "1.5", "#every-5": "12h", "#every-6": "1152921505", "#messages-7": "1025",
	} {
		w.Write(field, wrong)
		w.See(fmt.Sprintf(`document.querySelector("%s-error").textContent`, field))
	}
	w.See(`document.querySelector(".finish .primary").ariaDisabled === "true" && document.querySelectorAll("[aria-invalid=true]").length === 7`)
	w.Press(".discard")
	w.See(`!document.querySelector("[aria-invalid=true]")`)

	for field, text := range map[string]string{
		"#refill-0": "0.5", "#queue-2": "0", "#queue-2-vip": "0", "#queue-3": "1", "#messages-4": "700", "#every-5": "3600", "#messages-6": "5", "#every-7": "60", "#messages-7": "1024",
	} {
		w.Write(field, text)
	}
	w.Press(".finish .primary")
	w.See(says("Saved by anna"))
	want := d.opts.BasePolicy(channelID).Clone()
	want.Limits[0].Refill = 500 * time.Millisecond
	want.Limits[2].Queue, want.Limits[3].Queue = 0, 1
	want.Limits[2].Roles[chatguard.VIP] = chatguard.Override{Queue: chatguard.NoQueue}
	want.Limits[4].Messages = 700
	want.Limits[5].Every = time.Hour
	want.Limits[6].Messages = 5
	want.Limits[7].Messages, want.Limits[7].Every = 1024, time.Minute
	if got := d.guard.Policy(channelID); !reflect.DeepEqual(got, want) {
		t.Errorf("in force is %+v\nwant        %+v", got, want)
	}

	w.TypeIn("#messages-8", "7") // counts in all channels
	w.See(`document.querySelector("#messages-8").readOnly && document.querySelector("#messages-8").value === "1000"`)
}

func TestWhatIsRefusedIsSaid(t *testing.T) {
	d := dash(t, withLimits(t, everywhere))
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-2")?.readOnly`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.fetch = (address, options) => real(address, options?.method !== "PUT" ? options : { ...options, body: options.body.replace('"messages":1000', '"messages":1') });
	}`))
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(says("counts in all channels: it can't be changed or left out in one of them"))
	if p := d.guard.Policy(channelID); p.Limits[0].Burst != 3 || len(d.store.revisions) > 0 {
		t.Errorf("in force is %+v", p)
	}
}

func TestTwoModeratorsDontOverwriteEachOther(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	d.put(burst(7))
	w.See(`document.querySelector("#burst-0").value === "7"`) // nothing was typed: the form follows
	w.Write("#burst-0", "8")
	d.put(burst(9))
	w.See(says("owner has changed these limits meanwhile."))
	w.Press(".theirs")
	w.See(`document.querySelector("#burst-0").value === "9"`)
}

func TestNothingIsTypedWhileSaving(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}} }
	})
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.holds("PUT", 0)
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(`document.querySelector("#burst-0").readOnly && document.querySelector(".mode").disabled`)
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/limits?channel=8"`))
	w.See(`document.querySelector("select").value === "8" && document.querySelector("#burst-0")?.value === "3"`)
	w.release()
	w.See("window.answered")
	if shown := browsertest.Eval[string](w.Window, `document.querySelector("#burst-0").value`); shown != "3" || d.guard.Policy(channelID).Limits[0].Burst != 5 {
		t.Errorf("the second channel shows %s", shown)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/limits?channel=` + channelID + `"`))
	w.See(`document.querySelector("#burst-0")?.value === "5" && !document.querySelector("#burst-0").readOnly`)
}

func TestThereMayBeNoLimits(t *testing.T) {
	d := dash(t)
	d.put(func(p *chatguard.Policy) { p.Limits, p.Exempt, p.Penalties.Ladder = nil, nil, nil })
	if a := d.do("GET", policyPath, nil, asOwner); strings.Contains(string(a.body), "null") {
		t.Errorf("the policy is %s", a.body)
	}
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(says("There are no limits: nobody is throttled."))
}

// TestALateAnswerChangesNoLimits: of two answers on their way, the one that was asked for last is edited, whichever comes last.
func TestALateAnswerChangesNoLimits(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch, held = new Promise((go) => (window.release = go));
		window.fetch = async (address, options) => {
			const answer = await real(address, options);
			if (!/\/policy$/.test(address) || window.isHolding) return answer;
			window.isHolding = true;
			await held;
			setTimeout(() => (window.answered = true), 200);
			return answer;
		};
	}`))
	d.put(burst(5))
	w.See("window.isHolding")
	d.put(burst(7))
	w.See(`document.querySelector("#burst-0").value === "7"`)
	w.release()
	w.See("window.answered")
	if shown := browsertest.Eval[string](w.Window, `document.querySelector("#burst-0").value`); shown != "7" {
		t.Errorf("after the first answer it is %s", shown)
	}
}
