//go:build browser

package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
)

// openLab opens the Lab, as "chatguard lab" serves it without or with recorded messages, with a
// fragment.
func openLab(t *testing.T, recorded *simulate.Recordings, fragment string) *browsertest.Window {
	t.Helper()
	runParallel(t)
	w := browsertest.Open(t, 1400, 900)
	w.Must(chromedp.Navigate(serveLab(t, recorded) + fragment))
	w.See(`document.querySelector(".lane .tally, .nobody")`)
	return w
}

// follow follows a link of the Lab on its page.
func follow(w *browsertest.Window, fragment string) {
	w.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.activeElement.blur(), location.hash = %q", fragment)))
}

// serveLab serves the Lab until the test ends, and returns its address.
func serveLab(t testing.TB, recorded *simulate.Recordings) (address string) {
	t.Helper()
	site := access.Site{Listen: "127.0.0.1:0"}
	s, err := NewLabSite(site, recorded, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := site.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String() + "/lab"
}

// isLetGo is true if no button has the focus, so that keys send messages.
const isLetGo = `document.activeElement === document.body`

// tally is true if the figures of the nth lane begin with a text.
func tally(lane int, text string) string {
	return fmt.Sprintf(`document.querySelectorAll(".lane")[%d]?.querySelector(".tally").textContent.startsWith(%q)`, lane-1, text)
}

// allAnswered is true if nothing that the page asked for failed.
const allAnswered = `performance.getEntriesByType("resource").length > 20 && performance.getEntriesByType("resource").every((e) => e.responseStatus === 200)`

// twoLanes are a strict and a generous lane, with a clock that stands.
const twoLanes = "#lanes=token-bucket,burst=3,refill=1h;fixed-window,messages=15,every=1h&traffic=hand&at=0s"

func TestLabPage_ByHand(t *testing.T) {
	w := openLab(t, nil, twoLanes)
	w.See(tally(2, "● 0"))
	w.See(`document.querySelector("#traffic-steady") && !document.querySelector("#traffic-recorded") && ` + allAnswered)
	w.Type("    ")
	w.See(tally(1, "● 3  ⊖ 1") + "&&" + tally(2, "● 4  ⊖ 0"))
	w.Type("1")
	w.See(tally(1, "● 3  ⊖ 2") + "&&" + tally(2, "● 4  ⊖ 0"))
	w.See(`document.querySelector(".lane .wait").textContent === "throttled for 1 h"`)
	w.See(`document.querySelector("#said").textContent === "Throttled in 1 lane."`)
	w.Click(".lane ~ .lane .send")
	w.See(tally(1, "● 3  ⊖ 2") + "&&" + tally(2, "● 5  ⊖ 0"))

	// arrow keys name messages
	follow(w, "#lanes=token-bucket,burst=2,refill=4s&traffic=hand&sent=1,1.2,2.4&at=5s")
	w.See(tally(1, "● 2  ⊖ 1"))
	w.TypeIn(".timeline", kb.ArrowLeft)
	w.See(`document.querySelector(".mark-name").textContent.startsWith("At 2.4 s, ")`)
	w.Type(kb.ArrowLeft)
	w.See(`document.querySelector(".mark-name").textContent.startsWith("At 1.2 s, ")`)
	w.Type(kb.Escape)
	w.See(`document.querySelector(".mark-name").hidden`)
}

func TestLabPage_Plays(t *testing.T) {
	w := openLab(t, nil, "#lanes=token-bucket,burst=3,refill=4s&traffic=steady,every=1s&speed=10")
	w.See(`Number(/● (\d+)/.exec(document.querySelector(".tally").textContent)[1]) > 4`)
	w.Type(" ")
	w.See(`document.querySelector("#resume")`)
	w.Click("#play")
	w.See(isLetGo)
	stood := browsertest.Eval[string](w, `document.querySelector("#lab-time").textContent`)
	w.Type(kb.Enter)
	w.See(`!document.querySelector("#resume")`)
	w.See(fmt.Sprintf(`document.querySelector("#lab-time").textContent > %q`, stood))
	w.Click("#reset")
	w.See(fmt.Sprintf(`document.querySelector("#lab-time").textContent < %q`, stood))

	// the link is kept
	follow(w, "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&at=0s")
	w.Click(".lane .edit")
	w.Write("[id$='-0-burst']", "7")
	w.See(`location.hash === "#lanes=token-bucket,burst=7,refill=4s&traffic=hand"`)
	w.Write("[id$='-0-burst']", "0")
	w.See(`document.querySelector("[id$='-0-burst-error']").textContent.startsWith("Enter a")`)
	w.Click("#add")
	w.Click("#add-sliding-log")
	w.See(`document.querySelectorAll(".lane").length === 2 && ` + isLetGo)
	w.Type(" ")
	w.See(tally(2, "● 1"))
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash += "&at=5s&colour=red"`))
	w.See(`document.querySelector("#unknown code").textContent === "colour=red"`)
	w.See(tally(2, "● 1") + `&& document.querySelector("#lab-time").textContent === "00:00:05.0"`)
	w.See(`document.querySelector(".lane .rule").textContent.startsWith("7 messages")`)

	// With reduced motion, the picture doesn't scroll: between two messages it stays as it is.
	w.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
	follow(w, "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&at=30s")
	w.See(`document.querySelector("#lab-time").textContent === "00:00:30.0" && document.querySelectorAll(".lane").length === 1`)
	w.Must(chromedp.Evaluate[chromedp.Void](`window.drawn = 0; const clear = CanvasRenderingContext2D.prototype.clearRect;
		CanvasRenderingContext2D.prototype.clearRect = function (...place) { drawn++; return clear.apply(this, place); };`))
	w.Click("#play")
	frames := browsertest.Await[int](w, `new Promise((done) => {
		let frames = 0;
		const next = () => (++frames < 60 ? requestAnimationFrame(next) : done(drawn));
		drawn = 0;
		next();
	})`)
	if frames > 30 { // two canvases, drawn once per second or by a message
		t.Errorf("drawn %d times in 60 frames", frames)
	}
}

// TestLabPage_Scenes checks that each scene opens without an error. Lessons look alike, so only one
// and the experiments are checked for accessibility.
func TestLabPage_Scenes(t *testing.T) {
	w := openLab(t, nil, "#at=5s")
	w.Click("#scenes")
	w.See(`document.querySelector("#scenes-menu button")`)
	ids := browsertest.Eval[[]string](w, `[...document.querySelectorAll("#scenes-menu button")].map(({ id }) => id)`)
	if len(ids) != 14 {
		t.Errorf("%d scenes, want eleven lessons and three experiments: %q", len(ids), ids)
	}
	w.Type(kb.Escape)
	experiments := ids[len(ids)-3:]
	for _, id := range ids {
		w.Click("#scenes")
		w.Click("#" + id)
		w.See(fmt.Sprintf(`location.hash.startsWith(%q) && document.querySelector(".story")`, "#"+strings.Replace(id, "-", "=", 1)))
		w.See(`document.querySelector(".lane .tally, .chat-lines li, #finding")`)
		w.See(`!document.querySelector("[role=alert]")`)
		if id == ids[0] || slices.Contains(experiments, id) {
			w.Accessible()
		}
	}
	follow(w, "#scene=clock&sent=1,1,1&at=5s&colour=red")
	w.See(tally(1, "● 3"))
	w.Click(".lane .edit")
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.See(`document.documentElement.dataset.theme === "dark"`)
	w.Accessible()
	w.Must(chromedp.EmulateViewport(360, 740))

	// on a phone, a lane and the buttons that send are on one screen, and the rest unfolds above
	// them
	follow(w, "#scene=clock")
	w.See(`innerWidth === 360 && document.querySelector(".timeline").getBoundingClientRect().bottom < document.querySelector(".controls").getBoundingClientRect().top`)
	w.See(`document.querySelector(".controls .send").getBoundingClientRect().bottom <= 740 && !document.querySelector("#reset").checkVisibility()`)
	place := browsertest.Eval[float64](w, `document.querySelector("#more").getBoundingClientRect().top`)
	w.Click("#more")
	w.See(`document.querySelector("#reset").checkVisibility() && document.querySelector("#traffic-steady").checkVisibility()`)
	if moved := browsertest.Eval[float64](w, `document.querySelector("#more").getBoundingClientRect().top`); moved != place {
		t.Errorf("unfolding moves its button from %v to %v px", place, moved)
	}
	w.Click("#more")
	follow(w, "#at=80s")
	w.See(tally(1, "● 12") + `&& innerWidth === 360 && document.querySelector("#language").value === "en"`)
	w.Click(".lane .edit")
	if wide := browsertest.Eval[int](w, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d px wide", wide)
	}
	w.Accessible()
}

// TestLabPage_CopyPaste checks that a raid's copies count together, also after a change that makes
// the page ask again, that the preset's number solves the task, and that the page shows the texts
// that the limit compares, and what became of each.
func TestLabPage_CopyPaste(t *testing.T) {
	w := openLab(t, nil, "#at=5s")
	scene := browsertest.Await[string](w, `import("/lab/scenes.js").then(({ linkOf, sceneOf }) => linkOf(sceneOf("copies")))`)
	raid := func(messages string) string {
		return strings.Replace(scene, "messages=20,", "messages="+messages+",", 1) + "&at=80s"
	}
	share := func(share string) string {
		return fmt.Sprintf(`document.querySelector("#task-state").textContent.includes("%s of the messages that passed were copies. 0 messages from others")`, share)
	}
	follow(w, raid("20"))
	w.See(share("47.1%"))
	w.See(`[...document.querySelectorAll("#chat-free li.spammer")].some((li) => li.textContent.includes("@anna"))`)
	follow(w, raid("4"))
	w.See(share("15.1%") + ` && !document.querySelector("#task-state.good")`)
	follow(w, raid("3"))
	w.See(share("11.8%") + ` && document.querySelector("#task-state.good")`)
	w.See(`document.querySelector("#chat-limited-copies tbody tr").textContent === "FREE FOLLOWERS at my page9151"`)
	w.Type(" ")
	w.See(`document.querySelector("#chat-limited li.you")`)
	w.See(share("11.8%"))

	// The numbers are those of page Limits. Another scope keeps only what it can have.
	w.Click("#chat-limits")
	w.See(`document.querySelector("[id$='-per']").value === "text" && document.querySelector("[id$='-similar']").checked && document.querySelector("[id$='-from_length']").value === "12"`)
	w.Click(`[id$="-similar"]`)
	w.See(`!location.hash.includes("similar=true") && document.querySelector("#chat-limited-copies tbody tr td").textContent !== "9"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`const scope = document.querySelector("[id$='-per']"); scope.value = "user"; scope.dispatchEvent(new Event("change", { bubbles: true }))`))
	w.See(`!location.hash.includes("per=") && !document.querySelector("[id$='-from_length']") && !document.querySelector("#chat-limited-copies")`)
	w.Accessible()
}

