//go:build browser

package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// clicks is a script for a page whose controls are clicked. It keeps the changing requests that the
// page sends, and what the second or third click of a row of clicks does: an event that reaches a
// listener, or a form that is changed or sent. No page listens for other events of a press, except
// to know what is under the mouse.
const clicks = `(async () => {
	const load = (name) => import(new URL("app/" + name, document.baseURI));
	const { state } = await load("core/state.js");
	await Promise.all(["start/checklist.js", "shell/palette.js", "shell/keys-dialog.js", "shell/alerts-dialog.js"].map(load)); // they are loaded when they are first shown
	const real = fetch, sent = [], done = [];
	let pending = 0, answered = 0, aimed = null, isFirst = true;
	window.fetch = async (address, { method = "GET", body, ...options } = {}) => {
		const isChange = method !== "GET" && !/preview/.test(address);
		if (isChange) sent.push([method, address, body].filter(Boolean).join(" "));
		pending++;
		try {
			return await real(address, { method, body, ...options });
		} finally {
			pending--;
			if (isChange) answered = Date.now();
		}
	};
	addEventListener("mousedown", ({ detail }) => (isFirst = detail === 1), true);
	for (const type of ["click", "submit", "input", "change"]) {
		addEventListener(type, ({ target }) => isFirst || done.push(type + " of " + nameOf(target)), true); // after the listeners of the page itself
	}
	const frame = () => new Promise((next) => {
		requestAnimationFrame(() => setTimeout(next));
		setTimeout(next, 1000); // a page that isn't shown draws no frames
	});

	// The feed has told what changed when its frame is newer than the answer. The page Admin shows
	// nothing of it, and other documents have none.
	const isBehind = () => pending > 0 || (answered && state.session === "in" && state.channel && route !== "admin" && state.feed.lastFrame + state.clockLead <= answered);

	const kinds = "button, summary, input[type=checkbox], input[type=radio], [role=option]";
	let isBeside = false; // the last click hit no control, such as the second one if the first has opened a dialog; it takes the focus away
	addEventListener("pointerdown", (event) => (isBeside = !event.target.closest(kinds + ", label")), true);
	const isUsable = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.matches(":disabled, [aria-disabled=true]") && e.getBoundingClientRect().width > 1;
	const { route } = state, address = location.hash;
	const places = route === "now" ? "body" : "main, dialog"; // the header is the same on each page
	const usable = () => state.route !== route ? [] : [...(document.querySelector("dialog:modal") ?? document.querySelector(":popover-open") ?? document).querySelectorAll(kinds)].filter((e) => isUsable(e) && e.closest(places));
	const nameOf = (e) => [e.localName, e.id || e.ariaLabel || (e.type === "radio" || e.type === "checkbox" ? e.name + e.value : e.innerText)].join(" ").replace(/\s+/g, " ").replace(/[\da-f]*\d[\da-f]*/g, "#").slice(0, 80);

	const look = () => ({
		names: usable().map(nameOf), sent: sent.splice(0), done: done.splice(0),
		open: document.querySelectorAll("dialog[open], details[open], :popover-open").length,
		isFocusLost: (state.session !== "unknown" || document.querySelector("main.viewer")) && document.activeElement === document.body && !isBeside,
	});

	window.page = {
		look,
		dismiss() {
			document.querySelectorAll("dialog:modal").forEach((dialog) => dialog.close());
			document.querySelectorAll(":popover-open").forEach((popover) => popover.hidePopover());
		},
		discard() { // or the browser asks about unsaved changes
			addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
			Object.assign(state, { form: null, drafts: {} });
		},
		leave() {
			page.dismiss();
			page.discard();
			location.hash = route === "audit" ? "#/journal" : "#/audit";
		},
		back: () => (location.hash = address),
		async settled() {
			let before = "", same = 0;
			for (let frames = 0; frames < 1000; frames++) {
				await frame();
				const now = JSON.stringify(usable().map((e) => [nameOf(e), e.getBoundingClientRect()]));
				if (!isBehind() && now === before && ++same === 3) return look(); // an effect, such as a request, begins a frame or two after what shows it
				if (isBehind() || now !== before) same = 0;
				before = isBehind() ? "" : now;
			}
			throw new Error("never settled: " + pending + " requests, feed " + state.feed.state + ", " + before);
		},
		async aim(name) {
			isFirst = true;
			dispatchEvent(new Event("scroll")); // or a click where the last one was counts as one on what has come under a resting mouse
			aimed = usable().find((e) => nameOf(e) === name);
			if (!aimed) return null;
			const fields = [...(aimed.closest("form:not(.limits)")?.elements ?? [])].filter((e) => e.matches("input, textarea") && e.value === "");
			for (const field of fields) {
				field.value = field.name === "client_id" ? "a".repeat(30) : field.inputMode === "numeric" ? "1" : /url|address/.test(field.name + field.id + field.type) ? "https://hooks.example/1" : "10m";
				field.dispatchEvent(new Event("input", { bubbles: true }));
			}
			aimed.scrollIntoView({ block: "center", behavior: "instant" });
			await frame();
			const [box] = aimed.getClientRects();
			if (!box) return null; // what was written above has removed it
			const { x, y, width, height } = box;
			const hit = document.elementFromPoint(x + width / 2, y + height / 2);
			return aimed.contains(hit) || hit?.closest("label")?.control === aimed ? [x + width / 2, y + height / 2] : null;
		},
	};
	return true;
})()`

