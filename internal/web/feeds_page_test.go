//go:build browser

package web

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/web/live"
)

// The page says why it has no live updates, and reconnects by itself or on request.
func TestPage_TooManyFeeds(t *testing.T) {
	d := dash(t)
	d.store.addCode("other-code", "anna")
	session := d.signIn(map[string]string{"code": "other-code"}).String()
	var feeds []*listener
	for range live.MaxFeedsOfOne {
		feeds = append(feeds, d.listenWith("Cookie", session, ""))
	}
	w := d.openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + d.address + "/#signin=good-code"))
	w.See(isLost + `?.innerText.includes("No live updates. 20 live feeds are open under your name: close another dashboard page.")`)
	feeds[0].conn.CloseNow()
	w.Click(".lost button")
	w.See(isBack + "&&" + hasText("Nobody is throttled"))
}
