package web

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

var spammer = chatguard.User{ID: "42", Login: "spammer", DisplayName: "Spammer"}

// says is true when the page shows the text.
func says(text string) string { return fmt.Sprintf(`document.body.innerText.includes(%q)`, text) }

// rows is true when the table shows the user in so many rows.
func rows(user string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving) bdi")].filter((name) => name.textContent === %q).length === %d`, user, n)
}

func TestTheSignInLinkSignsIn(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.See(says("Nobody is throttled."))
	if address := browsertest.Eval[string](w.Window, "location.href"); address != "http://"+w.address+"/#/now" {
		t.Errorf("the address bar shows %s", address)
	}
	w.Must(chromedp.Reload())
	w.See(says("Nobody is throttled."))
	w.Must(chromedp.Navigate("about:blank"), chromedp.Navigate("http://"+w.address+"/#signin=good-code")) // used, but who is in stays in
	w.See(says("Nobody is throttled."))
}

func TestAUsedLinkAsksForAnother(t *testing.T) {
	w := dash(t).openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=old-code"))
	w.See(says("has been used or is too old"))
	if address := browsertest.Eval[string](w.Window, "location.hash"); strings.Contains(address, "old-code") {
		t.Errorf("the address bar shows %s", address)
	}
	w.Write("#token", "wrong")
	w.Press(".primary")
	w.See(says("That token isn't the one"))
	w.Write("#token", token+kb.Enter)
	w.See(says("Nobody is throttled."))
	w.Click("button.quiet")
	w.See(says("chatguard signin"))
}

func TestAThrottledUserAppearsAndLeaves(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 3)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(rows("other", 1))
	w.See(rows("Spammer", 0))
	d.say(spammer, 1)
	w.See(rows("Spammer", 1))
	w.See(says("in 9 min 5") + "&&" + says("deleting…"))
	d.pass(10 * time.Minute)
	w.See(says("Nobody is throttled."))
	w.See(says("6 messages in the last minute were fine, 2 were throttled."))
}

func TestWhoIsOnlyObservedIsntCountedAsThrottled(t *testing.T) {
	d := dash(t, withLimits(t, chatguard.Limit{
		Name: "tried", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.LimitObserves,
	}))
	w := d.open(360, 800)
	if v := d.say(spammer, 2); !v.Allowed || !v.Observed {
		t.Fatalf("a limit that observes: %+v", v)
	}
	w.See(rows("Spammer", 1) + "&&" + says("only observed") + "&&" + says("would be deleted"))
	figures := `[...document.querySelectorAll(".figures dd")].map((e) => e.textContent).slice(0, 2).join()`
	w.See(figures + `=== "0,1"`)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(rows("other", 1) + "&&" + figures + `=== "1,1"`)
	w.fits()

	d.pass(time.Hour)
	w.See(says("Nobody is throttled.") + "&&" + says("2 messages in the last minute were fine, 1 was throttled, 3 would have been throttled."))
}

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
	w.Must(chromedp.KeyEvent(kb.Escape))
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
	w.See(`document.querySelector(".finish .primary").disabled`)
	w.Press(".buttons button:last-child") // discard
	w.See(`document.querySelector("#burst-0").value === "3" && !document.querySelector("[aria-invalid=true]")`)

	w.Write("#refill-0", "0.5")
	w.Click("input[value=observe]")
	w.Press(".finish .primary")
	w.See(says("Saved by anna") + "&&" + says("Observing"))
	if p := d.guard.Policy(channelID); p.Limits[0].Refill != 500*time.Millisecond || p.Mode != chatguard.Observe {
		t.Errorf("in force is %+v", p)
	}
}

