//go:build proxy

package proxy

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// checkFeed opens the live feed, and checks that a change arrives through the proxy at once. The
// page of another site gets no feed.
func (s *site) checkFeed() {
	s.Helper()
	address := strings.Replace(s.url, "https", "wss", 1) + "api/v1/live?channel=check:lobby"
	dial := func(origin string) (*websocket.Conn, error) {
		conn, _, err := websocket.Dial(s.Context(), address, &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: s.newTransport()},
			HTTPHeader: http.Header{"Cookie": {s.cookie.String()}, "Origin": {origin}},
		})
		return conn, err
	}
	if _, err := dial("https://evil.example"); err == nil || !strings.Contains(err.Error(), "403") {
		s.Errorf("the feed of another site's page: %v", err)
	}
	conn, err := dial(s.origin)
	must(s, err)
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	s.readUntil(conn, `"type":"snapshot"`)
	s.expect(s.do("POST", s.url+"api/v1/channels/check:lobby/raid", "",
		"Cookie", s.cookie.String(), "Origin", s.origin), 200, "")
	s.readUntil(conn, `"raid_until"`)
}

// readUntil reads from the feed until a message contains a text.
func (s *site) readUntil(conn *websocket.Conn, text string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			s.Fatalf("the feed ended without %s: %v", text, err)
		}
		if strings.Contains(string(data), text) {
			return
		}
	}
}

// checkBrowser opens a sign-in link in a browser, without the slash, and waits until the page shows
// a channel's figures, which come from the live feed.
func (s *site) checkBrowser() {
	s.Helper()
	link := strings.Replace(s.chatguard("signin"), "/#", "#", 1)
	w := browsertest.Open(s.TB, 1400, 900)
	w.Must(chromedp.Navigate(link))
	w.See(`/\d/.test(document.querySelector(".figures dd")?.textContent)`)
	if at := browsertest.Eval[string](w, "location.pathname"); at != s.path {
		s.Errorf("the page is at %s", at)
	}
}
