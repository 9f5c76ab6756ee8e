package irc

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// rightsRecorder collects what a Conn reports to Moderates.
type rightsRecorder struct {
	mu   sync.Mutex
	told []string
}

func (s *rightsRecorder) take(roomID string, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprint(roomID, " ", yes))
}

func (s *rightsRecorder) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// TestIRC_Moderates checks that each connection reports where the bot moderates, after it has
// reported the channel's ID. It also reports later changes.
func TestIRC_Moderates(t *testing.T) {
	twitchtest.Bubble(t, []string{"room", "den"}, func(t *testing.T, srv *faketwitch.Server) {
		own := srv.AddChannel(srv.BotLogin())
		srv.SetBotModerator("den", false)
		room, den := srv.UserID("room"), srv.UserID("den")
		s := &rightsRecorder{}
		irc := useBotToken(srv, &Conn{Channels: []string{"room", "den", srv.BotLogin()}, Moderates: s.take})
		irc.Entered = func(_, roomID string) { s.take(roomID+" entered", true) }
		connect(t, srv, irc)
		synctest.Wait()
		want := []string{
			room + " entered true", room + " true", den + " entered true", den + " false", own + " entered true", own + " true",
		}
		if got := s.all(); !slices.Equal(got, want) {
			t.Errorf("told %q\nwant %q", got, want)
		}
		for _, badges := range []string{"badges=lead_moderator/1;mod=0", "badges=vip/1;mod=0", "badges=;mod=1", "badges=broadcaster/1,moderator/1;mod=0", "badges=moderatorish/1"} {
			srv.SendRaw("@" + badges + " :tmi.twitch.tv USERSTATE #den")
		}
		srv.SendRaw("@badges=moderator/1;mod=1 :tmi.twitch.tv USERSTATE #elsewhere", "USERSTATE", "USERSTATE #den")
		synctest.Wait()
		later := []string{den + " true", den + " false", den + " true", den + " true", den + " false", den + " false"}
		if got := s.all()[len(want):]; !slices.Equal(got, later) {
			t.Errorf("told %q later\nwant %q", got, later)
		}
		srv.SetBotModerator("den", true)
		before := len(s.all())
		srv.Disconnect()
		twitchtest.Pass(time.Second)
		want[3] = den + " true"
		if got := s.all()[before:]; !slices.Equal(got, want) {
			t.Errorf("told %q by the next connection\nwant %q", got, want)
		}
	})
}

// TestIRC_AnonymousModeratesNowhere checks that nothing is reported without a token, whatever the
// server says.
func TestIRC_AnonymousModeratesNowhere(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		s := &rightsRecorder{}
		connect(t, srv, &Conn{Channels: []string{"room"}, Moderates: s.take})
		srv.SendRaw("@badges=moderator/1;mod=1 :tmi.twitch.tv USERSTATE #room")
		synctest.Wait()
		if got := s.all(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}
