package eventsub

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestEventSub_Subscribes checks that requests follow Twitch's documentation, are sent within 10 s
// of the welcome, and subscribe to chat before everything else.
func TestEventSub_Subscribes(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		garden, tea := st.UserID("gardenhour"), st.UserID("teatime")
		var bodies []string
		for _, r := range st.Requests() {
			if r.Path == "/helix/eventsub/subscriptions" {
				bodies = append(bodies, r.Body)
			}
		}
		slices.Sort(bodies[:2])
		slices.Sort(bodies[2:4])
		slices.Sort(bodies[4:])
		const (
			chat     = `{"type":"channel.chat.message","version":"1","condition":{"broadcaster_user_id":"%s","user_id":"%s"},`
			notice   = `{"type":"channel.chat.notification","version":"1","condition":{"broadcaster_user_id":"%s","user_id":"%s"},`
			moderate = `{"type":"channel.moderate","version":"2","condition":{"broadcaster_user_id":"%s","moderator_user_id":"%s"},`
		)
		for n, c := range []struct{ form, room string }{{chat, garden}, {chat, tea}, {moderate, garden}, {moderate, tea}, {notice, garden}, {notice, tea}} {
			if want := fmt.Sprintf(c.form+`"transport":{"method":"websocket","session_id":"fakesession1"}}`, c.room, st.BotID()); bodies[n] != want {
				t.Errorf("asked for %s\nwant %s", bodies[n], want)
			}
		}
	})
}

// TestEventSub_ManyChannels checks that notices aren't read if not all channels have room for that
// subscription.
func TestEventSub_ManyChannels(t *testing.T) {
	var channels []string
	for n := range MaxChannels {
		channels = append(channels, fmt.Sprintf("channel_%d", n))
	}
	testEventStage(t, faketwitch.Options{Channels: channels[:maxNoticeChannels]}, func(t *testing.T, st *eventStage) {
		for _, login := range channels[maxNoticeChannels:] {
			st.AddChannel(login)
		}
		must(t, st.events.SetChannels(channels))
		advance(time.Minute)
		if n := st.EventSubscriptions(helix.KindNotice); n != 0 || st.EventSubscriptions("") != 2*MaxChannels {
			t.Errorf("%d of %d subscriptions are for notices", n, st.EventSubscriptions(""))
		}
		must(t, st.events.SetChannels(channels[:1]))
		advance(time.Minute)
		if n := st.EventSubscriptions(helix.KindNotice); n != 1 {
			t.Errorf("%d subscriptions for notices", n)
		}
	})
}

// TestEventSub_HundredChannels checks that a hundred channels make three hundred subscriptions on
// one socket in time.
func TestEventSub_HundredChannels(t *testing.T) {
	var channels []string
	for n := range 100 {
		channels = append(channels, fmt.Sprintf("channel_%d", n))
	}
	testEventStage(t, faketwitch.Options{Channels: channels}, func(t *testing.T, st *eventStage) {
		if st.EventSubConnections() != 1 || st.EventSubscriptions("") != 300 || len(st.EventSubCloses()) != 0 {
			t.Fatalf("%d connections, %d subscriptions, closed with %v", st.EventSubConnections(), st.EventSubscriptions(""), st.EventSubCloses())
		}
		for n, c := range st.events.Status().Channels {
			if c.Login != channels[n] || !c.Joined || c.RoomID != st.UserID(c.Login) || c.Problem != "" {
				t.Errorf("channel %d: %+v", n, c)
			}
			st.say(faketwitch.Line{Channel: c.Login, Login: "anna", Text: "hello"})
		}
		if len(st.messages()) != 100 {
			t.Errorf("heard %d messages", len(st.messages()))
		}
	})
}

