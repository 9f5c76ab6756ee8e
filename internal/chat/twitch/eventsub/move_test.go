package eventsub

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestEventSub_Reconnect checks that a reconnect request from the server is followed without a gap
// or a repeat. Events on the old socket count until the new socket is welcomed. The subscriptions
// carry over.
func TestEventSub_Reconnect(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		talk := func(text string) {
			st.say(faketwitch.Line{Channel: "teatime", Login: "anna", Text: text})
		}
		talk("before")
		st.StallWelcomes(1)
		st.ReconnectEventSub()
		synctest.Wait()
		talk("while the new socket waits for its welcome")
		advance(5 * time.Second)
		talk("and still")
		if st.EventSubSockets() != 2 {
			t.Errorf("%d sockets while it moves, want the old one, too", st.EventSubSockets())
		}
		advance(10 * time.Second) // the next try is welcomed
		talk("afterwards")
		advance(time.Minute)
		if want := "before, while the new socket waits for its welcome, and still, afterwards"; st.messageTexts() != want {
			t.Errorf("heard %q, want %q", st.messageTexts(), want)
		}
		if s := st.events.Status(); s.Reconnects != 0 || s.State != twitch.Connected || !s.Channels[0].Joined || st.EventSubSockets() != 1 {
			t.Errorf("%d sockets, status %+v", st.EventSubSockets(), s)
		}
		if st.subscriptionRequests() != 6 || len(st.EventSubCloses()) != 0 {
			t.Errorf("asked for %d subscriptions, want 6; closed with %v", st.subscriptionRequests(), st.EventSubCloses())
		}
	})
}

// TestEventSub_ReconnectInFlood checks that nothing is lost or repeated, however often the server
// requests a reconnect.
func TestEventSub_ReconnectInFlood(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.SetDelivery(faketwitch.Delivery{Duplicate: 0.2, Reconnect: 0.02})
		const n = 2000
		said := make(map[string]bool)
		for range n {
			said[twitchtest.Say(t, st.Server, faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})] = true
			<-time.After(50 * time.Millisecond)
		}
		advance(time.Minute)
		for _, m := range st.messages() {
			if !said[m.ID] {
				t.Fatal("a message was heard twice")
			}
			delete(said, m.ID)
		}
		s := st.events.Status()
		if len(said) != 0 || s.Reconnects != 0 || st.EventSubConnections() < 10 || s.Skipped[Repeated] < n/10 {
			t.Errorf("%d messages lost, %d connections, %+v", len(said), st.EventSubConnections(), s)
		}
	})
}

// TestEventSub_ReconnectRefused checks that a new session starts if the reconnect address is
// refused.
func TestEventSub_ReconnectRefused(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		reconnectTo := func(address string) string {
			return `{"metadata":{"message_id":"1","message_type":"session_reconnect"},"payload":{"session":{"id":"x","reconnect_url":"` + address + `"}}}`
		}
		for n, frame := range []string{
			reconnectTo(st.EventSubURL() + "?challenge=wrong&id=x"), reconnectTo("ws://"), reconnectTo("http://elsewhere/ws"), reconnectTo(""), reconnectTo("\\u0000"),
		} {
			before := st.EventSubConnections()
			st.SendEventSub(frame)
			advance(time.Minute)
			if s := st.events.Status(); s.Reconnects != uint64(n+1) || !strings.Contains(s.Detail, "isn't valid") || st.EventSubSockets() != 1 || !s.Channels[0].Joined {
				t.Errorf("%s: %d sockets opened, %+v", frame, st.EventSubConnections()-before, s)
			}
		}
		if closes := st.EventSubCloses(); !slices.Equal(closes, []int{4007}) {
			t.Errorf("closed with %v", closes)
		}
		if mayMove("", "ws://eventsub.wss.twitch.tv/ws?id=1") || !mayMove("", "wss://cell-a.eventsub.wss.twitch.tv/ws?id=1") {
			t.Error("an encrypted connection may move on to encrypted ones, and to no others")
		}
	})
}

// TestEventSub_ReconnectLoop checks that a server that requests reconnects in a loop is followed
// with delays.
func TestEventSub_ReconnectLoop(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			st.ReconnectEventSub()
			advance(100 * time.Millisecond)
		}
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		if n := st.EventSubConnections(); n < 20 || n > 150 || st.messageTexts() != "hello" || st.events.Status().Reconnects != 0 {
			t.Errorf("%d connections in ten minutes, heard %q, %+v", n, st.messageTexts(), st.events.Status())
		}
	})
}

// TestEventSub_OldSocketEnds checks that the old socket is closed after a move, even if the server
// keeps sending on it.
func TestEventSub_OldSocketEnds(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		advance(time.Minute)
		st.ReconnectEventSub()
		synctest.Wait()
		if st.EventSubSockets() != 2 {
			t.Fatalf("%d sockets", st.EventSubSockets())
		}
		st.SendEventSub(notification("f1", helix.KindChat, garden, strings.Replace(messageEvent("", ""), `"10"`, `"`+garden+`"`, 1)))
		synctest.Wait()
		if s := st.events.Status(); st.messageTexts() != "hello" || s.Skipped[Repeated] != 1 {
			t.Errorf("heard %q; what is still under way on the old socket counts: %+v", st.messageTexts(), s)
		}
		for range 60 {
			st.SendEventSub(`{"metadata":{"message_type":"session_keepalive"}}`)
			advance(100 * time.Millisecond)
		}
		if st.EventSubSockets() != 1 || st.events.Status().State != twitch.Connected {
			t.Errorf("%d sockets, %+v", st.EventSubSockets(), st.events.Status())
		}
	})
}

// TestEventSub_ReconnectRepeated checks that a repeated reconnect request causes one move.
func TestEventSub_ReconnectRepeated(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		frame := `{"metadata":{"message_type":"session_reconnect"},"payload":{"session":{"reconnect_url":"` + st.EventSubURL() + `"}}}`
		advance(time.Minute)
		st.SendEventSub(frame, frame, frame)
		synctest.Wait()
		if n := st.EventSubConnections(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestEventSub_LostDuringReconnect checks that if the old socket ends before the new socket is
// welcomed, the session continues on the new socket. Subscriptions that failed in between are made
// soon after. If the new socket can't be opened, a new session starts without delay.
func TestEventSub_LostDuringReconnect(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.AddChannel("teatime")
		st.ReconnectEventSub()
		synctest.Wait()
		st.DropEventSub()
		synctest.Wait()
		must(t, st.events.SetChannels([]string{"gardenhour", "teatime"}))
		advance(5 * time.Second)
		s := st.events.Status()
		if s.Reconnects != 0 || st.EventSubConnections() != 2 || !s.Channels[0].Joined || !s.Channels[1].Joined || st.EventSubscriptions("") != 6 {
			t.Errorf("%d connections, %d subscriptions, %+v", st.EventSubConnections(), st.EventSubscriptions(""), s)
		}
		st.SendEventSub(`{"metadata":{"message_type":"session_reconnect"},"payload":{"session":{"reconnect_url":"ws://127.0.0.1:9/ws"}}}`)
		advance(5 * time.Second)
		st.DropEventSub()
		advance(10 * time.Second)
		if s := st.events.Status(); s.Reconnects != 1 || !s.Channels[0].Joined {
			t.Errorf("%+v", s)
		}
	})
}
