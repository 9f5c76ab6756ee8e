package eventsub

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/roles"
)

// notification returns an EventSub frame with an event that happens now.
func notification(id, kind, channelID, event string) string {
	return notificationAt(time.Now(), id, kind, channelID, event)
}

func notificationAt(at time.Time, id, kind, channelID, event string) string {
	return fmt.Sprintf(`{"metadata":{"message_id":"%s","message_type":"notification","message_timestamp":"%s"},`+
		`"payload":{"subscription":{"id":"s1","status":"enabled","type":"%s","condition":{"broadcaster_user_id":"%s"}},"event":%s}}`,
		id, at.Format(time.RFC3339Nano), kind, channelID, event)
}

// messageEvent returns the event of a message, with one part of its JSON replaced.
func messageEvent(part, by string) string {
	event := `{"broadcaster_user_id":"10","broadcaster_user_login":"gardenhour","chatter_user_id":"20","chatter_user_login":"anna",` +
		`"chatter_user_name":"Anna","message_id":"m1","message":{"text":"hello","fragments":null},"message_type":"text","badges":[],` +
		`"source_broadcaster_user_id":null,"source_message_id":null,"cheer":null,"reply":null}`
	return strings.Replace(event, part, by, 1)
}

// readMessage wraps an event in a frame and reads the message from the frame.
func readMessage(event string, at time.Time) (chat.Message, error) {
	frame, err := readFrame([]byte(notificationAt(at, "f1", helix.KindChat, "10", event)))
	if err != nil {
		return chat.Message{}, err
	}
	return frame.Payload.Event.message(at)
}

