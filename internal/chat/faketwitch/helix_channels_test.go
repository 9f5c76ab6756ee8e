package faketwitch

import (
	"fmt"
	"strings"
	"testing"
)

// TestModeratedChannels checks that all channels that the bot moderates are listed, one page at a
// time.
func TestModeratedChannels(t *testing.T) {
	s := start(t, Options{})
	var want []string
	for n := range 45 {
		login := fmt.Sprintf("channel%02d", n)
		id := s.AddChannel(login)
		if n%9 == 0 {
			s.SetBotModerator(login, false)
			continue
		}
		want = append(want, id)
	}
	s.AddChannel(s.BotLogin()) // the bot's own channel isn't listed
	path := "/moderation/channels?user_id=" + s.BotID()
	for _, page := range []struct {
		query    string
		from, to int
		cursor   string
	}{{"", 0, 20, `"pagination":{"cursor":"20"}`}, {"&after=20", 20, 40, `"pagination":{}`}, {"&first=100", 0, 40, `"pagination":{}`}} {
		status, body := ask(t, s, "GET", path+page.query, "")
		if status != 200 || strings.Count(body, "broadcaster_id") != page.to-page.from || !strings.Contains(body, page.cursor) {
			t.Errorf("%q: %d %s", page.query, status, body)
		}
		for _, id := range want[page.from:page.to] {
			if !strings.Contains(body, `"broadcaster_id":"`+id+`"`) {
				t.Errorf("%q: %s is missing", page.query, id)
			}
		}
	}
	for query, want := range map[string]int{path + "&first=0": 400, path + "&first=101": 400, path + "&after=x": 400, "/moderation/channels?user_id=5": 401} {
		if got, body := ask(t, s, "GET", query, ""); got != want {
			t.Errorf("%s: %d %s, want %d", query, got, body, want)
		}
	}
}

// TestScopes checks that each endpoint requires the scope that Twitch documents.
func TestScopes(t *testing.T) {
	s := start(t, Options{Scopes: []string{}, Channels: []string{"room"}})
	for endpoint, scope := range map[string]string{
		"DELETE /moderation/chat": scopeDelete, "POST /moderation/bans": scopeBan, "DELETE /moderation/bans": scopeBan, "POST /moderation/warnings": scopeWarn,
		"PATCH /chat/settings": scopeSettings, "POST /chat/messages": scopeSend, "GET /moderation/channels": scopeModerated,
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		if got, body := ask(t, s, method, path, ""); got != 401 || !strings.Contains(body, "Missing scope: "+scope) {
			t.Errorf("%s: %d %s, want 401 for %s", endpoint, got, body, scope)
		}
	}
	for _, path := range []string{"/users", "/chat/settings?broadcaster_id=" + s.UserID("room")} {
		if got, body := ask(t, s, "GET", path, ""); got != 200 {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
}
