//go:build browser

package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

var screenshot = flag.String("screenshot", "", "file to write a picture of the page to")

func init() { stopBrowser = browsertest.Stop }

// says returns a script condition that is true once an element's text contains a text.
func says(selector, text string) string {
	return `document.querySelector("` + selector + `")?.textContent.includes("` + text + `")`
}

// TestPage sends messages and stops a node. The page fits a phone, in dark colours too.
func TestPage(t *testing.T) {
	policy := slow()
	if *screenshot != "" {
		policy = chatguard.DefaultPolicy()
	}
	_, front := startThree(t, "exact", policy)
	w := browsertest.Open(t, 800, 840)
	w.Must(chromedp.Navigate(front + "/"))
	w.See(says("#nodes article:nth-child(3) .status", "running"))
	w.Click("#nine")
	w.See(says("#sum", "9 sent: 3 allowed, 6 throttled."))
	w.See(says("#sent li:first-child", "throttled, wait "))
	nodes := browsertest.Eval[string](w, `[...document.querySelectorAll("#sent .node")].map((n) => n.textContent).join(" ")`)
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		if strings.Count(nodes, node) != 3 {
			t.Errorf("the page shows %s", nodes)
		}
	}
	w.Click("#nodes article:nth-child(2) button")
	w.See(says("#nodes article:nth-child(2) .status", "stopped"))
	w.Write("#text", "still here\r")
	w.See(says("#sum", "10 sent: 3 allowed, 7 throttled."))
	w.Accessible()
	w.Must(chromedp.EmulateViewport(360, 640))
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.See("document.documentElement.scrollWidth <= 360")
	w.Accessible()
	w.Must(chromedp.EmulateViewport(800, 840))
	w.Prefer(map[string]string{"prefers-color-scheme": "light"})
	if *screenshot != "" {
		if err := os.WriteFile(*screenshot, w.Picture(), 0o644); err != nil {
			t.Error(err)
		}
	}
	w.Click("#nodes article:nth-child(2) button")
	w.See(says("#nodes article:nth-child(2) .status", "running"))

	w.Click(`[value="off"]`)
	w.See(says("#sum", "Nothing sent yet"))
	w.See(says("#meaning", "limits of its own"))
	w.Click("#nine")
	w.See(says("#sum", "9 sent: 9 allowed, 0 throttled."))
}
