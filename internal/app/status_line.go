package app

import (
	"fmt"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// line returns what App.StatusLine does.
func (s *status) line() string {
	in, joining, unread := map[chatguard.Mode]int{}, 0, map[string]bool{}
	for _, c := range s.twitch.Status().Channels {
		unread[c.Login] = c.RoomID == ""
		if c.RoomID == "" && !c.ShutOut {
			joining++
		}
	}
	for _, c := range s.channels() {
		if _, isRoom := roomName(c.ID); isRoom || !unread[c.Login] {
			in[inner.Of(s.guard).Mode(c.ID)]++
		}
	}
	var does []string
	for _, part := range []struct {
		doing string
		n     int
	}{
		{"enforcing in", in[chatguard.ModeEnforce]},
		{"observing in", in[chatguard.ModeObserve]},
		{"joining", joining},
	} {
		if part.n > 0 {
			does = append(does, fmt.Sprintf("%s %s", part.doing, countChannels(part.n)))
		}
	}
	parts := s.troubles()
	if len(does) > 0 {
		parts = append([]string{strings.Join(does, ", ")}, parts...)
	}
	return strings.Join(parts, "; ")
}

func countChannels(n int) string {
	if n == 1 {
		return "1 channel"
	}
	return fmt.Sprintf("%d channels", n)
}

// troubles returns what doesn't work.
func (s *status) troubles() (list []string) {
	for _, c := range s.connections() {
		if c.State.IsTrouble() || c.State.IsDegraded() {
			list = append(list, c.Name+" "+string(c.State))
		}
	}
	if d := s.host.Database(); d.State == journal.DatabaseFailing {
		list = append(list, "database failing: "+d.Detail)
	}
	return list
}