// TestLabPage_TextLane checks that a lane with only limits on repeated text shows the state of the
// last message's text, and has no grants.
func TestLabPage_TextLane(t *testing.T) {
	w := openLab(t, nil, "#lanes=sliding-log,messages=1,every=30s,per=text,similar=true;token-bucket,burst=3,refill=4s+sliding-log,messages=1,every=30s,per=text&traffic=steady,every=5s&at=12s")
	w.See(`document.querySelector("#lane-1 .state-words").textContent === "last message: doesn’t count"`)
	w.See(`document.querySelector(".traffic-state").textContent.includes("messages have no text, or none on record")`)
	w.See(`!document.querySelector("#lane-1 .grant") && document.querySelector("#lane-2 .grant")`)
	follow(w, "#lanes=sliding-log,messages=1,every=30s,per=text&traffic=hand&at=30s&sent=1,1,1")
	w.See(`document.querySelector("#lane-1 .state-words").textContent === "last message: 1 of 1, oldest leaves in 1.0 s · copies: 1 passed, 2 throttled"`)
}

func TestLabPage_Recorded(t *testing.T) {
	w := openLab(t, evening(t), "#traffic=recorded,channel=7")
	const channel = `document.querySelector("#traffic-channel").selectedOptions[0].text`
	w.See(`document.querySelectorAll(".lane").length === 5 && ` + channel + ` === "garden"`)
	w.See(`document.querySelector("#lab-time").textContent > "00:00:10"`)
	w.See(tally(1, "● 5  ⊖ 1"))
	w.Write("#traffic-user_id", "BERTA")
	w.See(tally(1, "● 1  ⊖ 0"))
	w.Write("#traffic-user_id", "nobody")
	w.See(`document.querySelector(".traffic-state").innerText === "This user has no recorded messages there."`)
	w.See(`location.hash.endsWith("&traffic=recorded,channel=7,for=10m,user_id=nobody&speed=2&start=2019-09-15T00:00:10Z")`)
	w.Accessible()
	w.See(`!document.querySelector("#use") && !document.querySelector("header a[href*=limits]") && ` + allAnswered)

	// choosing Recorded plays the first channel, as does a link without one
	follow(w, "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&at=30s")
	w.Click("#traffic-recorded")
	w.See(tally(1, "● 5  ⊖ 1") + `&& document.querySelector("#traffic-channel").value === "7" && document.querySelector("#play").innerText === "Pause"`)
	follow(w, "#lanes=token-bucket,burst=3,refill=4s&traffic=recorded,stretch=last,for=6s&at=end")
	w.See(tally(1, "● 1  ⊖ 0") + `&& document.querySelector("#traffic-stretch").value === "last"`)

	// a message sent by hand pauses recorded traffic, which then goes on where it was
	follow(w, "#lanes=fixed-window,messages=50,every=1h&traffic=recorded&at=4.5s")
	w.See(tally(1, "● 5"))
	w.Type(" ")
	w.See(tally(1, "● 6"))
	w.Type(kb.Enter)
	w.Click("#speed-10")
	w.See(`document.querySelector("#lab-time").textContent > "00:00:12"`)
	w.See(tally(1, "● 7  ⊖ 0"))
}

// In a dashboard, the Lab plays its channels, and leads back to their limits.
func TestLabPage_OfDashboard(t *testing.T) {
	d := dash(t)
	d.recordEvening()
	w := d.open(1400, 900)
	w.Must(chromedp.Navigate("http://" + d.address + "/lab#lanes=token-bucket,burst=3,refill=4s&traffic=recorded&at=end"))
	w.See(tally(1, "● 9  ⊖ 1") + `&& document.querySelector("#traffic-channel").selectedOptions[0].text === "somechannel"`)
	w.See(`document.querySelector("#use").getAttribute("href") === "./#/limits?channel=7&try=burst:token-bucket,burst=3,refill=4s"`)
	w.See(`!document.querySelector("#language")`) // the dashboard has the choice of the language
	w.Click("header a[href='./#/limits']")
	w.See(`document.querySelector("#burst-0")`)
}
