//go:build !race

package web

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

const modesPath = channelPath + "/modes"

// TestModes_Switched checks that chat modes reach the chat, and the audit with their author.
func TestModes_Switched(t *testing.T) {
	d := dash(t)
	for _, body := range []any{
		map[string]any{"slow_mode": true, "slow_mode_wait_time": 30},
		map[string]any{"follower_mode": true, "follower_mode_duration": 0, "emote_mode": true},
		map[string]any{"emote_mode": false},
	} {
		if a := decode[modesSwitched](t, d.do("PATCH", modesPath, body, asOwner)); !a.Saved {
			t.Errorf("%v: not saved", body)
		}
	}
	if want := (journal.ChatModes{SlowMode: true, SlowModeWait: 30, FollowerMode: true}); d.chat.modes != want {
		t.Errorf("the chat has %+v, want %+v", d.chat.modes, want)
	}
	changes := decode[auditAnswer](t, d.do("GET", "/api/v1/audit", nil, asOwner)).Changes
	if len(changes) != 3 || changes[2].Action != journal.ChatModesChanged || changes[2].Author != auth.OwnerName || string(changes[2].Detail) != `{"slow_mode":true,"slow_mode_wait_time":30}` {
		t.Errorf("audit: %+v", changes)
	}
}

// TestModes_Refused checks that a bad change is refused with a sentence, and reaches neither the
// chat nor the audit. If the chat doesn't answer, the audit has that.
func TestModes_Refused(t *testing.T) {
	d := dash(t)
	refusal := errors.New("the bot isn't a moderator here: type /mod bot in the chat of somechannel")
	for _, c := range []struct {
		path    string
		body    any
		as      func(*http.Request)
		refusal error
		status  int
		says    string
	}{
		{modesPath, map[string]any{}, asOwner, nil, 422, `name at least one chat mode, such as \"slow_mode\"`},
		{modesPath, map[string]any{"slow_mode": true, "slow_mode_wait_time": 2}, asOwner, nil, 422, `\"slow_mode_wait_time\" must be 3 to 120 seconds`},
		{modesPath, map[string]any{"slow_mode_wait_time": 30}, asOwner, nil, 422, `\"slow_mode_wait_time\" needs \"slow_mode\": true`},
		{modesPath, map[string]any{"follower_mode": true, "follower_mode_duration": 129_601}, asOwner, nil, 422, `which is 90 days`},
		{modesPath, map[string]any{"follower_mode": false, "follower_mode_duration": 5}, asOwner, nil, 422, `\"follower_mode_duration\" needs`},
		{modesPath, map[string]any{"shield_mode": true}, asOwner, nil, 400, `shield_mode`},
		{"/api/v1/channels/99/modes", map[string]any{"emote_mode": true}, asOwner, nil, 404, `There is no channel`},
		{modesPath, map[string]any{"emote_mode": true}, d.as(auth.Help), nil, 403, `needs moderate access`},
		{modesPath, map[string]any{"emote_mode": true}, asOwner, refusal, 422, `the bot isn't a moderator here: type /mod`},
		{modesPath, map[string]any{"emote_mode": true}, asOwner, control.ErrUnanswered, 503, `did not confirm in time`},
	} {
		d.chat.refuse(c.refusal)
		d.wantProblem(c.says, "PATCH", c.path, c.body, []func(*http.Request){c.as}, c.status, c.says)
	}
	if d.chat.modes != (journal.ChatModes{}) {
		t.Errorf("the chat has %+v", d.chat.modes)
	}
	if changes := decode[auditAnswer](t, d.do("GET", "/api/v1/audit", nil, asOwner)).Changes; len(changes) != 1 || changes[0].Action != journal.Unconfirmed {
		t.Errorf("audit: %+v", changes)
	}
}

// TestModes_ToAllFeeds checks that modes that somebody has changed in the chat reach all
// dashboards, and that unknown modes are left out.
func TestModes_ToAllFeeds(t *testing.T) {
	var mu sync.Mutex
	var known *journal.ChatModes
	d := dash(t, func(o *Options) {
		o.Live.Channels = func() []live.Channel {
			mu.Lock()
			defer mu.Unlock()
			return []live.Channel{{ID: channelID, Login: "somechannel", Modes: known}}
		}
	})
	feeds := []*listener{d.listen(), d.listenAgain()}
	for _, l := range feeds {
		if fr := l.next(live.SnapshotFrame); fr.Channels[0].Modes != nil {
			t.Errorf("unknown modes are %+v", fr.Channels[0].Modes)
		}
	}
	mu.Lock()
	known = &journal.ChatModes{SubscriberMode: true}
	mu.Unlock()
	d.server.ChannelsChanged()
	for _, l := range feeds {
		for {
			if fr := l.next(live.StatusFrame); fr.Channels[0].Modes != nil && fr.Channels[0].Modes.SubscriberMode {
				break
			}
		}
	}
}
