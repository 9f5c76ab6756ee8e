package twitch

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// standing gathers what an IRC tells of the bot's standing.
type standing struct {
	mu   sync.Mutex
	told []string
}

func (s *standing) take(roomID string, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprint(roomID, " ", yes))
}

func (s *standing) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// TestModerates: each connection tells where the bot moderates, after the channel's ID, and what changes later.
func TestModerates(t *testing.T) {
	bubble(t, []string{"room", "den"}, func(t *testing.T, srv *faketwitch.Server) {
		own := srv.AddChannel(srv.BotLogin())
		srv.SetBotModerator("den", false)
		room, den := srv.UserID("room"), srv.UserID("den")
		s := &standing{}
		irc := asBot(srv, &IRC{Channels: []string{"room", "den", srv.BotLogin()}, Moderates: s.take})
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
		pass(time.Second)
		want[3] = den + " true"
		if got := s.all()[before:]; !slices.Equal(got, want) {
			t.Errorf("told %q by the next connection\nwant %q", got, want)
		}
	})
}

// TestAnonymousModeratesNowhere: without a token nothing is told, whatever the server says.
func TestAnonymousModeratesNowhere(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		s := &standing{}
		connect(t, srv, &IRC{Channels: []string{"room"}, Moderates: s.take})
		srv.SendRaw("@badges=moderator/1;mod=1 :tmi.twitch.tv USERSTATE #room")
		synctest.Wait()
		if got := s.all(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}

// TestSlowCallback: while a consumer takes its time, PING is answered.
func TestSlowCallback(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		slow := make(chan struct{})
		irc := asBot(srv, &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial})
		run(t, irc, func([]chatguard.Message) { <-slow })
		defer close(slow)
		joined(t, irc)
		say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "hello"})
		synctest.Wait()
		srv.SendRaw("PING :and now")
		synctest.Wait()
		if received(srv, "PONG :and now") != 1 {
			t.Error("a slow consumer kept a PING from being answered")
		}
	})
}