// crawl clicks all controls that people find from an address on.
type crawl struct {
	*testing.T
	address   string
	open      func() *browsertest.Window // opens the address in a new window of a new dashboard
	window    *browsertest.Window
	seenFirst []string
	seen      map[string]bool // names of controls
	changes   []string        // the changing requests that were sent
}

// seen is what a page shows, and what has happened since the last look.
type seen struct {
	Names []string // of the controls that can be used
	Open  int      // the number of open dialogs, popovers and details
	Sent  []string // changing requests
	Done  []string // what clicks that aren't the first have done

	IsFocusLost bool // the keyboard would begin at the top of the page again
}

// settled waits until nothing changes any more.
func (c *crawl) settled() seen {
	c.Helper()
	return browsertest.Await[seen](c.window, "page.settled()")
}

// aim returns the middle of a control, or nil if there is no such control or something covers it.
func (c *crawl) aim(name string) []float64 {
	c.Helper()
	return browsertest.Await[[]float64](c.window, fmt.Sprintf("page.aim(%q)", name))
}

// click clicks at a point, as the nth click of a person there, at a time.
func (c *crawl) click(point []float64, n int64, at time.Time) {
	c.Helper()
	c.window.Must(chromedp.MouseClickXY(point[0], point[1], func(p *input.DispatchMouseEventParams) {
		p.ClickCount, p.Timestamp = n, input.TimeSinceEpoch(float64(at.UnixMicro())/1e6)
	}))
}

// begin looks at the page.
func (c *crawl) begin() {
	c.Helper()
	browsertest.Await[bool](c.window, clicks)
	c.seenFirst = c.settled().Names
}

// restarts show again what the page showed at first, the fastest way first.
var restarts = []func(*crawl){
	func(*crawl) {},
	func(c *crawl) { c.window.Must(chromedp.Evaluate[chromedp.Void]("page.dismiss()")) },
	func(c *crawl) {
		c.window.Must(chromedp.Evaluate[chromedp.Void]("page.leave()"))
		c.settled()
		c.window.Must(chromedp.Evaluate[chromedp.Void]("page.back()"))
		c.settled()
	},
	func(c *crawl) {
		c.window.Must(chromedp.Evaluate[chromedp.Void]("page.discard()"), chromedp.Reload())
		c.begin()
	},
	func(c *crawl) {
		c.window = c.open()
		c.begin()
	},
}

// find goes to the last control of a way, by one click on each of those before it. It is nil if it
// isn't found.
func (c *crawl) find(way []string) (point []float64) {
	c.Helper()
	last := way[len(way)-1]
	for _, restart := range restarts {
		restart(c)
		for _, before := range way[:len(way)-1] {
			if point = c.aim(last); point != nil {
				break
			}
			if point = c.aim(before); point == nil {
				break
			}
			c.click(point, 1, time.Now())
			c.settled()
		}
		if point = c.aim(last); point != nil {
			return point
		}
	}
	return nil
}

const pause = 150 * time.Millisecond // between the clicks of a double click

// run clicks each control twice. What people find then is clicked next, while it is there.
func (c *crawl) run() {
	c.window = c.open()
	c.begin()
	ways := c.next(nil, c.seenFirst)
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		if point := c.find(way); point != nil {
			ways = append(c.next(way, c.double(way, point)), ways...)
		} else {
			c.Logf("%s: not found again: %q", c.address, way)
		}
	}
}

// next returns the ways to the controls that were not seen before.
func (c *crawl) next(way, names []string) (ways [][]string) {
	for _, name := range names {
		if !c.seen[name] {
			c.seen[name] = true
			ways = append(ways, append(slices.Clone(way), name))
		}
	}
	return ways
}

// double clicks twice, and once more when the page shows what it did. It returns the controls that
// can be used then. What one click does is what the first does, because the others do nothing.
func (c *crawl) double(way []string, point []float64) []string {
	c.Helper()
	begun := time.Now()
	c.click(point, 1, begun)
	c.click(point, 2, begun.Add(pause))
	after := c.settled()
	c.click(point, 3, begun.Add(2*pause))
	late := browsertest.Eval[seen](c.window, "page.look()")
	if done := append(after.Done, late.Done...); len(done) > 0 {
		c.Errorf("%s: the second click on %q does more: %q", c.address, way, done)
	}
	if len(late.Sent) > 0 || late.Open < after.Open {
		c.Errorf("%s: a late second click on %q sends %q, and leaves %d of %d open", c.address, way, late.Sent, late.Open, after.Open)
	}
	if sent := slices.Sorted(slices.Values(after.Sent)); len(slices.Compact(sent)) < len(after.Sent) {
		c.Errorf("%s: a double click on %q sends %q", c.address, way, after.Sent)
	}
	if after.IsFocusLost {
		c.Errorf("%s: after a click on %q, nothing has the focus", c.address, way)
	}
	c.changes = append(c.changes, after.Sent...)
	return after.Names
}