// card is what the card of a limit says, the values of its fields included.
func (w *window) card(limit string) string {
	w.Window.Helper()
	return browsertest.Eval[string](w.Window, fmt.Sprintf(`(() => {
		const card = [...document.querySelectorAll("fieldset")].find((f) => f.querySelector("legend bdi")?.textContent === %q);
		const fields = [...card.querySelectorAll(".field")].map((f) => f.querySelector("label").textContent + " [" + f.querySelector("input").value + "] " + f.querySelector(".unit").textContent);
		const notes = [...card.querySelectorAll(":scope > p")].map((p) => p.textContent);
		return [card.querySelector("legend").textContent, ...fields, ...notes].join("\n");
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
The day ends at 00:00, UTC time.`,
		"slow": `slow leaky bucket, for each user
One message every [1.5] seconds
Messages that may wait [3] messages
In the long run 40 a minute. Of 4 that come at once, the last has to wait 4.5 seconds for its turn. A bot that can’t hold messages back, as on Twitch, lets them appear at once; it throttles when every place is taken.
Other numbers for subscriber: 9 may wait; vip: as everyone.`,
		"unqueued": `unqueued leaky bucket, for each user
One message every [5400] seconds = 1 hour 30 minutes
Messages that may wait [0] messages
Only observes: it tells whom it would throttle, and throttles nobody.
In the long run 16 a day. Whatever comes less than 1 hour 30 minutes after the message before is throttled.`,
		"crowd": `crowd fixed window, for everyone in the channel together
Messages in each window [600] messages
A window lasts [60] seconds = 1 minute
In the long run 600 a minute. The windows follow the clock in UTC: where two of them meet, up to 1,200 can come close together.
Whoever finds it used up gets no strike; only the message goes.`,
		"evening": `evening user window, for each user
Messages in a window [100] messages
A window lasts [43200] seconds = 12 hours
In the long run 200 a day. A window begins with its first message; 12 hours later all of it is back.
Messages that are throttled count too.`,
		"month": `month sliding window, for each user
Messages in any window [6000000] messages
A window lasts [2592000] seconds = 30 days
Only observes: it tells whom it would throttle, and throttles nobody.
In the long run 200,000 a day. This is an estimate: it takes the messages of the window before for evenly spread.`,
		"exact": `exact sliding log, for each user
Messages in any window [20] messages
A window lasts [90] seconds = 1 minute 30 seconds
In the long run 800 an hour. This is exact: a message counts for 1 minute 30 seconds, and then no longer.`,
		"total": `total user window, for each user, in all channels together
Messages in a window [1000] messages
A window lasts [86400] seconds = 1 day
In the long run 1,000 a day. A window begins with its first message; 1 day later all of it is back.
Other numbers for vip: 2,000 messages.
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
	w.See(`document.querySelector(".finish .primary").disabled && document.querySelectorAll("[aria-invalid=true]").length === 7`)
	w.Press(".buttons button:last-child") // discard
	w.See(`!document.querySelector("[aria-invalid=true]")`)

	for field, text := range map[string]string{
		"#refill-0": "0.5", "#queue-2": "0", "#queue-3": "1", "#messages-4": "700", "#every-5": "3600", "#messages-6": "5", "#every-7": "60", "#messages-7": "1024",
	} {
		w.Write(field, text)
	}
	w.Press(".finish .primary")
	w.See(says("Saved by anna"))
	want := d.opts.BasePolicy(channelID).Clone()
	want.Limits[0].Refill = 500 * time.Millisecond
	want.Limits[2].Queue, want.Limits[3].Queue = 0, 1
	want.Limits[4].Messages = 700
	want.Limits[5].Every = time.Hour
	want.Limits[6].Messages = 5
	want.Limits[7].Messages, want.Limits[7].Every = 1024, time.Minute
	if got := d.guard.Policy(channelID); !reflect.DeepEqual(got, want) {
		t.Errorf("in force is %+v\nwant        %+v", got, want)
	}

	w.Must(chromedp.Focus(chromedp.CSS("#messages-8")), chromedp.SendKeys(chromedp.CSS("#messages-8"), "7")) // counts in all channels
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
	w.Press(".note button") // load
	w.See(`document.querySelector("#burst-0").value === "9"`)
}

func TestALostConnectionComesBack(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.See(rows("Spammer", 1))
	d.stop()
	w.See(says("No connection to chatguard."))
	w.See(rows("Spammer", 1)) // what was known stays
	d.start(d.opts)
	d.say(chatguard.User{ID: "43", Login: "meanwhile"}, 4)
	w.See(rows("meanwhile", 1) + "&&" + rows("Spammer", 0) + `&& !document.querySelector(".lost")`)
}

func TestARevokedSessionLeadsToSignIn(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.store.revoke()
	w.See(says("chatguard signin"))
}

func TestHostileNamesStayText(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{
		`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
		"\u202Egnp.exe\u202D مرحبا",
		strings.Repeat("W", 10_000),
		"{{constructor}} ${document.title='broken'} &amp; '\"",
	}
	for i, name := range names {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: name, DisplayName: name}, 4)
		w.See(rows(clip(name), 1))
	}
	if title := browsertest.Eval[string](w.Window, "document.title"); title != "Now · chatguard" {
		t.Errorf("the title is %q", title)
	}
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row img, .row script").length`); n != 0 {
		t.Errorf("%d elements came out of names", n)
	}
	w.fits()
}

// fits fails the test when the page is wider than the window.
func (w *window) fits() {
	w.Helper()
	if wide := browsertest.Eval[int](w.Window, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		w.Errorf("the page is %d pixels wider than the window", wide)
	}
}

