package faketwitch

import (
	"strings"
	"testing"
	"time"
)

func TestStreams_LiveOnly(t *testing.T) {
	s := start(t, Options{Scopes: []string{}, Channels: []string{"gardenhour", "nightowls"}})
	path := "/streams?user_id=" + s.UserID("gardenhour") + "&user_id=" + s.UserID("nightowls")
	s.SetLive("gardenhour", time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC))
	s.SetLive("nobody", time.Now())
	if status, body := ask(t, s, "GET", path, ""); status != 200 || !strings.Contains(body, `"started_at":"2026-03-14T20:00:00Z"`) || strings.Contains(body, "nightowls") {
		t.Errorf("%d %s", status, body)
	}
	s.SetLive("gardenhour", time.Time{})
	if status, body := ask(t, s, "GET", path, ""); status != 200 || strings.Contains(body, "gardenhour") {
		t.Errorf("%d %s", status, body)
	}
	for _, query := range []string{"&first=101", "&first=x", strings.Repeat("&user_id=1", 99)} {
		if status, body := ask(t, s, "GET", path+query, ""); status != 400 {
			t.Errorf("%q: %d %s", query, status, body)
		}
	}
}
