//go:build browser

package web

import (
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// served is a script that answers the page's requests for the rates with a test's data. The data is
// in window.rates, by span. Once window.silent is true, the script does not answer.
const served = `{
	const real = fetch;
	window.rates = { hour: null, day: null };
	window.fetch = (address, options) => {
		const span = /rates\?.*span=(\w+)/.exec(address)?.[1];
		if (span && window.silent) return new Promise(() => {});
		return span && window.rates[span] ? Promise.resolve(Response.json(window.rates[span])) : real(address, options);
	};
}`

// testRates is a script that sets the test's data to an answer of 720 steps. The first quarter is
// unknown; then one message per step follows, with a peak of 155 messages, 10 of them throttled, at
// step 480. As in chatguard's answers, steps begin at whole multiples of their length.
const testRates = `{
	const now = Math.floor(Date.now() / 60e3) * 60e3;
	const fill = (each) => Array.from({ length: 720 }, (_, i) => (i < 180 ? null : each(i)));
	window.rates.hour = { from: new Date(now - 3600e3).toISOString(), step_seconds: 5,
		messages: fill((i) => (i === 480 ? 155 : 1)), throttled: fill((i) => (i === 480 ? 10 : 0)), observed: fill((i) => (i === 480 ? 4 : 0)),
		peak: { at: new Date(now - 1200e3).toISOString(), messages: 166 } };
	window.rates.day = { from: new Date(now - 86400e3).toISOString(), step_seconds: 60,
		messages: Array(1440).fill(null), throttled: Array(1440).fill(null), observed: Array(1440).fill(null) };
}`

const caption = `document.querySelector(".chart figcaption")`

// setRates sets rates as the answer to the page's requests.
func (w *window) setRates(rates string) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](served), chromedp.Evaluate[chromedp.Void](rates))
}

// chooseSpan presses "Hour" or "Day".
func (w *window) chooseSpan(name string) {
	w.Window.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll(".spans button")].find((b) => b.innerText === %q)`, name)
	w.See(button)
	w.Must(chromedp.Evaluate[chromedp.Void](button + ".click()"))
	w.See(button + `.ariaPressed === "true"`)
}

// countInk returns a script that counts the pixels of the plots with the colour of a custom
// property.
func countInk(property string) string {
	return fmt.Sprintf(`(() => {
		const probe = document.createElement("canvas").getContext("2d");
		probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(%q);
		probe.fillRect(0, 0, 1, 1);
		const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
		let n = 0;
		for (const canvas of document.querySelectorAll(".chart canvas")) {
			const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) n++;
		}
		return n;
	})()`, property)
}

// TestChart_Drawn points at the chart, and checks its colours, its width and that one known value,
// which makes no line, is drawn.
func TestChart_Drawn(t *testing.T) {
	w := dash(t).open(1600, 900)
	w.setRates(testRates)
	w.chooseSpan("Day")
	w.chooseSpan("Hour")
	w.See(elementHasText(caption, "694 messages") + "&&" + countInk("--sev-observed") + "> 0")
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const over = document.querySelector(".u-over"), { left, top, width } = over.getBoundingClientRect();
		const from = Date.parse(rates.hour.from) / 1000, minute = (seconds) => Math.floor((from + seconds) / 60) * 60;
		const place = (minute(2400) + 30 - minute(900)) / (minute(3600) - minute(900));
		over.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: left + width * place, clientY: top + 20 }));
	}`))
	legend := `document.querySelector(".legend")`
	w.See(elementHasText(legend, "throttled 6") + "&&" + elementHasText(legend, "would be throttled 4") + `&& document.querySelector(".legend time")`)

	w.Must(chromedp.Evaluate[chromedp.Void]("window.silent = true")) // so that nothing else redraws it
	for _, scheme := range []string{"light", "dark", "light"} {
		w.Prefer(map[string]string{"prefers-color-scheme": scheme})
		w.See(countInk("--series-messages") + " > 100 &&" + countInk("--hairline") + " > 100")
	}
	w.Must(chromedp.EmulateViewport(360, 800))
	w.See(`document.querySelector(".folded")`)
	w.openActivity()
	w.Must(chromedp.Evaluate[chromedp.Void](`window.silent = false;` + testRates + `rates.hour.messages.fill(null); rates.hour.messages[719] = 13;
		rates.hour.throttled.fill(null); rates.hour.throttled[719] = 0; rates.hour.observed.fill(null); rates.hour.observed[719] = 0; rates.hour.peak = undefined;`))
	w.chooseSpan("Day")
	w.chooseSpan("Hour")
	w.See(elementHasText(caption, ": 13 messages, 0 throttled.") + "&&" + countInk("--series-messages") + " > 20")
	w.See(`[...document.querySelectorAll(".chart canvas")].every((e) => e.getBoundingClientRect().width <= 328)`)
	w.wantNoOverflow()
}

// The page does not move when a chart arrives, so that a user about to press something below it
// does not hit something else.
func TestChart_NoLayoutShift(t *testing.T) {
	showDay := func(w *window) { w.Click(".spans button:nth-child(3)") }
	showCard := func(w *window) { w.visit("#/people?user=" + gardenhour.ID) }
	drawn, refused := `document.querySelector(".chart canvas")`, hasText("The database is failing.")
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.open(1400, 900)
	for name, c := range map[string]struct {
		width    int64
		requests string
		ask      func(*window)
		below    string
		status   int
		then     string
		// most is how far the page may move, in px. An error message takes one line.
		most float64
	}{
		"rates":           {1400, "GET .*/rates", showDay, ".top", 0, drawn, 0},
		"rates on phones": {360, "GET .*/rates", showDay, ".top", 0, drawn, 0},
		"rates refused":   {1400, "GET .*/rates", showDay, ".top", 503, refused, 40},
		"week":            {1400, "GET .*/week", showCard, ".person .entry", 0, drawn, 0},
		"week refused":    {1400, "GET .*/week", showCard, ".person .entry", 503, refused, 40},
	} {
		w.Must(chromedp.EmulateViewport(c.width, 900))
		w.visit("#/now")
		w.Must(chromedp.Reload())
		w.See(`document.querySelector(".list-bar")`)
		w.openActivity()
		w.See(`document.querySelector(".chart canvas")`)
		w.delayRequests(c.requests, c.status)
		c.ask(w)
		place := fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().top - document.querySelector(".chart").getBoundingClientRect().top`, c.below)
		w.See(place + `> 0 && document.querySelector(".to-come") && window.isHolding`)
		before := browsertest.Eval[float64](w.Window, place)
		w.releaseRequests()
		w.See(c.then)
		if after := browsertest.Eval[float64](w.Window, place); math.Abs(after-before) > c.most {
			t.Errorf("%s: it was %g px below, and is %g", name, before, after)
		}
	}
}
