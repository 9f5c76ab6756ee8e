package app

import (
	"fmt"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// StatusLine returns the state of all parts in one line for the person who runs chatguard, such as
// "enforcing in 2 channels" or "observing in 1 channel; Token missing".
func (a *App) StatusLine() string {
	s := a.status()
	channels := s.channels()
	in := map[chatguard.Mode]int{}
	for _, c := range channels {
		in[a.Guard.InForce(c.ID).Mode]++
	}
	cfg := s.directory.config()
	var does []string
	for _, part := range []struct {
		doing string
		n     int
	}{
		{"enforcing in", in[chatguard.Enforce]},
		{"observing in", in[chatguard.Observe]},
		{"joining", len(cfg.Twitch.Channels) - len(s.twitchChannels())},
	} {
		if part.n > 0 {
			does = append(does, fmt.Sprintf("%s %s", part.doing, countChannels(part.n)))
		}
	}
	return strings.Join(append([]string{strings.Join(does, ", ")}, s.troubles()...), "; ")
}

func countChannels(n int) string {
	if n == 1 {
		return "1 channel"
	}
	return fmt.Sprintf("%d channels", n)
}

// troubles returns what doesn't work, without what concerns a single channel.
func (s *status) troubles() (list []string) {
	for _, c := range s.connections() {
		if c.Channel == "" && c.State.IsTrouble() {
			list = append(list, c.Name+" "+string(c.State))
		}
	}
	if d := s.host.Database(); d.State == journal.DatabaseFailing {
		list = append(list, "database failing: "+d.Detail)
	}
	return list
}
