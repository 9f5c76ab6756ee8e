//go:build browser

package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// clicks is a script for a page whose controls are clicked. It keeps the changing requests that the
// page sends.
const clicks = `(async () => {
	const load = (name) => import(new URL("app/" + name, document.baseURI));
	const { state } = await load("core/state.js");
	await Promise.all(["start/checklist.js", "shell/palette.js", "shell/keys-dialog.js", "shell/alerts-dialog.js"].map(load)); // they are loaded when they are first shown
	const real = fetch, sent = [];
	let pending = 0, answered = 0, aimed = null;
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
	addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true); // nobody answers the question about a draft
	const frame = () => new Promise((next) => {
		requestAnimationFrame(() => setTimeout(next));
		setTimeout(next, 1000); // a page that isn't shown draws no frames
	});

	// The feed has told what changed when its frame is newer than the answer.
	const isBehind = () => pending > 0 || (answered && state.session === "in" && state.feed.lastFrame + state.clockLead <= answered);

	const kinds = "button, summary, input[type=checkbox], input[type=radio], [role=option]";
	let isBeside = false; // the last click hit no control, such as the second one if the first has opened a dialog; it takes the focus away
	addEventListener("pointerdown", (event) => (isBeside = !event.target.closest(kinds + ", label")), true);
	const isUsable = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.matches(":disabled, [aria-disabled=true]") && e.getBoundingClientRect().width > 1;
	const { route } = state, address = location.hash;
	const places = route === "now" ? "body" : "main, dialog"; // the header is the same on each page
	const usable = () => state.route !== route ? [] : [...(document.querySelector("dialog:modal") ?? document.querySelector(":popover-open") ?? document).querySelectorAll(kinds)].filter((e) => isUsable(e) && e.closest(places));
	const nameOf = (e) => [e.localName, e.id || e.ariaLabel || (e.type === "radio" || e.type === "checkbox" ? e.name + e.value : e.innerText)].join(" ").replace(/\s+/g, " ").replace(/[\da-f]*\d[\da-f]*/g, "#").slice(0, 80);

	window.page = {
		leave() {
			document.querySelectorAll("dialog:modal").forEach((dialog) => dialog.close());
			document.querySelectorAll(":popover-open").forEach((popover) => popover.hidePopover());
			location.hash = route === "audit" ? "#/journal" : "#/audit";
		},
		back: () => (location.hash = address),
		async settled() {
			let before = "";
			for (let frames = 0; frames < 1000; frames++) {
				await frame();
				const now = JSON.stringify(usable().map((e) => [nameOf(e), e.getBoundingClientRect()]));
				if (!isBehind() && now === before) return { names: usable().map(nameOf), sent: sent.splice(0), isFocusLost: document.activeElement === document.body && !isBeside };
				before = isBehind() ? "" : now;
			}
			throw new Error("never settled");
		},
		async aim(name) {
			aimed = usable().find((e) => nameOf(e) === name);
			if (!aimed) return null;
			const fields = [...(aimed.form?.elements ?? [])].filter((e) => e.matches("input, textarea") && e.value === "");
			for (const field of fields) {
				field.value = field.inputMode === "numeric" ? "1" : /url|address/.test(field.name + field.id + field.type) ? "https://hooks.example/1" : "10m";
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
	open      func() *window // opens the address in a new window of a new dashboard
	window    *window
	seenFirst []string
	seen      map[string]bool // names of controls
	changes   []string        // the changing requests that were sent
}

// settled is what a page shows once nothing changes any more.
type settled struct {
	Names []string // of the controls that can be used
	Sent  []string // the changing requests since the last time

	IsFocusLost bool // the keyboard would begin at the top of the page again
}

func (c *crawl) settled() settled {
	c.Helper()
	return browsertest.Await[settled](c.window.Window, "page.settled()")
}

// aim returns the middle of a control, or nil if there is no such control or something covers it.
func (c *crawl) aim(name string) []float64 {
	c.Helper()
	return browsertest.Await[[]float64](c.window.Window, fmt.Sprintf("page.aim(%q)", name))
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
	browsertest.Await[bool](c.window.Window, clicks)
	c.seenFirst = c.settled().Names
}

// restarts show again what the page showed at first, the fastest way first.
var restarts = []func(*crawl){
	func(*crawl) {},
	func(c *crawl) {
		c.window.Must(chromedp.Evaluate[chromedp.Void]("page.leave()"))
		c.settled()
		c.window.Must(chromedp.Evaluate[chromedp.Void]("page.back()"))
		c.settled()
	},
	func(c *crawl) {
		c.window.Must(chromedp.Reload())
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
// can be used then.
func (c *crawl) double(way []string, point []float64) []string {
	c.Helper()
	begun := time.Now()
	c.click(point, 1, begun)
	c.click(point, 2, begun.Add(pause))
	after := c.settled()
	c.click(point, 3, begun.Add(2*pause))
	sent := append(after.Sent, c.settled().Sent...)
	if len(sent) > 1 {
		c.Errorf("%s: a double click on %q sends %q", c.address, way, sent)
	}
	if after.IsFocusLost {
		c.Errorf("%s: after a click on %q, nothing has the focus", c.address, way)
	}
	c.changes = append(c.changes, sent...)
	return after.Names
}

// dashToClick runs a dashboard on which every page has something to click.
func dashToClick(t *testing.T) *dashboard {
	t.Helper()
	d := dash(t, withWebhooks(t), func(o *Options) {
		o.Login = &fakeLogin{}
		o.ExportPolicy = func(chatguard.Policy) ([]byte, error) { return []byte("mode = \"observe\"\n"), nil }
		o.Setup = func(string) (BotSetup, bool) {
			return BotSetup{Token: live.Valid, Account: "bot", Moderator: ModeratorYes, Since: time.Now()}, true
		}
	})
	d.say(spammer, 4)
	d.flush()
	for _, change := range []struct {
		path string
		body any
	}{
		{channelPath + "/users/42/notes", map[string]any{"text": "rude"}},
		{"/api/v1/tokens", map[string]any{"name": "berta", "role": "help"}},
		{"/api/v1/links", map[string]any{"name": "carl", "role": "help"}},
	} {
		if a := d.do("POST", change.path, change.body, asOwner); a.StatusCode >= 300 {
			t.Fatalf("%s: %s %s", change.path, a.Status, a.body)
		}
	}
	d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve })
	d.flush()
	return d
}

// TestClicks_DoubleIsOne clicks each control of the pages twice, 150 ms apart: nothing else happens
// than with one click. Among the controls are those that send the changes named here.
func TestClicks_DoubleIsOne(t *testing.T) {
	for address, changes := range map[string][]string{
		"now":            {"POST api/v1/channels/7/pause", "POST api/v1/channels/7/raid", "DELETE api/v1/session"},
		"people?user=42": {"POST api/v1/channels/7/users/42/ban", "POST api/v1/channels/7/users/42/grant", "DELETE api/v1/channels/7/users/42/notes/"},
		"admin":          {"POST api/v1/links", "POST api/v1/tokens", "POST api/v1/webhooks", "PUT api/v1/channels/7/settings"},
	} {
		t.Run(address, func(t *testing.T) {
			runParallel(t)
			c := &crawl{T: t, address: address, seen: map[string]bool{}, open: func() *window {
				w := dashToClick(t).open(1280, 900)
				w.visit("#/" + address)
				w.See(`document.querySelector("main h1")`)
				return w
			}}
			c.run()
			for _, change := range changes {
				if !slices.ContainsFunc(c.changes, func(sent string) bool { return strings.HasPrefix(sent, change) }) {
					t.Errorf("no control sends %s, of %q", change, slices.Sorted(maps.Keys(c.seen)))
				}
			}
		})
	}
}