func TestEveryPageFitsTheWindow(t *testing.T) {
	for _, width := range []int64{360, 700, 979, 980, 1600} {
		d := dash(t, func(o *Options) {
			o.Channels = func() []Channel {
				return []Channel{{channelID, strings.Repeat("somechannel", 3)}, {"8", "another"}}
			}
			o.Connections = func() []Connection {
				return []Connection{{Name: "Twitch", State: Disconnected, Detail: "Twitch can't be reached; trying again in 30 s"}}
			}
		})
		w := d.openBlank(width, 800)
		w.Must(chromedp.Navigate("http://" + w.address + "/"))
		w.See(says("chatguard signin"))
		w.fits()
		w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.See(says("sees no messages"))
		w.fits()
		d.say(spammer, 4)
		w.See(rows("Spammer", 1))
		w.fits()
		w.goTo("limits")
		w.See(`document.querySelector("#burst-0")`)
		w.fits()
		d.stop()
		w.See(says("No connection to chatguard."))
		w.fits()
	}
}

func TestThousandsOfRowsAreDrawnLazily(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	for i := range 5000 {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: fmt.Sprint("user_", i)}, 4)
	}
	w.See(`document.querySelector(".figures dd").textContent === "5,000"`)
	w.See(rows("user_4999", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	w.See(rows("user_0", 1))
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row").length`); n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
}

func TestEachChannelHasItsOwnPage(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{channelID, "first"}, {"8", "second"}} }
	})
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.See(rows("Spammer", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/now?channel=8"`))
	w.See(says("Nobody is throttled.") + `&& document.querySelector("select").value === "8"`)
	w.goTo("limits")
	w.See(`location.hash === "#/limits?channel=8" && document.querySelector("#burst-0")`)
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(says("Saved by anna"))
	if first, second := d.guard.Policy(channelID).Limits[0].Burst, d.guard.Policy("8").Limits[0].Burst; first != 3 || second != 5 {
		t.Errorf("bursts are %d and %d", first, second)
	}
}

func TestNothingMovesWhereThatIsUnwanted(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
	d.say(spammer, 4)
	w.See(rows("Spammer", 1))
	moving := browsertest.Eval[string](w.Window, `(() => {
		const style = getComputedStyle(document.querySelector(".row"));
		return style.transitionDuration + " " + style.animationDuration;
	})()`)
	if strings.Trim(moving, "0s, ") != "" {
		t.Errorf("rows move for %s", moving)
	}
}

func TestThePageWorksUnderAPath(t *testing.T) {
	d := dash(t)
	outer := http.Server{Handler: http.StripPrefix("/guard", d.server.Handler())}
	listener, err := Site{Listen: "127.0.0.1:0"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- outer.Serve(listener) }()
	defer func() { outer.Close(); <-done }()
	w := d.openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + listener.Addr().String() + "/guard/#signin=good-code"))
	d.say(spammer, 4)
	w.See(rows("Spammer", 1))
	w.Must(chromedp.Navigate("about:blank")) // its live feed ends
}

func TestAChannelThatIsKnownLateAppears(t *testing.T) {
	var known atomic.Bool
	for _, page := range []string{"now", "limits"} {
		known.Store(false)
		d := dash(t, func(o *Options) {
			channels := o.Channels
			o.Channels = func() []Channel {
				if known.Load() {
					return channels()
				}
				return nil
			}
		})
		w := d.openBlank(1400, 900)
		w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.See(says("Waiting for Twitch to let us into the channel.") + "&&" + says("Twitch connected"))
		w.goTo(page)
		known.Store(true)
		w.See(says("#somechannel") + "&&" + says("Enforcing"))
		if page == "limits" {
			w.See(`document.querySelector("#burst-0")?.value === "3"`)
			w.goTo("now")
		}
		w.See(says("Nobody is throttled."))
	}
}

// holds makes the page's requests of a method wait until release() is called there, and then fail with the status, or go on where it is 0.
func (w *window) holds(method string, status int) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const real = fetch, held = new Promise((go) => (window.release = () => { window.fetch = real; go(); }));
		window.fetch = async (address, options) => {
			if (options?.method !== %q) return real(address, options);
			await held;
			const answer = %d ? Response.json({ detail: "The database is in trouble." }, { status: %d }) : await real(address, options);
			setTimeout(() => (window.answered = true), 100);
			return answer;
		};
	}`, method, status, status)))
}

func (w *window) release() {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void]("release()"))
}

func TestWhoCantSignOutIsTold(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.holds("DELETE", http.StatusServiceUnavailable)
	w.Click("button.quiet")
	w.release()
	w.See(says("You are still signed in. The database is in trouble.") + "&&" + says("Nobody is throttled."))
	w.Click("button.quiet")
	w.See(says("chatguard signin"))
}

func TestNothingIsTypedWhileSaving(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []Channel { return []Channel{{channelID, "first"}, {"8", "second"}} }
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
