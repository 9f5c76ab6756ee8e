package faketwitch

import (
	"fmt"
	"strings"
	"testing"
)

// TestSanctions_Limit checks that each channel takes 100 timeouts, bans and unbans within 30 s, and
// 100 warnings. Deletes have no such limit, and the request budget has nothing to do with it.
func TestSanctions_Limit(t *testing.T) {
	clock := newClock()
	s := start(t, Options{Now: clock.Now, Channels: []string{"room", "other"}})
	ban := func(channel string, n int) (int, string) {
		return ask(t, s, "POST", "/moderation/bans?broadcaster_id="+s.UserID(channel)+"&moderator_id="+s.BotID(), fmt.Sprintf(`{"data":{"user_id":"%d","duration":60}}`, n))
	}
	in := "?broadcaster_id=" + s.UserID("room") + "&moderator_id=" + s.BotID()
	for n := range sanctionsPerPeriod {
		if status, body := ban("room", n); status != 200 {
			t.Fatalf("timeout %d: %d %s", n, status, body)
		}
	}
	if status, body := ban("room", 100); status != 429 || !strings.Contains(body, "for this broadcaster") {
		t.Errorf("one more: %d %s", status, body)
	}
	if last := s.Requests()[sanctionsPerPeriod]; last.Status != 429 {
		t.Errorf("recorded as %d", last.Status)
	}
	if status, _ := ask(t, s, "DELETE", "/moderation/bans"+in+"&user_id=1", ""); status != 429 {
		t.Errorf("an unban: %d", status)
	}
	if status, _ := ban("other", 1); status != 200 {
		t.Errorf("in the other channel: %d", status)
	}
	if status, _ := ask(t, s, "DELETE", "/moderation/chat"+in+"&message_id=x", ""); status != 404 {
		t.Errorf("a delete: %d", status)
	}
	if status, _ := ask(t, s, "POST", "/moderation/warnings"+in, `{"data":{"user_id":"7","reason":"x"}}`); status != 200 {
		t.Errorf("a warning: %d", status)
	}
	clock.advance(sanctionPeriod)
	if status, _ := ban("room", 101); status != 200 {
		t.Errorf("30 s later: %d", status)
	}
	if n := len(s.Bans()); n != sanctionsPerPeriod+2 {
		t.Errorf("%d timeouts", n)
	}
}
