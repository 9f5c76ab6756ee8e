package eventsub

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/roles"
)

var _ chat.Source = (*Conn)(nil)

// TestEventSub checks the normal course: a welcome, subscriptions, a message, and the status
// afterwards.
func TestEventSub(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		garden, tea := st.UserID("gardenhour"), st.UserID("teatime")
		id := st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", DisplayName: "Anna", Badges: "vip/1", Text: "hello: you"})
		sent, _ := st.Message(id)
		want := chat.Message{Color: "#1E90FF", Message: chatguard.Message{
			ID: id, ChannelID: garden, Text: "hello: you", SentAt: sent.SentAt,
			User: chatguard.User{ID: st.UserID("anna"), Login: "anna", DisplayName: "Anna", Roles: chatguard.Roles{roles.VIP}},
		}}
		if got := st.messages(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		s := st.events.Status()
		if s.State != twitch.Connected || s.Messages != 1 || s.Lines != 1 || s.Reconnects != 0 || s.Detail != "" {
			t.Errorf("status %+v", s)
		}
		if !slices.Equal(s.Channels, []twitch.Channel{{Login: "gardenhour", RoomID: garden, Joined: true}, {Login: "teatime", RoomID: tea, Joined: true}}) {
			t.Errorf("channels %+v", s.Channels)
		}
		told := st.takeNotes()
		slices.Sort(told)
		if want := []string{"entered gardenhour " + garden, "entered teatime " + tea, "moderates " + garden, "moderates " + tea}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if st.EventSubConnections() != 1 || st.EventSubscriptions("channel.chat.message") != 2 || st.EventSubscriptions("channel.moderate") != 2 {
			t.Errorf("%d connections, %d subscriptions", st.EventSubConnections(), st.EventSubscriptions(""))
		}
		if err := st.stop(); err != nil || st.events.Status().State != twitch.Stopped {
			t.Errorf("%v, state %s", err, st.events.Status().State)
		}
	})
}

// TestEventSub_AgreesWithIRC checks that a message is the same over every transport, except for the
// FirstTimer role.
func TestEventSub_AgreesWithIRC(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		irc := &irc.Conn{Channels: []string{"gardenhour"}, Address: st.IRCAddress(), Dial: st.Dial}
		in := &twitchtest.Inbox{}
		stop := twitchtest.Run(t, irc, twitchtest.MessagesTo(in.Deliver))
		synctest.Wait()
		for _, l := range []faketwitch.Line{
			{Login: "anna", Text: "hello"},
			{Login: "anna", DisplayName: "Anna", Text: "first", First: true},
			{Login: "berta", DisplayName: "B e r t a", Badges: "moderator/1,subscriber/12", Text: " spaces : and; semicolons "},
			{Login: "clara", Badges: "lead_moderator/1,founder/0", Text: "no mod=1"},
			{Login: "gardenhour", Badges: "broadcaster/1", Text: "mine"},
			{Login: "dora", Badges: "vip/1,partner/1", Text: "\x01ACTION waves\x01"},
			{Login: "emma", DisplayName: "エマ", Text: "日本語 😀 \\ \"quoted\" <b>"},
			{Login: "anna", Text: "from elsewhere", Source: "4711"},
		} {
			l.Channel = "gardenhour"
			st.say(l)
			advance(time.Second)
		}
		overIRC, overEventSub := in.All(), st.messages()
		if len(overIRC) != 8 || len(overEventSub) != 8 {
			t.Fatalf("%d over IRC, %d over EventSub", len(overIRC), len(overEventSub))
		}
		for n, want := range overIRC {
			want.User.Roles = roles.Without(want.User.Roles, roles.FirstTimer)
			got := overEventSub[n]
			if got.User.Roles = roles.Without(got.User.Roles, roles.FirstTimer); !reflect.DeepEqual(got, want) {
				t.Errorf("over EventSub %+v\nover IRC      %+v", overEventSub[n], want)
			}
		}
		must(t, stop())
	})
}

