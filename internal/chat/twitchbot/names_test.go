package twitchbot

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// namesReader is a reader that only knows which channels to read.
type namesReader struct {
	reader
	logins []string
}

func (r *namesReader) SetChannels(logins []string) error {
	r.logins = logins
	return nil
}

// TestNames_Chain checks which channels are read if channels have got each other's names. If the
// last name of a chain has no known channel, each name means what Twitch says.
func TestNames_Chain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ids, logins map[string]string
		read        []string
	}{
		{map[string]string{"a": "1", "b": "2"}, map[string]string{"1": "b", "2": "c"}, []string{"a", "b", "c"}},
		{map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"1": "b", "2": "c", "3": "d"}, []string{"b", "c", "d"}},
		{map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"1": "b", "2": "c", "3": "a"}, []string{"b", "c", "a"}},
	} {
		for range 20 { // the order of maps is random
			r := &namesReader{}
			n := &names{log: slog.New(slog.DiscardHandler), reader: r, configured: []string{"a", "b", "c"}}
			n.follow(c.ids, c.logins)
			if !slices.Equal(r.logins, c.read) {
				t.Errorf("%v: %q is read, want %q", c.logins, r.logins, c.read)
			}
			channels := make([]twitch.Channel, len(c.read))
			for i, login := range c.read {
				channels[i].Login = login
			}
			n.translate(channels)
			for i, name := range n.configured {
				if channels[i].Login != name {
					t.Errorf("%v: %q is called %+v", c.logins, name, channels[i])
				}
			}
		}
	}
}