func TestChatEvent(t *testing.T) {
	at := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	plain := chat.Message{Message: chatguard.Message{ID: "m1", ChannelID: "10", User: chatguard.User{ID: "20", Login: "anna", DisplayName: "Anna"}, Text: "hello", SentAt: at}}
	with := func(change func(*chat.Message)) chat.Message {
		m := plain
		change(&m)
		return m
	}
	having := func(list ...chatguard.Role) chat.Message {
		return with(func(m *chat.Message) { m.User.Roles = list })
	}
	badges := func(sets ...string) string {
		return messageEvent(`"badges":[]`, `"badges":[{"set_id":"`+strings.Join(sets, `","id":"1","info":""},{"set_id":"`)+`","id":"1","info":""}]`)
	}
	for name, c := range map[string]struct {
		event string
		want  chat.Message
	}{
		"plain":          {messageEvent("", ""), plain},
		"broadcaster":    {badges("broadcaster", "premium"), having(roles.Broadcaster)},
		"lead moderator": {badges("lead_moderator"), having(roles.LeadModerator)},
		"moderator":      {badges("moderator", "subscriber"), having(chatguard.RoleModerator, roles.Subscriber)},
		"VIP, founder":   {badges("vip", "founder"), having(roles.VIP, roles.Subscriber)},
		"no badges":      {messageEvent(`"badges":[]`, `"badges":null`), plain},
		// an introduction, whose author may have written before
		"introduction":            {messageEvent(`"message_type":"text"`, `"message_type":"user_intro"`), plain},
		"shared chat":             {messageEvent(`"source_broadcaster_user_id":null`, `"source_broadcaster_user_id":"11"`), with(func(m *chat.Message) { m.SourceChannelID = "11" })},
		"action":                  {messageEvent("hello", `\u0001ACTION waves\u0001`), with(func(m *chat.Message) { m.Text = "waves" })},
		"color":                   {messageEvent(`"badges":[]`, `"badges":[],"color":"#1E90FF"`), with(func(m *chat.Message) { m.Color = "#1E90FF" })},
		"no color":                {messageEvent(`"badges":[]`, `"badges":[],"color":""`), plain},
		"color of another kind":   {messageEvent(`"badges":[]`, `"badges":[],"color":[7]`), plain},
		"spaces in name":          {messageEvent(`"Anna"`, `" Anna "`), plain},
		"badge of another kind":   {messageEvent(`"badges":[]`, `"badges":[{"set_id":"vip"},7,{"set_id":["moderator"]},"moderator",null]`), having(roles.VIP)},
		"badges of another kind":  {messageEvent(`"badges":[]`, `"badges":{"set_id":"moderator"}`), plain},
		"fragments":               {messageEvent(`"fragments":null`, `"fragments":[{"type":7},"x",null,{"emote":[]}]`), plain},
		"reply of another kind":   {messageEvent(`"reply":null`, `"reply":[7]`), plain},
		"source of another kind":  {messageEvent(`"source_broadcaster_user_id":null`, `"source_broadcaster_user_id":{"id":"11"},"source_badges":[7]`), plain},
		"source with a control":   {messageEvent(`"source_broadcaster_user_id":null`, `"source_broadcaster_user_id":"1\u00001"`), plain},
		"line in name":            {messageEvent(`"Anna"`, `"An\r\nna"`), with(func(m *chat.Message) { m.User.DisplayName = "" })},
		"name of another kind":    {messageEvent(`"Anna"`, `["Anna"]`), with(func(m *chat.Message) { m.User.DisplayName = "" })},
		"login of another kind":   {messageEvent(`"anna"`, `7`), with(func(m *chat.Message) { m.User.Login = "" })},
		"text of another kind":    {messageEvent(`"hello"`, `7`), with(func(m *chat.Message) { m.Text = "" })},
		"message of another kind": {messageEvent(`{"text":"hello","fragments":null}`, `"hello"`), with(func(m *chat.Message) { m.Text = "" })},
		"invalid UTF-8":           {messageEvent("hello", "hell\xff"), with(func(m *chat.Message) { m.Text = "hell\ufffd" })},
		"more than text":          {messageEvent(`"fragments":null`, `"fragments":[{"type":"text","text":"hel"},{"type":"emote","emote":{"id":"25"},"text":"lo"}]`), plain},
	} {
		if got, err := readMessage(c.event, at); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", name, got, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		event string
		want  twitch.SkipReason
	}{
		"null":            {"null", twitch.NoUserID},
		"nothing":         {"", twitch.Malformed},
		"a list":          {"[]", twitch.NoUserID},
		"cut off":         {messageEvent("", "")[:100], twitch.Malformed},
		"number as ID":    {messageEvent(`"20"`, `20`), twitch.NoUserID},
		"no chatter":      {messageEvent(`"20"`, `""`), twitch.NoUserID},
		"no channel":      {messageEvent(`"10"`, `null`), twitch.NoRoomID},
		"no message ID":   {messageEvent(`"m1"`, `null`), twitch.NoMessageID},
		"invalid UTF-8":   {messageEvent(`"20"`, "\"2\xff0\""), twitch.InvalidUTF8},
		"control in ID":   {messageEvent(`"20"`, `"2\u00000"`), twitch.Malformed},
		"control in room": {messageEvent(`"10"`, `"1\u001b0"`), twitch.Malformed},
	} {
		if got, err := readMessage(c.event, at); err != c.want {
			t.Errorf("%s: got %+v, %v; want %v", name, got, err, c.want)
		}
	}
}