// TestEventSub_TooManyChannels checks that too many channels are refused with a message and change
// nothing.
func TestEventSub_TooManyChannels(t *testing.T) {
	var channels []string
	for n := range MaxChannels + 1 {
		channels = append(channels, fmt.Sprintf("channel_%d", n))
	}
	e := &Conn{Channels: channels, UserID: func() string { return "1" }}
	for _, err := range []error{e.Run(t.Context(), twitchtest.MessagesTo(nil)), e.SetChannels(channels), e.SetChannels([]string{"a b"}), e.SetChannels(nil)} {
		if !errors.Is(err, twitch.ErrChannel) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
	if err := e.SetChannels(channels[1:]); err != nil || len(e.Status().Channels) != MaxChannels {
		t.Errorf("%v, %d channels", err, len(e.Status().Channels))
	}
	if err := e.SetChannels(channels); err == nil || !strings.Contains(err.Error(), "supports 150") || len(e.Status().Channels) != MaxChannels {
		t.Errorf("%v, %d channels", err, len(e.Status().Channels))
	}
}

// TestEventSub_SetChannels checks that channels can be added and removed while it runs.
func TestEventSub_SetChannels(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime", "den"}}, func(t *testing.T, st *eventStage) {
		st.takeNotes()
		st.AddChannel("attic")
		must(t, st.events.SetChannels([]string{"#Den", "attic"}))
		synctest.Wait()
		for _, channel := range []string{"gardenhour", "teatime", "den", "attic"} {
			st.say(faketwitch.Line{Channel: channel, Login: "anna", Text: "in " + channel})
		}
		if st.messageTexts() != "in den, in attic" {
			t.Errorf("heard %q", st.messageTexts())
		}
		attic := st.UserID("attic")
		if told := st.takeNotes(); !slices.Equal(told, []string{"entered attic " + attic, "moderates " + attic}) {
			t.Errorf("told %q", told)
		}
		if st.EventSubscriptions("") != 6 || st.EventSubConnections() != 1 {
			t.Errorf("%d subscriptions, %d connections", st.EventSubscriptions(""), st.EventSubConnections())
		}
		if all := st.events.Status().Channels; len(all) != 2 || all[0].Login != "den" || !all[1].Joined {
			t.Errorf("%+v", all)
		}
	})
}

// TestEventSub_CannotLeave checks that a channel whose subscriptions can't be ended doesn't delay
// anything, and is left later. If the channel is wanted again before that, it is joined.
func TestEventSub_CannotLeave(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.AddChannel("den")
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusBadRequest}, r.Method == http.MethodDelete
		})
		set := func(channels ...string) {
			t.Helper()
			must(t, st.events.SetChannels(channels))
			advance(time.Second)
			st.takeNotes()
		}
		set("gardenhour", "den")
		if s := st.events.Status(); !s.Channels[1].Joined || st.EventSubscriptions("") != 9 {
			t.Errorf("%d subscriptions, %+v", st.EventSubscriptions(""), s)
		}
		set("gardenhour", "den", "teatime")
		st.say(faketwitch.Line{Channel: "teatime", Login: "anna", Text: "hello"})
		if c := st.events.Status().Channels[2]; !c.Joined || c.RoomID != st.UserID("teatime") || st.messageTexts() != "hello" || st.EventSubscriptions("") != 9 {
			t.Errorf("heard %q, %+v", st.messageTexts(), c)
		}
		set("gardenhour")
		st.SetHelixFaults(nil)
		advance(retryEvery)
		if n := st.EventSubscriptions(""); n != 3 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

// TestEventSub_UnknownChannel checks that a channel that doesn't exist is reported and the others
// keep working. Once it exists, it is read.
func TestEventSub_UnknownChannel(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		must(t, st.events.SetChannels([]string{"nowhere", "gardenhour"}))
		synctest.Wait()
		s := st.events.Status()
		if c := s.Channels[0]; c.Joined || c.Refusal != twitch.NoChannel || c.Problem != noSuchChannel || !strings.Contains(s.Detail, "#nowhere") || !s.Channels[1].Joined {
			t.Errorf("%+v", s)
		}
		st.AddChannel("nowhere")
		advance(retryEvery)
		if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != "" {
			t.Errorf("%+v", c)
		}
	})
}

// TestEventSub_ChannelRefused checks that a channel that the bot may not read is reported and the
// others keep working.
func TestEventSub_ChannelRefused(t *testing.T) {
	for status, want := range map[int]string{http.StatusForbidden: notLetIn, http.StatusBadRequest: "Twitch refused the request"} {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
			tea := st.UserID("teatime")
			st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
				return faketwitch.Fault{Status: status}, strings.Contains(r.Body, "channel.chat.message") && strings.Contains(r.Body, tea)
			})
			st.DropEventSub()
			advance(2 * time.Second)
			all := st.events.Status().Channels
			if all[1].Joined || !strings.Contains(all[1].Problem, want) || !all[0].Joined || all[0].Problem != "" {
				t.Errorf("%+v", all)
			}
			st.SetHelixFaults(nil)
			advance(retryEvery)
			if c := st.events.Status().Channels[1]; !c.Joined || c.Problem != "" {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestEventSub_AnotherChannel checks that a channel whose name belongs to another account by now is
// announced before it is read.
func TestEventSub_AnotherChannel(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusForbidden}, strings.Contains(r.Body, helix.KindChat)
		})
		st.RevokeSubscriptions("gardenhour", helix.KindChat, "user_removed")
		advance(5 * time.Second)
		st.RemoveAccount("gardenhour")
		st.AddChannel("gardenhour")
		st.SetHelixFaults(nil)
		st.takeNotes()
		advance(retryEvery)
		id := st.UserID("gardenhour")
		if told, c := st.takeNotes(), st.events.Status().Channels[0]; !slices.Equal(told, []string{"entered gardenhour " + id, "moderates " + id}) || c.RoomID != id {
			t.Errorf("told %q, %+v", told, c)
		}
	})
}

