package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
)

// fakeMembers are people whose sessions the test keeps.
type fakeMembers struct {
	mu       sync.Mutex
	sessions map[string]auth.Identity
}

func (m *fakeMembers) Holder(_ context.Context, session string) (auth.Identity, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	who, ok := m.sessions[session]
	return who, ok, nil
}

func (m *fakeMembers) Confirm(ctx context.Context, session string) (auth.Identity, bool, error) {
	return m.Holder(ctx, session)
}

func (m *fakeMembers) set(session string, who auth.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[session] = who
}

func (m *fakeMembers) End(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
}

func (m *fakeMembers) List() (list []auth.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for session, who := range m.sessions {
		list = append(list, auth.Session{Identity: who, ID: access.SessionID(session)})
	}
	return list
}

func (m *fakeMembers) EndByID(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.sessions)
	maps.DeleteFunc(m.sessions, func(session string, _ auth.Identity) bool { return access.SessionID(session) == id })
	return len(m.sessions) < before
}

// withMembers returns an option that adds members, and the members.
func withMembers() (*fakeMembers, func(*Options)) {
	m := &fakeMembers{sessions: map[string]auth.Identity{}}
	return m, func(o *Options) { o.Access.Members = m }
}

// startMember starts a session of a member, and returns its cookie.
func (d *dashboard) startMember(m *fakeMembers, who auth.Identity) *http.Cookie {
	session, w := access.NewMemberSession(), httptest.NewRecorder()
	m.set(session, who)
	d.server.access.StartMember(w, httptest.NewRequest("GET", "http://"+d.address+"/", nil), session)
	return w.Result().Cookies()[0]
}

// hiddenID is the ID of the channel that is invisible to the moderator in the tests of scopes. All
// names and texts in it contain "hidden".
const hiddenID = "8"

var hiddenUser = chatguard.User{ID: "42", Login: "hiddenuser", DisplayName: "HiddenUser"}

// twoChannels is an option for a dashboard with a second channel, whose ID is hiddenID.
func twoChannels(o *Options) {
	o.Live.Channels = func() []live.Channel {
		return []live.Channel{{ID: channelID, Login: "somechannel"}, {ID: hiddenID, Login: "hiddenroom"}}
	}
	o.Live.Connections = func() []live.Connection {
		return []live.Connection{
			{Name: "Twitch", State: live.Connected, Detail: "#hiddenroom: no such channel"},
			{Channel: hiddenID, Name: "#hiddenroom", State: live.Paused, Detail: "by hidden"},
			{Channel: live.SeveralChannels, Name: "and 1 more hidden", State: live.Observing},
			{Channel: channelID, Name: "#somechannel", State: live.Paused, Detail: "by anna"},
		}
	}
	o.ExportPolicy = func(chatguard.Policy) ([]byte, error) { return []byte("mode = \"observe\"\n"), nil }
	o.Login = &fakeLogin{}
	o.Setup = func(string) (BotSetup, bool) { return BotSetup{}, true }
}

// fillHidden lets people write and act in the hidden channel, and returns an entry of its journal.
func (d *dashboard) fillHidden() (entry chatguard.EntryID) {
	d.Helper()
	for i := range 5 {
		v, err := d.guard.Check(d.Context(), chatguard.Message{
			ID: fmt.Sprint("hidden", i), ChannelID: hiddenID, User: hiddenUser, Text: "hidden words", SentAt: d.now(),
		})
		if err != nil {
			d.Fatal(err)
		}
		entry = v.EntryID
	}
	hidden := journal.Target{ChannelID: hiddenID, UserID: hiddenUser.ID, Author: "token:hidden"}
	if _, _, err := d.control.Notes.Add(d.Context(), hidden, "a hidden note"); err != nil {
		d.Fatal(err)
	}
	if _, err := d.control.Users.SetOverride(d.Context(), hidden, nil, chatguard.UserOverride{Timezone: "Asia/Tokyo"}); err != nil {
		d.Fatal(err)
	}
	if _, err := d.control.Switches.Pause(d.Context(), hiddenID, "token:hidden"); err != nil {
		d.Fatal(err)
	}
	return entry
}

