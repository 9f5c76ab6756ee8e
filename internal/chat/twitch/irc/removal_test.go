package irc

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/hostile"
)

// diary is a chat.Sink that records what it receives, in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) Messages(_ time.Time, messages []chat.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range messages {
		d.entries = append(d.entries, m.ID)
	}
}

func (d *diary) Removed(r chat.Removal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf("%s/%s/%s/%s/%v/%d", r.ChannelID, r.MessageID, r.UserID, r.Silence, r.Banned, r.At.Unix()))
}

func (d *diary) Lifted(chat.Lift) {} // IRC doesn't report it

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.entries)
}

// TestIRC_Removals checks that the actions of other moderators are delivered with all IDs, and in
// order with the messages.
func TestIRC_Removals(t *testing.T) {
	twitchtest.Bubble(t, []string{"room", "den"}, func(t *testing.T, srv *faketwitch.Server) {
		irc, d := &Conn{Channels: []string{"room", "den"}, Address: srv.IRCAddress(), Dial: srv.Dial}, &diary{}
		twitchtest.Run(t, irc, d)
		waitJoined(t, irc)
		room, anna, now := srv.UserID("room"), srv.UserID("anna"), time.Now().Unix()
		var want []string
		says := func(channel, login string) string {
			id := twitchtest.Say(t, srv, faketwitch.Line{Channel: channel, Login: login, Text: "hello"})
			want = append(want, id)
			return id
		}
		first := says("room", "anna")
		srv.RemoveMessage(first)
		says("room", "anna")
		srv.Silence("room", "anna", 10*time.Minute)
		says("den", "anna")
		srv.Silence("den", "anna", 0)
		says("room", "berta")
		srv.Clear("room")
		says("room", "berta")
		removed := func(channelID, rest string) string { return fmt.Sprintf("%s/%s/%d", channelID, rest, now) }
		want = slices.Insert(want, 1, removed(room, first+"//0s/false"))
		want = slices.Insert(want, 3, removed(room, "/"+anna+"/10m0s/false"))
		want = slices.Insert(want, 5, removed(srv.UserID("den"), "/"+anna+"/0s/true"))
		want = slices.Insert(want, 7, removed(room, "//0s/false"))
		twitchtest.Eventually(t, "all of it", func() bool { return len(d.all()) == len(want) })
		if got := d.all(); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if s := irc.Status(); s.Messages != 5 || len(s.Skipped) != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestParseRemoval(t *testing.T) {
	at := time.UnixMilli(1642719320727)
	const (
		sent   = "tmi-sent-ts=1642719320727"
		server = " :tmi.twitch.tv "
	)
	for name, c := range map[string]struct {
		line string
		want chat.Removal
		err  error
	}{
		"timeout":             {"@ban-duration=350;room-id=10;target-user-id=20;" + sent + server + "CLEARCHAT #room :anna", chat.Removal{ChannelID: "10", UserID: "20", Login: "anna", Silence: 350 * time.Second, At: at}, nil},
		"ban":                 {"@room-id=10;target-user-id=20;" + sent + server + "CLEARCHAT #room :anna", chat.Removal{ChannelID: "10", UserID: "20", Login: "anna", Banned: true, At: at}, nil},
		"hostile login":       {"@room-id=10;target-user-id=20;" + sent + server + "CLEARCHAT #room :an\x1bna", chat.Removal{ChannelID: "10", UserID: "20", Banned: true, At: at}, nil},
		"clear":               {"@room-id=10;" + sent + server + "CLEARCHAT #room", chat.Removal{ChannelID: "10", At: at}, nil},
		"delete":              {"@login=anna;room-id=;target-msg-id=m1;" + sent + server + "CLEARMSG #room :hi", chat.Removal{ChannelID: "77", MessageID: "m1", At: at}, nil},
		"delete with room":    {"@login=anna;room-id=10;target-msg-id=m1;" + sent + server + "CLEARMSG #room :hi", chat.Removal{ChannelID: "10", MessageID: "m1", At: at}, nil},
		"mirrored delete":     {"@room-id=10;source-room-id=11;target-msg-id=m1" + server + "CLEARMSG #room :hi", chat.Removal{ChannelID: "10", MessageID: "m1"}, nil},
		"no time":             {"@room-id=10" + server + "CLEARCHAT #room", chat.Removal{ChannelID: "10"}, nil},
		"longest timeout":     {"@ban-duration=1209600;room-id=10;target-user-id=20" + server + "CLEARCHAT #room :anna", chat.Removal{ChannelID: "10", UserID: "20", Login: "anna", Silence: 14 * 24 * time.Hour}, nil},
		"user without ID":     {"@room-id=10" + server + "CLEARCHAT #room :anna", chat.Removal{}, twitch.NoUserID},
		"user without colon":  {"@room-id=10" + server + "CLEARCHAT #room anna", chat.Removal{}, twitch.NoUserID},
		"empty user ID":       {"@room-id=10;target-user-id=;ban-duration=5" + server + "CLEARCHAT #room :anna", chat.Removal{}, twitch.NoUserID},
		"duration of nobody":  {"@room-id=10;ban-duration=5" + server + "CLEARCHAT #room", chat.Removal{}, twitch.NoUserID},
		"duration no number":  {"@room-id=10;ban-duration=x;target-user-id=20" + server + "CLEARCHAT #room :anna", chat.Removal{}, twitch.Malformed},
		"duration of nothing": {"@room-id=10;ban-duration=0;target-user-id=20" + server + "CLEARCHAT #room :anna", chat.Removal{}, twitch.Malformed},
		"duration past all":   {"@room-id=10;ban-duration=9223372036854775807;target-user-id=20" + server + "CLEARCHAT #room :anna", chat.Removal{}, twitch.Malformed},
		"delete of nothing":   {"@room-id=10;target-msg-id=" + server + "CLEARMSG #room :hi", chat.Removal{}, twitch.NoMessageID},
		"delete without tags": {":tmi.twitch.tv CLEARMSG #room :hi", chat.Removal{}, twitch.NoMessageID},
		"control in an ID":    {`@room-id=1\n0` + server + "CLEARCHAT #room", chat.Removal{}, twitch.Malformed},
	} {
		line, err := split(c.line)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := parseRemoval(line, "77")
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, err, c.want, c.err)
		}
	}
	// These lines make go-twitch-irc's parser panic, or would mean that a whole chat was cleared.
	for _, text := range []string{"CLEARCHAT", "CLEARCHAT #room", "@target-user-id=5 CLEARCHAT", "@target-msg-id=m1 CLEARMSG", "CLEARMSG"} {
		line, err := split(text)
		must(t, err)
		if r, err := parseRemoval(line, ""); !errors.As(err, new(twitch.SkipReason)) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}

// TestIRC_BadRemovals checks that removals that can't be read are counted, and that reading
// continues.
func TestIRC_BadRemovals(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		irc, d := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial}, &diary{}
		twitchtest.Run(t, irc, d)
		waitJoined(t, irc)
		srv.SendRaw("CLEARCHAT", "CLEARMSG", "CLEARCHAT #room :anna", "@room-id=1;target-user-id=1 :tmi.twitch.tv CLEARCHAT #elsewhere :anna")
		id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "hello"})
		twitchtest.Eventually(t, "the message", func() bool { return len(d.all()) > 0 })
		if s := irc.Status(); d.all()[0] != id || s.Skipped[twitch.NoRoomID] != 1 || s.Skipped[twitch.NoMessageID] != 1 || s.Skipped[twitch.NoUserID] != 1 || len(s.Skipped) != 3 {
			t.Errorf("%q, skipped %v", d.all(), s.Skipped)
		}
	})
}