// TestChatEvent_Emotes checks which texts consist of emotes only, by their fragments.
func TestChatEvent_Emotes(t *testing.T) {
	const emote = `{"type":"emote","text":"Kappa","cheermote":null,"emote":{"id":"25","emote_set_id":"0","owner_id":"0","format":["static"]},"mention":null}`
	for fragments, want := range map[string]roles.Kinds{
		emote: {roles.Emotes},
		emote + `,{"type":"text","text":" "},` + emote + `,{"type":"text","text":" \udb40\udc00"}`: {roles.Emotes},
		emote + `,{"type":"text","text":" :)"}`:                                                    nil,
		`{"type":"text","text":"look "},` + emote:                                                  nil,
		`{"type":"text","text":" "}`:                                                               nil,
		"":                                                                                         nil,
		`{"type":"mention","text":"@berta"},` + emote:                                              nil,
		emote + `,{"type":"cheermote","text":"cheer1"}`:                                            nil,
		emote + `,{"type":"invented","text":" "}`:                                                  nil,
		emote + `,{"type":["text"],"text":" "}`:                                                    nil,
		emote + `,{"type":"text","text":" "},null`:                                                 nil,
		emote + `,7`: nil,
		`{"type":"emote","text":["Kappa"],"emote":null}`: {roles.Emotes},
	} {
		m, err := readMessage(messageEvent(`"fragments":null`, `"fragments":[`+fragments+`]`), time.Unix(1e9, 0))
		if err != nil || !slices.Equal(m.Kinds, want) {
			t.Errorf("%s: %q, %v, want %s", fragments, m.Kinds, err, want)
		}
	}
	const reply = `"reply":{"parent_user_login":"berta","parent_user_name":"Berta"}`
	for fragments, want := range map[string]roles.Kinds{
		`{"type":"mention","text":"@berta"},{"type":"text","text":" "},` + emote:             {roles.Emotes},
		`{"type":"mention","text":"@berta"},{"type":"text","text":" look "},` + emote:        nil,
		`{"type":"mention","text":"@berta"},{"type":"text","text":" "}`:                      nil,
		`{"type":"mention","text":"@berta"},` + emote + `,{"type":"mention","text":"@anna"}`: nil,
		`{"type":"mention","text":"@berta"},{"type":"mention","text":"@anna"},` + emote:      nil,
		emote + `,{"type":"text","text":" "}`:                                                {roles.Emotes},
		"":                                                                                   nil,
	} {
		event := messageEvent(`"fragments":null`, `"fragments":[`+fragments+`]`)
		m, err := readMessage(strings.Replace(event, `"reply":null`, reply, 1), time.Unix(1e9, 0))
		if err != nil || !slices.Equal(m.Kinds, want) {
			t.Errorf("reply %s: %q, %v, want %s", fragments, m.Kinds, err, want)
		}
	}
	paid := strings.Replace(messageEvent(`"fragments":null`, `"fragments":[`+emote+`]`), `"message_type":"text"`, `"message_type":"power_ups_gigantified_emote"`, 1)
	if m, err := readMessage(paid, time.Unix(1e9, 0)); err != nil || !slices.Equal(m.Kinds, []string{roles.PowerUp, roles.Emotes}) {
		t.Errorf("gigantified: %q, %v", m.Kinds, err)
	}
}

