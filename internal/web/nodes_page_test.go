//go:build browser

package web

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/live"
)

const (
	sharedNote = `document.querySelector(".shared-note")`
	nodesCard  = `document.querySelector(".nodes")`
)

// dashOfThree is dash with limits that this node shares with two others.
func dashOfThree(t testing.TB, s *sharedStore) *dashboard {
	t.Helper()
	return dashShared(t, s, func(o *Options) {
		o.Nodes = func(context.Context) (Nodes, error) {
			nodes := threeNodes(time.Now())
			if nodes.Shared = s.health(); !nodes.Up {
				nodes.Nodes = nodes.Nodes[:1]
			}
			return nodes, nil
		}
	})
}

func TestNodesPage_Card(t *testing.T) {
	d := dashOfThree(t, newSharedStore())
	for _, width := range []int64{360, 1100, 1400} {
		w := d.openAs(fmt.Sprint("anna-", width), auth.Own, width, 900)
		w.See(headerHasState("good", "Shared store ok") + "&& !" + nodesCard)
		w.Click("header .status")
		w.Click(`#states a[href*="nodes=1"]`)
		w.See(nodesCard + `?.querySelectorAll(".line").length === 3 && document.activeElement.id === "nodes" && !document.querySelector("#states").matches(":popover-open")`)
		w.See(elementHasText(nodesCard, "3 nodes share one allowance over redis 7.0.15. A round trip takes 0.42 ms; their clocks are at most 5 ms apart."))
		for _, text := range []string{"chat-1 this node", "1.5 ms ahead ± 0.3 ms", "12.4/s", "98,765", "2 rows", "1 min 31 s behind", "Of the messages that this node allowed in the last hour, 1.4 % exceeded a limit."} {
			w.See(elementHasText(nodesCard, text))
		}
		w.wantNoOverflow()
		for _, theme := range []string{"light", "dark"} {
			w.Prefer(map[string]string{"prefers-color-scheme": theme})
			w.Accessible()
		}
		w.Click(".nodes .icon-only")
		w.See("!" + nodesCard + `&& document.activeElement.id === "main"`)
	}
}

func TestNodesPage_OpenedByKeyboard(t *testing.T) {
	w := dashOfThree(t, newSharedStore()).open(1400, 900)
	w.See(headerHasState("good", "Shared store ok"))
	w.openPalette()
	w.Write("[role=combobox]", "nodes")
	w.Type(kb.Enter)
	w.See(nodesCard + `?.querySelectorAll(".line").length === 3 && document.activeElement.id === "nodes"`)
	w.Type(kb.Tab + kb.Enter)
	w.See("!" + nodesCard)
}

// The card stays up to date while it is visible.
func TestNodesPage_Refreshed(t *testing.T) {
	s := newSharedStore()
	w := dashOfThree(t, s).open(1400, 900)
	w.visit("#/now?nodes=1")
	w.See(elementHasText(nodesCard, "chat-2"))
	s.setState(false, time.Now(), "")
	w.See(elementHasText(nodesCard, "Only this node is listed: the shared store is away.") + `&& document.querySelectorAll(".nodes .line").length === 1`)
}

func TestNodesPage_Alone(t *testing.T) {
	w := dash(t).open(360, 800)
	w.See(`document.querySelector("header .status") && !document.querySelector('#states a[href*="nodes=1"]')`)
	w.visit("#/now?nodes=1")
	w.See(elementHasText(nodesCard, "This chatguard works alone: its limits count only what it sees itself. To share limits with other nodes, set [shared] in the configuration file."))
	w.Accessible()
	w.wantNoOverflow()
}

// While the store is away, a note says so on the first page, without a reload, and then disappears.
func TestSharedPage_Note(t *testing.T) {
	s := newSharedStore()
	d := dashOfThree(t, s)
	w := d.open(360, 800)
	w.See(sharedNote + `?.innerText.trim() === "" && ` + headerHasState("good", "Shared store ok"))
	s.setState(false, time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC), "10.0.0.9:6379 refuses connections: start the server, or correct `url`")
	w.See(elementHasText(sharedNote, "The shared store is away since Mon 5 Jan, 14:02. Each node decides on its own; messages that pass count when it is back."))
	w.See(elementHasText(sharedNote, "10.0.0.9:6379 refuses connections") + "&&" + sharedNote + `.querySelector("code").innerText === "url" && ` + hasStatus("bad", "Store away"))
	w.wantNoOverflow()
	for _, theme := range []string{"light", "dark"} {
		w.Prefer(map[string]string{"prefers-color-scheme": theme})
		w.Accessible()
	}
	if announced := browsertest.Eval[string](w.Window, sharedNote+`.querySelector("[role=status]").innerText`); announced != "The shared store is away since Mon 5 Jan, 14:02. Each node decides on its own; messages that pass count when it is back." {
		t.Errorf("a screen reader announces %q", announced)
	}
	s.setState(true, time.Now(), "10.0.0.9:6379: the server's memory is full: raise maxmemory")
	s.setRefusing(true)
	w.See(elementHasText(sharedNote, "The shared store refuses changes. Each node decides on its own; messages that pass count when it accepts changes again.") + "&&" + elementHasText(sharedNote, "raise maxmemory") + "&&" + hasStatus("bad", "Store refuses"))
	s.setState(true, time.Now(), "")
	s.setRefusing(false)
	w.See(sharedNote + `.innerText.trim() === "" && ` + headerHasState("good", "Shared store ok"))
}

func TestSharedPage_NoteOnWaitingPage(t *testing.T) {
	s := newSharedStore()
	s.setState(false, time.Now(), "")
	d := dashShared(t, s, func(o *Options) { o.Channels = func() []live.Channel { return nil } })
	w := d.open(360, 800)
	w.See(hasText("Joining the channel on Twitch") + "&&" + elementHasText(sharedNote, "The shared store is away since"))
}

// A change that fails keeps what was typed, and works when the store is back.
func TestSharedPage_ChangeWhileAway(t *testing.T) {
	s := newSharedStore()
	d := dashOfThree(t, s)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.See(elementHasText(`document.querySelector("#limits-of-user")`, "Limits used on all nodes"))
	s.setState(false, time.Now(), "")
	w.See(elementHasText(`document.querySelector("#limits-of-user")`, "used on all nodes, as far as this one knows"))
	w.Press("#amend-grant")
	w.Write("#grant-messages", "17")
	w.Press(".amend .primary")
	w.See(hasText("The shared store doesn't answer: nothing was changed. Try again when it is back.") + `&& document.querySelector("#grant-messages").value === "17"`)
	w.Accessible()
	s.setState(true, time.Now(), "")
	w.Press(".amend .primary")
	w.See(hasText("17 extra messages"))
}