// FuzzParseRemoval checks that no line causes a panic or removes too much: a delete names its
// message, and all IDs are valid.
func FuzzParseRemoval(f *testing.F) {
	for _, seed := range []string{
		"CLEARCHAT", "CLEARMSG", "@room-id=10;target-user-id=20;ban-duration=5 :t CLEARCHAT #room :anna", "@room-id=10 :t CLEARCHAT #room",
		"@room-id=;target-msg-id=m1 :t CLEARMSG #room :hi", "@ban-duration=-1;target-user-id=\\n CLEARCHAT #a :b", "@target-msg-id CLEARMSG #\xff",
		"@badges=moderator/1;mod=1 :t USERSTATE #room", "@badges=,/,;mod USERSTATE",
	} {
		f.Add(seed, "10")
	}
	f.Fuzz(func(t *testing.T, text, roomID string) {
		line, err := split(text)
		if err != nil {
			return
		}
		isModerator(line)
		r, err := parseRemoval(line, roomID)
		switch {
		case err != nil:
			if r.ChannelID == "" && r != (chat.Removal{}) {
				t.Errorf("%+v beside %v", r, err)
			}
			return
		case r.ChannelID == "" || hostile.HasControl(r.ChannelID+r.MessageID+r.UserID):
			t.Errorf("let %+v through", r)
		case line.command == "CLEARMSG" && (r.MessageID == "" || r.UserID != ""):
			t.Errorf("a delete is %+v", r)
		case r.UserID == "" && (r.Banned || r.Silence != 0), r.Silence < 0, r.Banned && r.Silence != 0:
			t.Errorf("silenced: %+v", r)
		}
	})
}