func TestModerateEvent(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden, now := st.UserID("gardenhour"), time.Now()
		until := func(d time.Duration) string {
			return `"expires_at":"` + now.Add(d).UTC().Format(time.RFC3339Nano) + `"`
		}
		removal := func(r chat.Removal) *chat.Removal {
			r.ChannelID, r.By, r.At = garden, "berta", now
			return &r
		}
		skipped := st.events.Status().Skipped
		for n, c := range []struct {
			action, details string
			want            *chat.Removal // nil if nothing is removed
			reason          twitch.SkipReason
		}{
			{"delete", `{"user_id":"20","message_id":"m1"}`, removal(chat.Removal{UserID: "20", MessageID: "m1"}), ""},
			{"shared_chat_delete", `{"user_id":"20","message_id":"m1"}`, removal(chat.Removal{UserID: "20", MessageID: "m1"}), ""},
			{"timeout", `{"user_id":"20",` + until(10*time.Minute) + `}`, removal(chat.Removal{UserID: "20", Silence: 10 * time.Minute}), ""},
			{"shared_chat_timeout", `{"user_id":"20",` + until(time.Second) + `}`, removal(chat.Removal{UserID: "20", Silence: time.Second}), ""},
			{"timeout", `{"user_id":"20",` + until(599_700*time.Millisecond) + `}`, removal(chat.Removal{UserID: "20", Silence: 10 * time.Minute}), ""},
			{"timeout", `{"user_id":"20",` + until(0) + `}`, removal(chat.Removal{UserID: "20", Silence: time.Second}), ""},
			{"ban", `{"user_id":"20","reason":"spam"}`, removal(chat.Removal{UserID: "20", Banned: true}), ""},
			{"shared_chat_ban", `{"user_id":"20"}`, removal(chat.Removal{UserID: "20", Banned: true}), ""},
			{"clear", `null`, removal(chat.Removal{}), ""},
			{"slow", `{"wait_time_seconds":30}`, nil, ""},
			{"warn", `{"user_id":"20"}`, nil, ""},
			{"invented_next_year", `{"user_id":"20"}`, nil, ""},
			{"", `null`, nil, ""},
			{"delete", `null`, nil, twitch.NoMessageID},
			{"delete", `{"user_id":"20"}`, nil, twitch.NoMessageID},
			{"timeout", `{` + until(time.Minute) + `}`, nil, twitch.NoUserID},
			{"timeout", `{"user_id":"20"}`, nil, twitch.Malformed},
			{"timeout", `{"user_id":"20","expires_at":"soon"}`, nil, twitch.Malformed},
			{"timeout", `{"user_id":"20",` + until(-time.Hour) + `}`, nil, twitch.Malformed},
			{"timeout", `{"user_id":"20",` + until(50*365*24*time.Hour) + `}`, nil, twitch.Malformed},
			{"ban", `{}`, nil, twitch.NoUserID},
			{"ban", `[]`, nil, twitch.NoUserID},
			{"delete", `{"user_id":"20","message_id":7}`, nil, twitch.NoMessageID},
			{"ban", `{"user_id":"2\u00000"}`, nil, twitch.Malformed},
		} {
			st.mu.Lock()
			st.removals = nil
			st.mu.Unlock()
			event := `{"broadcaster_user_id":"` + garden + `","moderator_user_login":"berta","action":"` + c.action + `","` + c.action + `":` + c.details + `}`
			st.SendEventSub(notificationAt(now, fmt.Sprint(n), helix.KindModerate, garden, event))
			synctest.Wait()
			switch {
			case c.want == nil && len(st.removals) != 0, c.want != nil && (len(st.removals) != 1 || st.removals[0] != *c.want):
				t.Errorf("%s %s: %+v, want %+v", c.action, c.details, st.removals, c.want)
			}
			if c.reason != "" {
				skipped[c.reason]++
			}
			if got := st.events.Status().Skipped; got[c.reason] != skipped[c.reason] {
				t.Errorf("%s %s: skipped %v, want %v", c.action, c.details, got, skipped)
			}
		}
		st.removals = nil
		st.lift(garden, now)
		st.SendEventSub(notificationAt(now, "nameless", helix.KindModerate, garden,
			`{"broadcaster_user_id":"`+garden+`","moderator_user_login":"ber\u0000ta","action":"ban","ban":{"user_id":"20"}}`))
		synctest.Wait()
		if want := (chat.Removal{ChannelID: garden, At: now, UserID: "20", Banned: true}); len(st.removals) != 1 || st.removals[0] != want {
			t.Errorf("by a nameless moderator: %+v", st.removals)
		}
	})
}