// TestEventSub_NotAccepted checks that nothing is subscribed in a channel that must not be read,
// and that it is read once it is accepted.
func TestEventSub_NotAccepted(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		must(t, st.stop())
		const problem = "another account's"
		var accepted atomic.Bool
		tea := st.UserID("teatime")
		st.events.Vet = func(login, roomID string) string {
			if login == "teatime" && roomID == tea && !accepted.Load() {
				return problem
			}
			return ""
		}
		st.takeNotes()
		st.run(t.Context())
		advance(2 * retryEvery)
		st.say(faketwitch.Line{Channel: "teatime", Login: "anna", Text: "hello"})
		garden := st.UserID("gardenhour")
		if told := st.takeNotes(); !slices.Equal(told, []string{"entered gardenhour " + garden, "moderates " + garden}) || st.messageTexts() != "" || st.EventSubscriptions("") != 3 {
			t.Errorf("told %q, heard %q, %d subscriptions", told, st.messageTexts(), st.EventSubscriptions(""))
		}
		if c := st.events.Status().Channels[1]; c.Joined || c.Refusal != twitch.OtherChannel || c.Problem != problem {
			t.Errorf("%+v", c)
		}
		accepted.Store(true)
		advance(retryEvery)
		if c := st.events.Status().Channels[1]; !c.Joined || c.Problem != "" || st.EventSubscriptions("") != 6 {
			t.Errorf("accepted: %+v, %d subscriptions", c, st.EventSubscriptions(""))
		}
	})
}

// TestEventSub_NotSubscribedInTime checks that a socket without a subscription is closed and that
// this is reported.
func TestEventSub_NotSubscribedInTime(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return faketwitch.Fault{Status: 503}, true })
		st.DropEventSub()
		advance(12 * time.Second)
		if s := st.events.Status(); !slices.Equal(st.EventSubCloses(), []int{4003}) || !strings.Contains(s.Detail, "no subscription in time") {
			t.Errorf("closed with %v, %+v", st.EventSubCloses(), s)
		}
		st.SetHelixFaults(nil)
		advance(time.Minute)
		if s := st.events.Status(); !s.Channels[0].Joined {
			t.Errorf("%+v", s)
		}
	})
}

// TestEventSub_RetriesSubscriptions checks that a subscription is retried after a temporary fault.
// If Twitch then says that the subscription exists, it counts as made.
func TestEventSub_RetriesSubscriptions(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		for _, fault := range []faketwitch.Fault{{Status: 503}, {Status: 0}, {Status: 0, After: true}, {Status: 429}} {
			st.DropEventSub()
			synctest.Wait()
			faulty := map[string]bool{}
			st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
				first := !faulty[r.Body] && r.Body != ""
				faulty[r.Body] = true
				return fault, first
			})
			advance(8 * time.Second)
			if s := st.events.Status(); !s.Channels[0].Joined || s.Channels[0].Problem != "" || st.EventSubscriptions("") != 3 || len(faulty) < 3 {
				t.Errorf("%+v: %+v, %d subscriptions", fault, s, st.EventSubscriptions(""))
			}
		}
	})
}

// TestEventSub_NoticesMissing checks that a missing subscription for notices is a problem of its
// channel until it is made, unless moderation events are missing, too.
func TestEventSub_NoticesMissing(t *testing.T) {
	for moderates, other := range map[bool]string{true: "", false: twitch.ErrNotModerator.Error()} {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
			st.SetBotModerator("gardenhour", moderates)
			st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
				return faketwitch.Fault{Status: http.StatusForbidden}, strings.Contains(r.Body, helix.KindNotice)
			})
			st.DropEventSub()
			advance(retryEvery + 10*time.Second)
			if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != cmp.Or(other, noNotices+"Twitch doesn't let the bot read them") {
				t.Errorf("%+v", c)
			}
			st.SetHelixFaults(nil)
			advance(retryEvery)
			if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != other {
				t.Errorf("made: %+v", c)
			}
			st.RevokeSubscriptions("gardenhour", helix.KindNotice, "user_removed")
			advance(retryEvery)
			if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != other || st.EventSubscriptions(helix.KindNotice) != 1 {
				t.Errorf("made again: %+v", c)
			}
		})
	}
}

