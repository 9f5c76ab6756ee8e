//go:build browser

package web

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/shared"
)

const nodesCard = `document.querySelector(".nodes")`

// dashOfThree is dash with limits that this node shares with two others.
func dashOfThree(t testing.TB, s *sharedStore) *dashboard {
	t.Helper()
	return dashShared(t, s, func(o *Options) {
		o.Nodes = func(context.Context) ([]shared.Node, error) {
			nodes := threeNodes(time.Now())
			if !s.health().Up {
				nodes = nodes[:1]
			}
			return nodes, nil
		}
	})
}

// TestNodesPage_Focus opens the card of the nodes by mouse and by keyboard: the focus goes to it,
// and back when it is closed.
func TestNodesPage_Focus(t *testing.T) {
	s := newSharedStore()
	w := dashOfThree(t, s).open(360, 900)
	isOpen := nodesCard + `?.querySelectorAll(".line").length === 3 && document.activeElement.id === "nodes" && !document.querySelector("#states").matches(":popover-open")`
	w.See(headerHasState("good", "Shared store ok") + "&& !" + nodesCard)
	w.Click("header .status")
	w.Click(`#states a[href*="nodes=1"]`)
	w.See(isOpen)
	w.wantFit(360, 820, 1100, 1400)
	w.Accessible()
	w.Click(".nodes .icon-only")
	w.See("!" + nodesCard + `&& document.activeElement.id === "main"`)

	w.openPalette()
	w.Write("[role=combobox]", "nodes")
	w.Type(kb.Enter)
	w.See(isOpen)
	s.setState(false, time.Now(), "10.0.0.9:6379 refuses connections: start the server, or correct `url`")
	w.See(elementHasText(`document.querySelector(".shared-note")`, "refuses connections"))
	w.wantFit(1400, 360)
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.Accessible()
	w.TypeIn("#nodes", kb.Tab+kb.Enter)
	w.See("!" + nodesCard)
}