// lift checks that the end of a timeout or ban is delivered, and nothing else is.
func (st *eventStage) lift(room string, at time.Time) {
	st.t.Helper()
	want := chat.Lift{ChannelID: room, UserID: "20", At: at}
	for _, action := range []string{"untimeout", "unban", "shared_chat_untimeout", "shared_chat_unban"} {
		for details, lifts := range map[string]int{`{"user_id":"20"}`: 1, `{"user_id":"2\u00000"}`: 0, `{}`: 0} {
			st.lifts = nil
			event := `{"broadcaster_user_id":"` + room + `","moderator_user_login":"berta","action":"` + action + `","` + action + `":` + details + `}`
			st.SendEventSub(notificationAt(at, fmt.Sprint(action, len(details)), helix.KindModerate, room, event))
			synctest.Wait()
			if len(st.removals) != 0 || len(st.lifts) != lifts || lifts == 1 && st.lifts[0] != want {
				st.t.Errorf("%s %s: %+v, %+v", action, details, st.removals, st.lifts)
			}
		}
	}
}

// TestEventSub_RepeatsCountOnce checks that an event that Twitch resends is processed once. An
// event older than ten minutes isn't processed at all.
func TestEventSub_RepeatsCountOnce(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		said := func(at time.Time, frame, text string) {
			event := strings.Replace(messageEvent(`"10"`, `"`+garden+`"`), "hello", text, 1)
			st.SendEventSub(notificationAt(at, frame, helix.KindChat, garden, event))
			synctest.Wait()
		}
		said(time.Now(), "frame1", "one")
		said(time.Now(), "frame1", "one again")
		st.DropEventSub()
		advance(5 * time.Second)
		said(time.Now(), "frame1", "one on another connection")
		said(time.Now(), "frame2", "two")
		for _, text := range []string{"a", "b", "c"} {
			advance(3 * time.Minute)
			said(time.Now(), text, text)
		}
		said(time.Now().Add(-9*time.Minute), "frame2", "two again")
		said(time.Now().Add(-10*time.Minute), "frame3", "three, late")
		said(time.Now().Add(-10*time.Minute-time.Second), "frame4", "four, too late")
		if want := "one, two, a, b, c, three, late"; st.messageTexts() != want {
			t.Errorf("heard %q, want %q", st.messageTexts(), want)
		}
		s := st.events.Status()
		if s.Skipped[Repeated] != 3 || s.Skipped[Stale] != 1 {
			t.Errorf("skipped %v", s.Skipped)
		}
		if late, sent := st.messages()[5], time.Now().Add(-10*time.Minute); !late.SentAt.Equal(sent) {
			t.Errorf("one that arrived late is judged at %v, want %v, when it was sent", late.SentAt, sent)
		}
	})
}

// TestEventSub_OtherChannel checks that an event counts only in the channel of its subscription,
// even if the bot also moderates the other channel.
func TestEventSub_OtherChannel(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		garden, tea := st.UserID("gardenhour"), st.UserID("teatime")
		st.takeNotes()
		inRoom := func(room, event string) string { return strings.Replace(event, `"10"`, `"`+room+`"`, 1) }
		unmod := `{"broadcaster_user_id":"10","moderator_user_login":"berta","action":"unmod","unmod":{"user_id":"` + st.events.UserID() + `"}}`
		clear := `{"broadcaster_user_id":"10","moderator_user_login":"berta","action":"clear"}`
		for n, room := range []string{tea, "999", ""} {
			st.SendEventSub(notification(fmt.Sprint("said", n), helix.KindChat, garden, inRoom(room, messageEvent("", ""))),
				notification(fmt.Sprint("unmod", n), helix.KindModerate, garden, inRoom(room, unmod)),
				notification(fmt.Sprint("clear", n), helix.KindModerate, garden, inRoom(room, clear)))
		}
		synctest.Wait()
		if s := st.events.Status(); s.Skipped[OtherChannel] != 9 || len(st.messages()) != 0 || len(st.takeNotes()) != 0 || len(st.removals) != 0 {
			t.Errorf("skipped %v, heard %q", s.Skipped, st.messageTexts())
		}
		st.SendEventSub(notification("right", helix.KindChat, garden, inRoom(garden, messageEvent("", ""))))
		synctest.Wait()
		if st.messageTexts() != "hello" {
			t.Errorf("heard %q of the right channel", st.messageTexts())
		}
	})
}