// The live feed shows only the channels that its reader may see. If the reader loses the channel,
// the feed asks for a sign-in. If other channels become visible or invisible, it starts again.
func TestScope_LiveFeed(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, twoChannels, addMembers)
	d.say(spammer, 5)
	d.fillHidden()
	moderator := func(rights map[string]auth.Access) auth.Identity {
		return auth.Identity{Name: "clara", Access: auth.Moderate, From: auth.FromTwitch, Channels: rights}
	}
	one, both := map[string]auth.Access{channelID: auth.Moderate}, map[string]auth.Access{channelID: auth.Moderate, hiddenID: auth.View}
	for _, c := range []struct {
		name string
		from map[string]auth.Access
		to   map[string]auth.Access
		ends websocket.StatusCode
	}{
		{"another channel", one, both, websocket.StatusGoingAway},
		{"fewer channels", both, one, websocket.StatusGoingAway},
		{"fewer rights", one, map[string]auth.Access{channelID: auth.View}, websocket.StatusGoingAway},
		{"no rights", one, map[string]auth.Access{hiddenID: auth.Own}, live.SignedOut},
	} {
		cookie := d.startMember(members, moderator(c.from))
		l := d.listenWith("Cookie", cookie.String(), "")
		for _, kind := range []live.FrameType{live.SnapshotFrame, live.StatusFrame} {
			fr := l.next(kind)
			data, err := json.Marshal(fr)
			if err != nil {
				t.Fatal(err)
			}
			_, seesHidden := c.from[hiddenID]
			if len(fr.Channels) != len(c.from) || strings.Contains(string(data), "hiddenroom") != seesHidden || strings.Contains(string(data), "hidden words") {
				t.Errorf("%s: a %s shows %s", c.name, kind, data)
			}
		}
		members.set(cookie.Value, moderator(c.to))
		if code := l.waitClosed(); code != c.ends {
			t.Errorf("%s: the feed ends with %d, want %d", c.name, code, c.ends)
		}
	}
	for channel, want := range map[string]int{hiddenID: http.StatusNotFound, "": http.StatusUnprocessableEntity} {
		_, answer, err := d.dial(channel, http.Header{"Cookie": {d.startMember(members, moderator(one)).String()}}, "")
		if err == nil || answer == nil || answer.StatusCode != want {
			t.Errorf("the feed of channel %q: %v, %v", channel, answer, err)
		}
	}
}

// A member's session ends when they sign out, and their changes have their name on Twitch.
func TestMembers_Session(t *testing.T) {
	members, addMembers := withMembers()
	d := dash(t, addMembers)
	who := auth.Identity{Name: "clara", Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own}}
	as := addCookie(d.startMember(members, who))
	me := decode[access.SignedInAs](t, d.do("GET", "/api/v1/session", nil, as))
	if me.Author != journal.TwitchAuthor+"clara" || me.Channels[channelID] != auth.Own {
		t.Errorf("signed in as %+v", me)
	}
	decode[switchedTo](t, d.do("POST", channelPath+"/pause", nil, as))
	if by := d.control.Switches.Of(channelID).PausedBy; by != journal.TwitchAuthor+"clara" {
		t.Errorf("paused by %s", by)
	}
	if a := d.do("DELETE", "/api/v1/session", nil, as); a.StatusCode != http.StatusNoContent || len(members.sessions) != 0 {
		t.Errorf("signing out: %s, %v", a.Status, members.sessions)
	}
	d.wantStatus("signed out", http.StatusUnauthorized, "GET", "/api/v1/session", nil, as)
}

// fakeLogin is a bot's login that the test controls.
type fakeLogin struct {
	clientID, author string
	login            Login
	err              error
	canceled         int
}

func (f *fakeLogin) Begin(_ context.Context, clientID, author string) (Login, error) {
	f.clientID, f.author = clientID, author
	return f.login, f.err
}
func (f *fakeLogin) Login() Login { return f.login }
func (f *fakeLogin) Cancel()      { f.canceled++ }
