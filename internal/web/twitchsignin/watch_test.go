package twitchsignin

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/roles"
)

// sink receives what a source says.
type sink struct {
	messages []chat.Message
	removals []chat.Removal
}

func (r *sink) Messages(_ time.Time, messages []chat.Message) {
	r.messages = append(r.messages, messages...)
}
func (r *sink) Removed(removal chat.Removal) { r.removals = append(r.removals, removal) }
func (r *sink) Lifted(chat.Lift)             {}

// said is a chat source that passes on messages and removals.
type said struct {
	messages []chat.Message
	removals []chat.Removal
}

func (s said) Run(_ context.Context, to chat.Sink) error {
	if len(s.messages) > 0 {
		to.Messages(time.Time{}, s.messages)
	}
	for _, r := range s.removals {
		to.Removed(r)
	}
	return nil
}

// TestWatch checks what in a chat makes Twitch be asked: badges that differ from what is known, a
// ban and a timeout; and what doesn't.
func TestWatch(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		anna := s.srv.UserID("anna")
		message := func(channelID, userID string, roles ...chatguard.Role) said {
			return said{messages: []chat.Message{{Message: chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: userID, Roles: chatguard.Roles(roles)}}}}}
		}
		shared := message(s.garden, anna)
		shared.messages[0].SourceChannelID = s.tea
		for name, c := range map[string]struct {
			says said
			asks bool
		}{
			"her badge":         {message(s.garden, anna, chatguard.RoleModerator), false},
			"a lead's badge":    {message(s.garden, anna, roles.LeadModerator), false},
			"no badge":          {message(s.garden, anna), true},
			"only a subscriber": {message(s.garden, anna, roles.Subscriber), true},
			"a new badge":       {message(s.tea, anna, chatguard.RoleModerator), true},
			"nothing elsewhere": {message(s.tea, anna), false},
			"somebody else":     {message(s.garden, "5"), false},
			"another channel's": {shared, false},
			"banned":            {said{removals: []chat.Removal{{ChannelID: s.garden, UserID: anna, Banned: true}}}, true},
			"timed out":         {said{removals: []chat.Removal{{ChannelID: s.garden, UserID: anna, Silence: time.Minute}}}, true},
			"a deleted message": {said{removals: []chat.Removal{{ChannelID: s.garden, UserID: anna, MessageID: "m"}}}, false},
			"a cleared chat":    {said{removals: []chat.Removal{{ChannelID: s.garden}}}, false},
			"another's ban":     {said{removals: []chat.Removal{{ChannelID: s.garden, UserID: "5", Banned: true}}}, false},
			"banned elsewhere":  {said{removals: []chat.Removal{{ChannelID: "99", UserID: anna, Banned: true}}}, false},
		} {
			session := s.signIn("anna")
			twitchtest.Pass(suspectEvery)
			s.asked()
			var heard sink
			if err := s.Watch(c.says).Run(t.Context(), &heard); err != nil || len(heard.messages) != len(c.says.messages) || len(heard.removals) != len(c.says.removals) {
				t.Errorf("%s: heard %+v, %v", name, heard, err)
			}
			if ok, known := s.confirm(session); !ok || !known || (s.asked() > 0) != c.asks {
				t.Errorf("%s: %v, %v", name, ok, known)
			}
			s.End(session)
			synctest.Wait()
		}
	})
}

// TestWatch_Flood checks that a moderator who writes much doesn't make chatguard ask much, while
// badges and Twitch's answers differ.
func TestWatch_Flood(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.asked()
		unbadged := said{messages: []chat.Message{{Message: chatguard.Message{ChannelID: s.garden, User: chatguard.User{ID: s.srv.UserID("anna")}}}}}
		for range 600 {
			if err := s.Watch(unbadged).Run(t.Context(), &sink{}); err != nil {
				t.Fatal(err)
			}
			if ok, known := s.confirm(session); !ok || !known {
				t.Fatalf("%v, %v", ok, known)
			}
			twitchtest.Pass(time.Second)
		}
		if n := s.asked(); n < 16 || n > 24 { // two each minute
			t.Errorf("%d requests in ten minutes", n)
		}
	})
}