// TestEventSub_HostileFrames checks that frames that can't be read are counted by reason, and that
// the connection survives. A frame that is too large ends only its connection.
func TestEventSub_HostileFrames(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.SendEventSub("", "null", "[]", "{", `{"metadata":{}}`, `{"metadata":{"message_type":"session_welcome"}}`, `{"metadata":{"message_type":"invented"}}`,
			notification("", helix.KindChat, garden, messageEvent("", "")), notification(strings.Repeat("x", maxFrameID+1), helix.KindChat, garden, messageEvent("", "")),
			notification("f1", helix.KindChat, garden, `{"broadcaster_user_id":"`+garden+`"}`), notification("f2", helix.KindChat, "4711", messageEvent("", "")), notification("f3", "invented", garden, "{}"),
			`{"metadata":{"message_type":"revocation"}}`, `{"metadata":{"message_type":"session_keepalive","message_timestamp":7}}`)
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "still reading?"})
		s := st.events.Status()
		if st.messageTexts() != "still reading?" || s.Skipped[twitch.Malformed] != 5 || s.Skipped[twitch.NoMessageID] != 2 || s.Skipped[twitch.NoUserID] != 1 || s.Reconnects != 0 {
			t.Errorf("heard %q, %+v", st.messageTexts(), s)
		}
		st.SendEventSub(strings.Repeat("x", maxFrame+1))
		advance(5 * time.Second)
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "and now?"})
		if s := st.events.Status(); st.messageTexts() != "still reading?, and now?" || s.Skipped[twitch.TooLong] != 1 || s.Reconnects != 1 {
			t.Errorf("heard %q, %+v", st.messageTexts(), s)
		}
	})
}

// TestEventSub_StuckConsumer checks that a stuck consumer neither makes memory grow nor keeps the
// reader from seeing the server's requests.
func TestEventSub_StuckConsumer(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		stuck := make(chan struct{})
		st.stuck.Store(&stuck)
		const n = 20 * twitch.QueueSize
		for range n {
			twitchtest.Say(t, st.Server, faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		}
		advance(time.Minute)
		st.ReconnectEventSub()
		advance(time.Minute)
		if st.EventSubConnections() != 2 || len(st.EventSubCloses()) != 0 || len(st.messages()) != 0 {
			t.Errorf("%d connections, closed with %v", st.EventSubConnections(), st.EventSubCloses())
		}
		st.stuck.Store(nil)
		close(stuck)
		synctest.Wait()
		s := st.events.Status()
		if s.Messages+s.Dropped != n || s.Dropped == 0 || s.Messages < twitch.QueueSize || int(s.Messages) != len(st.messages()) {
			t.Errorf("%d delivered, %d dropped of %d", s.Messages, s.Dropped, n)
		}
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "and now?"})
		if all := st.messages(); all[len(all)-1].Text != "and now?" {
			t.Errorf("heard %+v", all[len(all)-1])
		}
	})
}