// TestEventSub_Keepalive checks that the connection stays open while keepalives arrive, and that a
// silent server is left.
func TestEventSub_Keepalive(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		advance(time.Hour)
		if st.EventSubConnections() != 1 || st.events.Status().Lines != 120 {
			t.Fatalf("%d connections, %d keepalives", st.EventSubConnections(), st.events.Status().Lines)
		}
		st.StallEventSub(true)
		advance(keepalive + 10*time.Second - time.Millisecond)
		if st.EventSubConnections() != 1 {
			t.Error("it gave up before the keepalive was overdue")
		}
		advance(time.Second)
		st.StallEventSub(false)
		if s := st.events.Status(); st.EventSubConnections() != 2 || s.Reconnects != 1 || !strings.Contains(s.Detail, "fell silent") {
			t.Errorf("%d connections, %+v", st.EventSubConnections(), s)
		}
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "still there?"})
		if st.messageTexts() != "still there?" {
			t.Errorf("heard %q", st.messageTexts())
		}
	})
}

// TestEventSub_SendsNothing checks that every ping is answered and that nothing else is sent to the
// socket. Twitch closes a socket with 4001 if it receives anything else, and with 4002 if a ping is
// not answered.
func TestEventSub_SendsNothing(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		for range 20 {
			st.PingEventSub()
			advance(3 * time.Minute)
			st.ReconnectEventSub()
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		}
		advance(time.Minute)
		if closes := st.EventSubCloses(); len(closes) != 0 || len(st.messages()) != 20 || st.EventSubConnections() != 21 {
			t.Errorf("closed with %v, %d messages, %d connections", closes, len(st.messages()), st.EventSubConnections())
		}
	})
}

// TestEventSub_LostConnection checks that a lost connection is replaced, with growing delays, and
// all subscriptions are made again.
func TestEventSub_LostConnection(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		for n := range 3 {
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			if got := len(st.messages()); got != n+1 {
				t.Errorf("heard %d messages, want %d", got, n+1)
			}
			st.DropEventSub()
			synctest.Wait()
			if s := st.events.Status(); s.State != twitch.Waiting || s.Channels[0].Joined || s.Reconnects != uint64(n+1) {
				t.Errorf("status %+v", s)
			}
			advance(4 * time.Second)
		}
		if st.EventSubConnections() != 4 || st.subscriptionRequests() != 12 || st.EventSubscriptions("") != 3 {
			t.Errorf("%d connections, %d subscriptions asked for, %d there", st.EventSubConnections(), st.subscriptionRequests(), st.EventSubscriptions(""))
		}
	})
}

// TestEventSub_Backoff checks the delays for a server that can't be reached, that refuses the
// WebSocket, or that accepts it but sends no welcome.
func TestEventSub_Backoff(t *testing.T) {
	for name, spoil := range map[string]func(*eventStage){
		"no welcome":      func(st *eventStage) { st.StallWelcomes(1000) },
		"nobody there":    func(st *eventStage) { st.events.URL = "ws://127.0.0.1:9/ws" },
		"no such address": func(st *eventStage) { st.events.URL = "ws" + strings.TrimPrefix(st.HelixURL(), "http") },
		"no address":      func(st *eventStage) { st.events.URL = "::" },
	} {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
			must(t, st.stop())
			spoil(st)
			var mu sync.Mutex
			var delays []time.Duration
			st.events.Clock.SleepFunc = func(ctx context.Context, d time.Duration) error {
				mu.Lock()
				delays = append(delays, d)
				mu.Unlock()
				return clock.Sleep(ctx, d)
			}
			st.run(t.Context())
			advance(10 * time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if len(delays) < 8 || len(delays) > 30 {
				t.Errorf("%s: %d delays in ten minutes", name, len(delays))
			}
			for n, d := range delays {
				if whole := min(500*time.Millisecond<<min(n, 10), time.Minute); d < whole/2 || d > whole {
					t.Errorf("%s: delay %d is %v, want %v to %v", name, n, d, whole/2, whole)
				}
			}
			if s := st.events.Status(); s.State == twitch.Connected || s.Detail == "" || strings.Contains(s.Detail, "\n") {
				t.Errorf("%s: status %+v", name, s)
			}
		})
	}
}
