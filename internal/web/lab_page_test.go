//go:build browser

package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/access"
)

// openLab opens the Lab, as "chatguard lab" serves it, with a fragment.
func openLab(t *testing.T, fragment string, width, height int64) *browsertest.Window {
	t.Helper()
	runParallel(t)
	site := access.Site{Listen: "127.0.0.1:0"}
	s, err := NewLabSite(site, nil, quiet)
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
	w := browsertest.Open(t, width, height)
	w.Must(chromedp.Navigate("http://" + listener.Addr().String() + "/lab" + fragment))
	w.See(`document.querySelector(".lane .tally, .nobody")`)
	return w
}

// tally is true if the figures of the nth lane begin with a text.
func tally(lane int, text string) string {
	return fmt.Sprintf(`document.querySelector("#lane-%d .tally").textContent.startsWith(%q)`, lane, text)
}

// twoLanes are a strict and a generous lane, with a clock that stands.
const twoLanes = "#lanes=token-bucket,burst=3,refill=1h;fixed-window,messages=15,every=1h&traffic=hand&at=0s"

func TestLabPage_SendByKey(t *testing.T) {
	w := openLab(t, twoLanes, 1400, 900)
	w.See(tally(2, "● 0"))
	w.Type("    ")
	w.See(tally(1, "● 3  ⊖ 1") + "&&" + tally(2, "● 4  ⊖ 0"))
	w.Type("1")
	w.See(tally(1, "● 3  ⊖ 2") + "&&" + tally(2, "● 4  ⊖ 0"))
	w.See(`document.querySelector("#lane-1 .wait").textContent === "throttled for 1 h"`)
	w.See(`document.querySelector("#said").textContent === "Throttled in 1 lane."`)
	w.Click("#lane-2 .send")
	w.See(tally(1, "● 3  ⊖ 2") + "&&" + tally(2, "● 5  ⊖ 0"))
}

func TestLabPage_PlaysAndPausesForTheHand(t *testing.T) {
	w := openLab(t, "#lanes=token-bucket,burst=3,refill=4s&traffic=steady,every=1s&speed=10", 1400, 900)
	w.See(`Number(/● (\d+)/.exec(document.querySelector(".tally").textContent)[1]) > 4`)
	w.Type(" ")
	w.See(`document.querySelector("#resume")`)
	w.Click("#play")
	stood := browsertest.Eval[string](w, `document.querySelector("#lab-time").textContent`)
	w.Type(kb.Enter)
	w.See(`!document.querySelector("#resume")`)
	w.See(fmt.Sprintf(`document.querySelector("#lab-time").textContent > %q`, stood))
	w.Click("#reset")
	w.See(fmt.Sprintf(`document.querySelector("#lab-time").textContent < %q`, stood))
}

func TestLabPage_LinkIsKept(t *testing.T) {
	w := openLab(t, "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&at=0s", 1400, 900)
	w.Click("#lane-1 .edit")
	w.Write("#limit-1-0-burst", "7")
	w.See(`location.hash === "#lanes=token-bucket,burst=7,refill=4s&traffic=hand"`)
	w.Write("#limit-1-0-burst", "0")
	w.See(`document.querySelector("#limit-1-0-burst-error").textContent.startsWith("Enter a")`)
	w.Click("#add")
	w.Click("#add-sliding-log")
	w.See(`document.querySelectorAll(".lane").length === 2`)
	w.Type(" ")
	w.See(tally(2, "● 1"))
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash += "&at=5s&colour=red"`))
	w.See(`document.querySelector("#unknown code").textContent === "colour=red"`)
	w.See(tally(2, "● 1") + `&& document.querySelector("#lab-time").textContent === "00:00:05.0"`)
	w.See(`document.querySelector(".lane .rule").textContent.startsWith("7 messages")`)
}

func TestLabPage_ArrowKeysNameMessages(t *testing.T) {
	w := openLab(t, "#lanes=token-bucket,burst=2,refill=4s&traffic=hand&sent=1,1.2,2.4&at=5s", 1400, 900)
	w.See(tally(1, "● 2  ⊖ 1"))
	w.TypeIn(".timeline", kb.ArrowLeft)
	w.See(`document.querySelector(".mark-name").textContent === "At 2.4 s, throttled by burst, passes in 2.6 s"`)
	w.Type(kb.ArrowLeft)
	w.See(`document.querySelector(".mark-name").textContent === "At 1.2 s, passes"`)
	w.Type(kb.Escape)
	w.See(`document.querySelector(".mark-name").hidden`)
}

func TestLabPage_Phone(t *testing.T) {
	w := openLab(t, "#at=80s", 360, 740)
	w.See(tally(1, "● 12"))
	w.Click("#lane-1 .edit")
	if wide := browsertest.Eval[int](w, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d px wide", wide)
	}
	w.Accessible()
}

func TestLabPage_Accessible(t *testing.T) {
	w := openLab(t, "#scene=clock&sent=1,1,1&at=5s&colour=red", 1400, 900)
	w.See(tally(1, "● 3"))
	w.Click("#lane-1 .edit")
	for _, scheme := range []string{"light", "dark"} {
		w.Prefer(map[string]string{"prefers-color-scheme": scheme})
		w.See(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, scheme))
		w.Accessible()
	}
}

// TestLabPage_ReducedMotion checks that the picture doesn't scroll: between two messages it stays
// as it is.
func TestLabPage_ReducedMotion(t *testing.T) {
	w := openLab(t, "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&at=30s", 1400, 900)
	w.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
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