// FuzzEventSubFrame checks that no frame causes a panic and that every accepted frame can be judged
// and acted on.
func FuzzEventSubFrame(f *testing.F) {
	at := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	for _, seed := range []string{
		"", "null", "{}", "[]", "\xff", `{"metadata":{"message_type":"notification","message_id":"\u0000"}}`,
		notificationAt(at, "f1", helix.KindChat, "10", messageEvent("", "")),
		notificationAt(at, "f1", helix.KindChat, "10", messageEvent(`"fragments":null`, `"fragments":[{"type":"emote","text":"Kappa"},{"type":"text","text":" "}]`)),
		notificationAt(at, "f1", helix.KindChat, "10", messageEvent(`"badges":[]`, `"badges":[{"set_id":"vip"},{},null]`)),
		notificationAt(at, "f1", helix.KindModerate, "10", `{"broadcaster_user_id":"10","action":"delete","delete":{"user_id":"20","message_id":"m1"}}`),
		notificationAt(at, "f1", helix.KindModerate, "10", `{"broadcaster_user_id":"10","action":"timeout","timeout":{"user_id":"20","expires_at":"2026-03-01T20:10:00Z"}}`),
		notificationAt(at, "f1", helix.KindModerate, "10", `{"broadcaster_user_id":"10","action":"mod","mod":{"user_id":"1"}}`),
		`{"metadata":{"message_type":"session_reconnect"},"payload":{"session":{"reconnect_url":"ws://x"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		frame, err := readFrame(text)
		if err != nil || frame.Metadata.Kind != frameNotification {
			return
		}
		e := &Conn{UserID: func() string { return "1" }, rooms: map[string]string{"10": "gardenhour"}}
		must(t, e.report.Begin([]string{"gardenhour"}, clock.Clock{}, nil))
		out := &checkedSink{t: t}
		d := twitch.NewDelivery(&e.report, out, e.chatTime())
		e.read(d, arrival{at, at, frame})
		d.Flush()
	})
}

// FuzzChatEvent_OptionalFields checks that an event with message, channel and author IDs is a
// message, whatever its other fields hold. Its author gets no role from a badge that can't be read.
func FuzzChatEvent_OptionalFields(f *testing.F) {
	for _, field := range []string{"chatter_user_login", "chatter_user_name", "color", "badges", "message", "source_broadcaster_user_id", "source_badges", "reply", "moderator_user_login", "timeout", "action"} {
		for _, value := range []string{"7", `"x"`, "null", "[]", "{}", `[{"set_id":7}]`, `[{"set_id":["moderator"]}]`, `{"text":{}}`, `{"fragments":[{"type":7},null]}`, "\"\xff\"", `{"expires_at":7}`, "[[[[]]]]"} {
			f.Add(field, value)
		}
	}
	f.Fuzz(func(t *testing.T, field, value string) {
		name, err := json.Marshal(field)
		if err != nil || !json.Valid([]byte(value)) || strings.Contains(value, `"`+"set_id") && strings.Contains(value, "moderator\"}") {
			return // not JSON, or a readable badge
		}
		for _, id := range []string{"message_id", "broadcaster_user_id", "chatter_user_id"} {
			if strings.EqualFold(field, id) {
				return // the field would replace an ID
			}
		}
		m, err := readMessage(`{"message_id":"m1","broadcaster_user_id":"10","chatter_user_id":"20",`+string(name)+":"+value+"}", time.Unix(1e9, 0))
		if err != nil || m.ID != "m1" || m.ChannelID != "10" || m.User.ID != "20" {
			t.Fatalf("%+v, %v", m, err)
		}
		if field != "badges" && len(m.User.Roles) > 0 {
			t.Errorf("roles %v for no reason", m.User.Roles)
		}
	})
}

// checkedSink accepts only what can be acted on.
type checkedSink struct{ t *testing.T }

func (s *checkedSink) Messages(_ time.Time, messages []chat.Message) {
	for _, m := range messages {
		if m.ID == "" || m.ChannelID == "" || m.User.ID == "" || twitch.CheckMessage(&m.Message) != nil || m.SentAt.IsZero() {
			s.t.Errorf("let %+v through", m)
		}
	}
}

func (s *checkedSink) Removed(r chat.Removal) {
	if r.ChannelID == "" || twitch.CheckRemoval(&r) != nil || hostile.HasControl(r.By) || r.Silence < 0 || r.Silence > 0 && r.UserID == "" || r.Banned && r.UserID == "" {
		s.t.Errorf("let %+v through", r)
	}
}

func (s *checkedSink) Lifted(l chat.Lift) {
	if l.ChannelID == "" || l.UserID == "" || hostile.HasControl(l.UserID) {
		s.t.Errorf("let %+v through", l)
	}
}
