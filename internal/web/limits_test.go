//go:build browser

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
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestLimitsPage_LowerBurstThrottlesNext(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	if v := d.say(spammer, 2); !v.Allowed {
		t.Fatal("2 of 3 messages, and throttled")
	}
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(hasText("Saved by anna"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("with a burst of 2, the third message is allowed")
	}
	w.goTo("now")
	w.See(hasRows("Spammer", 1))

	w.goTo("limits")
	w.Press(".note button") // undo
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	if burst := d.guard.ChannelPolicy(channelID).Limits[0].Burst; burst != 3 {
		t.Errorf("after undoing, the burst is %d", burst)
	}
	w.Type(kb.Escape)
	w.See(`!document.querySelector(".note")`)
}

func TestLimitsPage_InvalidNumbersNotSaved(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#refill-0")?.value === "10 minutes"`)
	w.Write("#burst-0", "0")
	w.See(`document.querySelector("#burst-0-error").textContent.startsWith("Enter a")`)
	w.See(`document.querySelector(".finish .primary").ariaDisabled === "true"`)
	w.Press(".discard")
	w.See(`document.querySelector("#burst-0").value === "3" && !document.querySelector(".columns [aria-invalid=true]")`)

	w.Write("#refill-0", "0.5")
	w.Click("input[value=observe]")
	w.Press(".finish .primary")
	w.See(hasText("Saved by anna") + "&&" + hasText("Observing"))
	if p := d.guard.ChannelPolicy(channelID); p.Limits[0].Refill != 500*time.Millisecond || p.Mode != chatguard.Observe {
		t.Errorf("in force is %+v", p)
	}
}

func (w *window) card(limit string) string {
	w.Window.Helper()
	return browsertest.Eval[string](w.Window, fmt.Sprintf(`(() => {
		const card = [...document.querySelectorAll(".limit")].find((f) => f.querySelector("legend bdi")?.textContent === %q);
		const field = (f) => (f.querySelector("label").textContent + " [" + f.querySelector("input").value + "] " + f.querySelector(".unit").textContent).trim();
		const fields = [...card.querySelectorAll(":scope > .fields .field, .role-row .field")].map(field);
		const notes = [...card.querySelectorAll(":scope > p")].map((p) => p.textContent);
		const title = card.querySelector("legend").innerText.replace(/\s+/g, " ");
		const ticked = [...card.querySelectorAll(".choice")].filter((c) => c.querySelector("input").checked).map((c) => "[x] " + c.innerText.trim());
		return [title, ...fields, ...ticked, ...notes].join("\n");
	})()`, limit))
}

func TestLimitsPage_DescribesEveryLimit(t *testing.T) {
	w := dash(t, addLimits(t, everyAlgorithm...)).open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-8")`)
	for limit, want := range map[string]string{
		"burst": `3 messages, then one every 10 minutes burst token bucket per user
Messages at once [3] messages
Then one more every [10 minutes]
Long-term rate: 6 per hour. A full burst of 3 refills in 30 minutes.`,
		"daily": `300 messages a day, until midnight UTC daily daily window per user
Messages per day [300] messages
Day ends at [00:00]
Time zone []`,
		"slow": `One message every 1.5 seconds, with 3 more waiting slow leaky bucket per user
One message every [1.5 seconds]
Queue size [3] messages
Queue size, subscriber [9] messages
Queue size, vip [] messages
Long-term rate: 40 per minute. If 4 arrive at once, the last waits 4.5 seconds. On Twitch, messages are never delayed, only throttled when the queue is full.`,
		"unqueued": `One message every 1 hour 30 minutes unqueued leaky bucket per user
One message every [1 hour 30 minutes]
Queue size [0] messages
[x] Observe only Reports messages over this limit, but throttles nobody.
Long-term rate: 16 per day. A message less than 1 hour 30 minutes after the previous one is throttled.`,
		"crowd": `600 messages every minute by the clock crowd fixed window shared by everyone
Messages per window [600] messages
Window length [1 minute]
Long-term rate: 600 per minute. Windows follow the UTC clock. Up to 1,200 messages can pass in a row when one window ends and the next begins.
Messages over this limit are removed without a strike.`,
		"evening": `100 messages in 12 hours, from the first one on evening user window per user
Messages per window [100] messages
Window length [12 hours]
[x] Throttled messages also count Users who keep writing while throttled wait longer.
Long-term rate: 200 per day. A window begins with its first message and resets 12 hours later.`,
		"month": `About 6,000,000 messages in any 30 days month sliding window per user
Messages per window [6000000] messages
Window length [30 days]
[x] Observe only Reports messages over this limit, but throttles nobody.
Long-term rate: 200,000 per day. Estimated: the messages of the previous window are assumed to be evenly spread.`,
		"exact": `20 messages in any 1 minute 30 seconds exact sliding log per user
Messages per window [20] messages
Window length [1 minute 30 seconds]
Long-term rate: 800 per hour. Each message counts for exactly 1 minute 30 seconds.`,
		"total": `1,000 messages in 1 day, from the first one on total user window per user, across all channels
Messages per window [1000] messages
Window length [1 day]
Messages per window, vip [2000] messages
Long-term rate: 1,000 per day. A window begins with its first message and resets 1 day later.
Applies across all channels. Change it in the configuration file.`,
	} {
		if got := w.card(limit); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLimitsPage_ChangesEveryNumber(t *testing.T) {
	limits := slices.Clone(everyAlgorithm)
	limits[1].Every = 2400*time.Hour + time.Nanosecond // more digits than a JavaScript number holds
	d := dash(t, addLimits(t, limits...))
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-8")`)
	for field, text := range map[string]string{
		"#refill-0": "0.5", "#queue-2": "0", "#queue-2-vip": "0", "#queue-3": "1", "#messages-4": "700", "#every-5": "1h", "#messages-6": "5", "#every-7": "60", "#messages-7": "1024",
	} {
		w.Write(field, text)
	}
	w.Press(".finish .primary")
	w.See(hasText("Saved by anna"))
	want := d.opts.Policies.Base(channelID).Clone()
	want.Limits[0].Refill = 500 * time.Millisecond
	want.Limits[2].Queue, want.Limits[3].Queue = 0, 1
	want.Limits[2].Roles[chatguard.VIP] = chatguard.Override{Queue: chatguard.NoQueue}
	want.Limits[4].Messages = 700
	want.Limits[5].Every = time.Hour
	want.Limits[6].Messages = 5
	want.Limits[7].Messages, want.Limits[7].Every = 1024, time.Minute
	if got := d.guard.ChannelPolicy(channelID); !reflect.DeepEqual(got, want) {
		t.Errorf("in force is %+v\nwant        %+v", got, want)
	}

	w.TypeIn("#messages-8", "7") // a limit across all channels
	w.See(`document.querySelector("#messages-8").readOnly && document.querySelector("#messages-8").value === "1000"`)
}

func TestLimitsPage_RefusalShown(t *testing.T) {
	d := dash(t, addLimits(t, everywhere))
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#messages-2")?.readOnly`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.fetch = (address, options) => real(address, options?.method !== "PUT" ? options : { ...options, body: options.body.replace('"messages":1000', '"messages":1') });
	}`))
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(hasText("applies to all channels: it can't be changed or left out in a single channel"))
	if p := d.guard.ChannelPolicy(channelID); p.Limits[0].Burst != 3 || len(d.store.revisions) > 0 {
		t.Errorf("in force is %+v", p)
	}
}

func TestLimitsPage_Conflict(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	d.put(burst(7))
	// nothing was typed, so the form shows the change
	w.See(`document.querySelector("#burst-0").value === "7"`)
	w.Write("#burst-0", "8")
	d.put(burst(9))
	w.See(hasText("owner changed these limits while you were editing."))
	w.Press(".theirs")
	w.See(`document.querySelector("#burst-0").value === "9"`)
}

func TestLimitsPage_LockedWhileSaving(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}}
		}
	})
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.delayRequests("PUT", 0)
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(`document.querySelector("#burst-0").readOnly && document.querySelector(".mode").disabled`)
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/limits?channel=8"`))
	w.See(`document.querySelector("select").value === "8" && document.querySelector("#burst-0")?.value === "3"`)
	w.releaseRequests()
	w.See("window.answered")
	if shown := browsertest.Eval[string](w.Window, `document.querySelector("#burst-0").value`); shown != "3" || d.guard.ChannelPolicy(channelID).Limits[0].Burst != 5 {
		t.Errorf("the second channel shows %s", shown)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/limits?channel=` + channelID + `"`))
	w.See(`document.querySelector("#burst-0")?.value === "5" && !document.querySelector("#burst-0").readOnly`)
}

func TestLimitsPage_NoLimits(t *testing.T) {
	d := dash(t)
	d.put(func(p *chatguard.Policy) { p.Limits, p.Exempt, p.Penalties.Ladder = nil, nil, nil })
	if a := d.do("GET", policyPath, nil, asOwner); strings.Contains(string(a.body), "null") {
		t.Errorf("the policy is %s", a.body)
	}
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(hasText("No limits: nobody is throttled."))
}

// If two answers are pending, the form shows the one that was requested last, whichever arrives
// last.
func TestLimitsPage_LateAnswerIgnored(t *testing.T) {
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
	w.releaseRequests()
	w.See("window.answered")
	if shown := browsertest.Eval[string](w.Window, `document.querySelector("#burst-0").value`); shown != "7" {
		t.Errorf("after the first answer it is %s", shown)
	}
}
