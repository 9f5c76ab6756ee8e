package app_test

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/live"
)

// shownChannels is an answer to GET /channels.
type shownChannels struct {
	Channels     []live.Channel
	Unidentified []live.Unidentified
}

// channels returns what the dashboard's pages know about the channels.
func (s *simulation) channels() (shown shownChannels) {
	s.Helper()
	must(s, json.Unmarshal(s.ask("GET", "/channels", "").Body.Bytes(), &shown))
	return shown
}

// noDNS is the error of a connection while no name has an address.
var noDNS = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "twitch.tv", IsNotFound: true}}

// TestUnread_EmptyDatabase checks that a channel whose ID was never known is listed with the reason
// why it isn't read, and that what needs no channel works meanwhile. Once Twitch can be reached,
// the channel has its ID.
func TestUnread_EmptyDatabase(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.cutOff(noDNS)
		s.start()
		s.advance(time.Minute)
		shown := s.channels()
		if len(shown.Channels) != 0 || len(shown.Unidentified) != 1 {
			s.Fatalf("shown: %+v", shown)
		}
		if u := shown.Unidentified[0]; u.Login != "gardenhour" || u.Reason != live.NoAddress || !strings.Contains(u.Detail, "no such host") {
			s.Errorf("the channel is shown as %+v", u)
		}
		for _, path := range []string{"/access", "/webhooks", "/status", "/setup", "/algorithms"} {
			if w := s.ask("GET", path, ""); w.Code != http.StatusOK {
				s.Errorf("GET %s: %d %s", path, w.Code, w.Body)
			}
		}
		if w := s.ask("POST", "/tokens", `{"name": "anna", "role": "view"}`); w.Code != http.StatusOK {
			s.Errorf("a token: %d %s", w.Code, w.Body)
		}
		s.cutOff(nil)
		s.advance(5 * time.Minute)
		s.wantRead()
	})
}

// TestUnread_FullDatabase checks that after a restart without Twitch, the channels of the record
// have their IDs and say why they aren't read, and that each page's requests work.
func TestUnread_FullDatabase(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		if !s.provokeDelete() {
			s.Fatal("nothing to record")
		}
		id := s.channels().Channels[0].ID
		s.stop()
		s.cutOff(noDNS)
		s.start()
		s.advance(time.Minute)
		s.wantUnread(live.NoAddress)
		w := s.ask("GET", "/channels/"+id+"/policy", "")
		for _, path := range []string{"/journal?channel=" + id, "/throttled?channel=" + id, "/users?q=anna&channel=" + id, "/audit?channel=" + id, "/setup?channel=" + id} {
			if w := s.ask("GET", path, ""); w.Code != http.StatusOK {
				s.Errorf("GET %s: %d %s", path, w.Code, w.Body)
			}
		}
		if journal := s.ask("GET", "/journal?channel="+id, "").Body.String(); !strings.Contains(journal, "anna") {
			s.Errorf("the journal: %s", journal)
		}
		if held := s.ask("GET", "/throttled?channel="+id, "").Body.String(); !strings.Contains(held, "anna") {
			s.Errorf("throttled: %s", held)
		}
		body := strings.Replace(w.Body.String(), `"burst":1`, `"burst":2`, 1)
		if change := s.askWith("PUT", "/channels/"+id+"/policy", body, http.Header{"If-Match": w.Header()["Etag"]}); change.Code != http.StatusOK || body == w.Body.String() {
			s.Errorf("other limits: %d %s", change.Code, change.Body)
		}
		s.cutOff(nil)
		s.advance(5 * time.Minute)
		s.wantRead()
	})
}

// TestUnread_NoChannel checks what is said about a channel that Twitch doesn't know, while the
// others are read.
func TestUnread_NoChannel(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.config.Twitch.Channels = []string{"gardenhourr", "gardenhour"}
		s.start()
		s.advance(time.Minute)
		shown := s.channels()
		if len(shown.Channels) != 1 || shown.Channels[0].Unread != nil {
			s.Errorf("known channels: %+v", shown.Channels)
		}
		if len(shown.Unidentified) != 1 || shown.Unidentified[0].Login != "gardenhourr" || shown.Unidentified[0].Reason != live.NoChannel {
			s.Errorf("other channels: %+v", shown.Unidentified)
		}
		c := s.config
		c.Twitch.Channels = []string{"gardenhour"}
		_, err := s.bot.Reload(c)
		must(s, err)
		s.wantRead()
	})
}

// TestUnread_NotAllowed checks what is said if the token lacks the scope for reading.
func TestUnread_NotAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scopes := []string{"chat:read", "user:read:moderated_channels"}
		s := newSimulation(t, oneMessageConfig(config.TransportEventSub), faketwitch.Options{Channels: []string{"gardenhour"}, Scopes: scopes})
		s.start()
		s.wantUnread(live.NotAllowed)
	})
}

// TestUnread_NoToken checks what is said if reading needs a token and there is none.
func TestUnread_NoToken(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		if shown := s.channels().Unidentified; len(shown) != 1 || shown[0].Reason != live.NoToken {
			s.Errorf("shown: %+v", shown)
		}
	}, func(s *simulation) { s.config.Twitch.Transport = config.TransportEventSub })
}

// wantRead checks that the only channel is known and read.
func (s *simulation) wantRead() {
	s.Helper()
	shown := s.channels()
	if len(shown.Channels) != 1 || len(shown.Unidentified) != 0 || shown.Channels[0].Unread != nil || shown.Channels[0].ID != s.server.UserID("gardenhour") {
		s.Errorf("shown: %+v", shown)
	}
}

// wantUnread checks that the only channel is known, and why it isn't read.
func (s *simulation) wantUnread(want live.UnreadReason) {
	s.Helper()
	shown := s.channels()
	if len(shown.Channels) != 1 || len(shown.Unidentified) != 0 || shown.Channels[0].Unread == nil || shown.Channels[0].Unread.Reason != want {
		s.Errorf("shown: %+v, want %s", shown, want)
	}
}
