//go:build browser

package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

func TestProxyPage_BelowPath(t *testing.T) {
	d, proxy := runBehindProxy(t, httptest.NewServer)
	w := &window{browsertest.Open(t, 1400, 900), d}
	w.Must(chromedp.Navigate(d.opts.Site.Link(d.address, "good-code")))
	w.See(`document.querySelector(".figures dd")?.textContent !== "–"`)
	d.say(spammer, 4)
	w.See(hasText(spammer.DisplayName)) // through the live feed
	for _, page := range []string{"limits", "people", "journal", "audit", "now"} {
		w.goTo(page)
	}
	w.See(hasText(spammer.DisplayName))
	if at := browsertest.Eval[string](w.Window, "location.href"); !strings.HasPrefix(at, proxy.URL+"/chat/guard/") {
		t.Errorf("the page is at %s", at)
	}
	w.Must(chromedp.Reload())
	w.See(hasText(spammer.DisplayName)) // still signed in: the cookie covers the path
}