// TestEventSub_Limits checks that a limit of EventSub delays no other request, that the problem
// says what to do, and that the subscription is made soon after the limit no longer applies.
func TestEventSub_Limits(t *testing.T) {
	channels := []string{"gardenhour", "teatime", "den", "attic"}
	testEventStage(t, faketwitch.Options{Channels: channels, SubscriptionCost: 2}, func(t *testing.T, st *eventStage) {
		advance(time.Minute)
		if n := st.EventSubscriptions(""); n != 5 {
			t.Errorf("%d subscriptions", n)
		}
		began := time.Now()
		_, err := st.events.Helix.Users(t.Context(), "anna")
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("another request took %s: %v", took, err)
		}
		notes := 0
		for _, c := range st.events.Status().Channels {
			if strings.Contains(c.Problem, "end other programs that use the bot's account") && strings.Contains(c.Problem, "maximum total cost exceeded") {
				notes++
			}
		}
		if asked := len(st.subscribes()); notes == 0 || asked > 60 {
			t.Errorf("%d channels name the problem; asked %d times in a minute", notes, asked)
		}
	})
	testEventStage(t, faketwitch.Options{Channels: channels[:1]}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			header := http.Header{"Ratelimit-Remaining": nil, "Ratelimit-Reset": nil}
			return faketwitch.Fault{Status: 429, Message: "number of websocket transports limit exceeded", Header: header}, r.Method == http.MethodPost
		})
		st.DropEventSub()
		advance(15 * time.Second)
		st.SetHelixFaults(nil)
		advance(12 * time.Second)
		if s := st.events.Status(); !s.Channels[0].Joined || s.Channels[0].Problem != "" {
			t.Errorf("%+v", s)
		}
	})
}

// TestEventSub_Conflict checks that if Twitch says that a new session's subscription exists, the
// bot looks whose it is, on all pages of the list. If it is another session's, or has ended, the
// subscription is tried again.
func TestEventSub_Conflict(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		conflicts, garden := 1, st.UserID("gardenhour")
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			if r.Method == http.MethodGet && r.Path == "/helix/eventsub/subscriptions" {
				of := func(status, session string) string {
					return fmt.Sprintf(`{"id":"other","status":%q,"condition":{"broadcaster_user_id":%q},"transport":{"session_id":%q}}`, status, garden, session)
				}
				if r.Query.Get("after") == "" {
					return faketwitch.Fault{Status: http.StatusOK, Body: `{"data":[` + of("enabled", "fakesession1") + `],"pagination":{"cursor":"more"}}`}, true
				}
				return faketwitch.Fault{Status: http.StatusOK, Body: `{"data":[` + of("user_removed", "fakesession2") + `]}`}, true
			}
			if r.Method != http.MethodPost || !strings.Contains(r.Body, "channel.chat.message") || conflicts == 0 {
				return faketwitch.Fault{}, false
			}
			conflicts--
			return faketwitch.Fault{Status: http.StatusConflict, Message: "subscription already exists"}, true
		})
		before := len(st.Requests())
		st.DropEventSub()
		advance(5 * time.Second)
		looked := 0
		for _, r := range st.Requests()[before:] {
			if r.Method == http.MethodGet && r.Path == "/helix/eventsub/subscriptions" {
				looked++
			}
		}
		if c := st.events.Status().Channels[0]; looked != 2 || !c.Joined || c.Problem != "" || st.EventSubscriptions("channel.chat.message") != 1 {
			t.Errorf("looked %d times: %+v", looked, c)
		}
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		if st.messageTexts() != "hello" {
			t.Errorf("heard %q", st.messageTexts())
		}
	})
}

// subscribes returns the requests for subscriptions.
func (st *eventStage) subscribes() []faketwitch.Request {
	return slices.DeleteFunc(st.Requests(), func(r faketwitch.Request) bool {
		return r.Method != http.MethodPost || r.Path != "/helix/eventsub/subscriptions"
	})
}
