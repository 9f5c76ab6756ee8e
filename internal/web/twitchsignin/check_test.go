package twitchsignin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// scene has SignIns that run in simulated time, at a fake Twitch with the channels garden and tea.
// Anna moderates garden.
type scene struct {
	*testing.T
	*SignIns
	srv         *faketwitch.Server
	tw          *person.Twitch
	garden, tea string
	served      atomic.Pointer[map[string]string] // the channels, by ID; never nil
	askedBefore int
	owner       string   // login of the owner; empty if there is none
	seen        sync.Map // IDs of accounts, by login
}

// See, Has and Names implement Owners.
func (s *scene) See(_ context.Context, account person.Account) {
	s.seen.Store(account.Login, account.ID)
}
func (s *scene) Has(id string) bool {
	owner, ok := s.seen.Load(s.owner)
	return ok && owner == id
}
func (s *scene) Names() []string { return []string{s.owner} }

func testScene(t *testing.T, test func(t *testing.T, s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := faketwitch.Start(faketwitch.Options{Channels: []string{"garden", "tea"}, ClientSecret: "secret", InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: srv.Dial}}
		s := &scene{T: t, srv: srv, garden: srv.UserID("garden"), tea: srv.UserID("tea"), tw: &person.Twitch{
			HelixURL: srv.HelixURL(), Application: token.Application{AuthURL: srv.AuthURL(), ClientID: srv.ClientID(), Secret: "secret", HTTP: client},
		}}
		srv.RegisterRedirect("https://chat.example.org/" + Callback)
		srv.SetModerator("garden", "anna", true)
		s.served.Store(&map[string]string{s.garden: "garden", s.tea: "tea"})
		s.SignIns, err = New(Options{
			Site: access.Site{PublicURL: &url.URL{Scheme: "https", Host: "chat.example.org"}}, Address: "https://chat.example.org/", Dashboard: true, Metrics: metrics.NewSet(), Log: slog.New(slog.DiscardHandler),
			Twitch:     func() (*person.Twitch, bool) { return s.tw, true },
			Channels:   func() map[string]string { return *s.served.Load() },
			Moderators: func(string) auth.Access { return auth.Moderate },
			Owners:     s,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.SignIns.Run(ctx)
		}()
		test(t, s)
		stop()
		<-ended
		client.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

// signIn signs an account in, and returns its session.
func (s *scene) signIn(login string) (session string) {
	s.Helper()
	a := flow{State: "s", Nonce: "n", For: toDashboard}.authorization(s.opts.Address)
	back, err := s.srv.Authorize(s.tw.Page(a), login)
	if err != nil {
		s.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		s.Fatal(err)
	}
	pair, err := s.tw.Redeem(s.Context(), u.Query().Get("code"), a)
	if err != nil {
		s.Fatal(err)
	}
	session, f := s.admit(s.Context(), s.tw.New(pair, person.ModeratorScopes))
	if f != nil {
		s.Fatal(f)
	}
	return session
}

// asked returns how many requests the fake Twitch has had since the last call.
func (s *scene) asked() (requests int) {
	all := len(s.srv.Requests())
	requests = all - s.askedBefore
	s.askedBefore = all
	return requests
}

// holds reports whether a session is valid.
func (s *scene) holds(session string) bool {
	s.Helper()
	_, ok, err := s.Holder(s.Context(), session)
	if err != nil {
		s.Fatal(err)
	}
	return ok
}

// confirm returns whether a session is valid for using a right, and whether Twitch has said so.
func (s *scene) confirm(session string) (ok, known bool) {
	s.Helper()
	_, ok, err := s.Confirm(s.Context(), session)
	if err != nil && !errors.As(err, new(*problem.Problem)) {
		s.Fatal(err)
	}
	return ok, err == nil
}

// TestCheck_Hourly checks that Twitch is asked about each session within an hour, also while nobody
// uses it, and that a moderator who is none any longer is signed out then.
func TestCheck_Hourly(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		anna, owner := s.signIn("anna"), s.signIn("tea")
		s.asked()
		twitchtest.Pass(54 * time.Minute)
		if n := s.asked(); n != 0 {
			t.Errorf("%d requests too early", n)
		}
		s.srv.SetModerator("garden", "anna", false)
		twitchtest.Pass(6*time.Minute + lookEvery)
		if n := s.asked(); n != 5 { // two each, and anna's token is revoked
			t.Errorf("%d requests in the hour", n)
		}
		if s.holds(anna) || !s.holds(owner) || s.srv.Tokens("anna") != 0 {
			t.Errorf("anna: %v, the owner: %v, %d tokens", s.holds(anna), s.holds(owner), s.srv.Tokens("anna"))
		}
		s.asked()
		twitchtest.Pass(23 * time.Hour)
		if n := s.asked(); n < 2*23 || n > 2*26+6 { // with renewals
			t.Errorf("%d requests in 23 hours", n)
		}
		if !s.holds(owner) || s.srv.Refreshes() < 4 {
			t.Errorf("the owner: %v, %d renewals", s.holds(owner), s.srv.Refreshes())
		}
	})
}

// TestCheck_Gone checks that a session ends as soon as Twitch says that it is gone, whatever the
// reason.
func TestCheck_Gone(t *testing.T) {
	asked := faketwitch.Fault{Status: faketwitch.AsAsked}
	for name, prepare := range map[string]func(*scene){
		"disconnected":     func(s *scene) { s.srv.DisconnectAccount("anna") },
		"refused by Helix": func(s *scene) { s.srv.FailNext(faketwitch.Fault{Status: 401, Message: "Invalid OAuth token"}) },
		"another account": func(s *scene) {
			s.srv.FailNextAuth(faketwitch.Fault{Status: 200, Body: `{"client_id":"fake0client0id","user_id":"5","login":"x","scopes":["user:read:moderated_channels"]}`})
		},
		"another application": func(s *scene) {
			s.srv.FailNextAuth(faketwitch.Fault{Status: 200, Body: `{"client_id":"x","user_id":"5","login":"x","scopes":["user:read:moderated_channels"]}`})
		},
		"a scope less": func(s *scene) {
			s.srv.FailNextAuth(faketwitch.Fault{Status: 200, Body: `{"client_id":"fake0client0id","user_id":"` + s.srv.UserID("anna") + `","login":"anna"}`})
		},
		"not renewed": func(s *scene) {
			twitchtest.Pass(4 * time.Hour)
			s.srv.FailNextAuth(faketwitch.Fault{Status: 400, Message: "Invalid refresh token"})
		},
		"another account after a renewal": func(s *scene) {
			twitchtest.Pass(4 * time.Hour)
			s.srv.FailNextAuth(asked, faketwitch.Fault{Status: 200, Body: `{"client_id":"fake0client0id","user_id":"5","login":"x","scopes":["user:read:moderated_channels"]}`})
		},
	} {
		testScene(t, func(t *testing.T, s *scene) {
			session := s.signIn("anna")
			prepare(s)
			s.NoteChange(s.garden, s.srv.UserID("anna"))
			if ok, known := s.confirm(session); ok || !known || s.holds(session) {
				t.Errorf("%s: %v, %v", name, ok, known)
			}
			if ok, _ := s.confirm(session); ok || s.members.count() != 0 {
				t.Errorf("%s: again %v", name, ok)
			}
		})
	}
}

// TestCheck_TwitchAway checks that a session outlasts an outage of Twitch, but not one of two
// hours, and that Twitch gets few requests meanwhile.
func TestCheck_TwitchAway(t *testing.T) {
	for _, fault := range []faketwitch.Fault{{Status: 500}, {}, {Status: 200, Body: "nonsense"}, {Status: 429}, {Status: 200, Body: `{"client_id":7}`}} {
		testScene(t, func(t *testing.T, s *scene) {
			session := s.signIn("anna")
			s.asked()
			s.srv.FailAuth(&fault)
			twitchtest.Pass(time.Hour + 50*time.Minute)
			if n := s.asked(); !s.holds(session) || n < 8 || n > 25 {
				t.Errorf("%+v: %v, %d requests", fault, s.holds(session), n)
			}
			if ok, known := s.confirm(session); !ok || !known {
				t.Errorf("%+v: no right in the outage", fault)
			}
			twitchtest.Pass(10 * time.Minute)
			if s.holds(session) {
				t.Errorf("%+v: outlasts two hours", fault)
			}
		})
	}
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.srv.FailAuth(&faketwitch.Fault{Status: 500})
		twitchtest.Pass(time.Hour + 45*time.Minute)
		s.srv.FailAuth(nil)
		twitchtest.Pass(retryMax + lookEvery)
		s.asked()
		twitchtest.Pass(40 * time.Minute)
		if n := s.asked(); !s.holds(session) || n != 0 {
			t.Errorf("after the outage: %v, %d requests", s.holds(session), n)
		}
	})
}

// TestOwner checks that an owner has all rights without a standing in any channel, also if none is
// known. A new owner has them soon after the change, and a former one loses them at once.
func TestOwner(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		rights := func(session string) auth.Identity {
			who, _, err := s.Holder(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			return who
		}
		s.owner = "stranger"
		s.served.Store(&map[string]string{})
		stranger := s.signIn("stranger")
		s.served.Store(&map[string]string{s.garden: "garden"})
		anna := s.signIn("anna")
		twitchtest.Pass(time.Hour + lookEvery)
		if who := rights(stranger); who.Access != auth.Own || who.Channels != nil || who.From != auth.FromTwitch {
			t.Errorf("the owner: %+v", who)
		}
		s.owner = "anna"
		if who := rights(stranger); who.Access != auth.Any || who.Channels == nil {
			t.Errorf("no owner any longer: %+v", who)
		}
		twitchtest.Pass(2 * lookEvery)
		if who := rights(anna); who.Access != auth.Own || who.Channels != nil {
			t.Errorf("the new owner: %+v", who)
		}
		if s.holds(stranger) {
			t.Error("somebody without rights is signed in")
		}
	})
}

// TestCheck_Slow checks that a Twitch that never answers doesn't hold a request up for long, that
// reading goes on, and that only one question is under way.
func TestCheck_Slow(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.srv.FailAuth(&faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour})
		s.NoteChange(s.garden, s.srv.UserID("anna"))
		s.asked()
		for range 5 {
			go s.Holder(t.Context(), session)
		}
		began := time.Now()
		if ok, known := s.confirm(session); !ok || known || time.Since(began) != confirmTime {
			t.Errorf("%v, %v after %s", ok, known, time.Since(began))
		}
		if n := s.asked(); n != 1 || !s.holds(session) {
			t.Errorf("%d requests", n)
		}
	})
}

// TestCheck_Doubt checks that after a change that Twitch doesn't explain, reading ends after a
// while, too.
func TestCheck_Doubt(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.asked()
		s.srv.FailAuth(&faketwitch.Fault{Status: 500})
		s.NoteChange(s.garden, s.srv.UserID("anna"))
		for began := time.Now(); time.Since(began) < doubtTime; twitchtest.Pass(time.Second) {
			if !s.holds(session) {
				t.Fatalf("ended after %s", time.Since(began))
			}
			if ok, known := s.confirm(session); !ok || known {
				t.Fatalf("a right after %s: %v, %v", time.Since(began), ok, known)
			}
		}
		if s.holds(session) {
			t.Error("still there")
		}
		if n := s.asked(); n < 3 || n > 10 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestCheck_FollowUp checks that Twitch is asked a second time after a change, because its first
// answer may be old.
func TestCheck_FollowUp(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.NoteChange(s.garden, s.srv.UserID("anna"))
		if ok, known := s.confirm(session); !ok || !known {
			t.Errorf("%v, %v", ok, known)
		}
		s.srv.SetModerator("garden", "anna", false) // what Twitch says only now
		twitchtest.Pass(followUp + lookEvery)
		if s.holds(session) {
			t.Error("still there")
		}
	})
}

// TestCheck_ChangeMeanwhile checks that an answer that Twitch gave before the latest change doesn't
// count.
func TestCheck_ChangeMeanwhile(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.NoteChange(s.garden, s.srv.UserID("anna"))
		s.srv.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Delay: 2 * time.Second})
		s.holds(session)
		twitchtest.Pass(time.Second)
		s.srv.SetModerator("garden", "anna", false)
		s.NoteChange(s.garden, s.srv.UserID("anna"))
		if ok, known := s.confirm(session); ok || !known {
			t.Errorf("%v, %v", ok, known)
		}
	})
}

// TestCheck_Slept checks that a session isn't used for changes after this machine has slept, until
// Twitch has confirmed it.
func TestCheck_Slept(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		slept := time.Duration(0)
		s.opts.Now = func() time.Time { return time.Now().Add(slept) }
		session := s.signIn("anna")
		slept = 8 * time.Hour
		s.srv.FailAuth(&faketwitch.Fault{Status: 500})
		if ok, known := s.confirm(session); !ok || known {
			t.Errorf("%v, %v", ok, known)
		}
		s.srv.FailAuth(nil)
		twitchtest.Pass(retryMin + lookEvery)
		if ok, known := s.confirm(session); !ok || !known {
			t.Errorf("confirmed: %v, %v", ok, known)
		}
	})
}

// TestCheck_Renamed checks that a changed login is taken up, and that another account with the old
// login has no part in it.
func TestCheck_Renamed(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.srv.Rename("anna", "Annabel")
		twitchtest.Pass(time.Hour + lookEvery)
		if who, ok, _ := s.Holder(t.Context(), session); !ok || who.Name != "annabel" || who.Author() != "twitch:annabel" {
			t.Errorf("%+v, %v", who, ok)
		}
	})
}

// TestSessions_Bounded checks that the oldest sessions end: of one person, and of all.
func TestSessions_Bounded(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		owner := s.signIn("tea")
		var own []string
		for range mostOwn + 3 {
			own = append(own, s.signIn("anna"))
			twitchtest.Pass(time.Second)
		}
		for i, session := range own {
			if s.holds(session) != (i >= 3) {
				t.Errorf("session %d of %d", i, len(own))
			}
		}
		if !s.holds(owner) || len(s.List()) != mostOwn+1 {
			t.Errorf("%d sessions", len(s.List()))
		}
		for n := range mostSessions {
			s.members.add(s.opts.Channels(), s.Names(), &session{id: access.SessionID(string(rune(n))), account: person.Account{ID: string(rune(n))}, begun: time.Now(), used: time.Now(), person: s.tw.New(token.Pair{}, nil)})
		}
		if s.members.count() != mostSessions || s.holds(owner) {
			t.Errorf("%d sessions", s.members.count())
		}
	})
}

// TestMembers_FewQuestionsAtOnce checks that only so many questions to Twitch are in progress.
func TestMembers_FewQuestionsAtOnce(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		answer := make(chan struct{})
		for n := range mostAsking + 1 {
			if begun := s.members.start(func(context.Context) { <-answer }); begun != (n < mostAsking) {
				t.Errorf("question %d: begun %v", n+1, begun)
			}
		}
		close(answer)
		synctest.Wait()
		if !s.members.start(func(context.Context) {}) {
			t.Error("none can begin after the answers")
		}
	})
}

// TestSessions_Idle checks that a session ends that nobody uses for a week, and that any session
// ends after a month.
func TestSessions_Idle(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		idle, used := s.signIn("anna"), s.signIn("anna")
		for range 29 {
			twitchtest.Pass(24 * time.Hour)
			if !s.holds(used) {
				t.Fatal("a session in use has ended")
			}
		}
		if s.holds(idle) {
			t.Error("an idle session is still there")
		}
		twitchtest.Pass(24 * time.Hour)
		if s.holds(used) || s.members.count() != 0 {
			t.Error("a session outlasts a month")
		}
	})
}

// TestSessions_WholeSecret checks that a secret that shares only the ID with a session isn't valid.
func TestSessions_WholeSecret(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.members.sessions[access.SessionID("other")] = s.members.sessions[access.SessionID(session)]
		s.End("other")
		if s.holds("other") || !s.holds(session) {
			t.Error("the ID is enough")
		}
		delete(s.members.sessions, access.SessionID("other"))
	})
}

func TestSessions_EndByID(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		list := s.List()
		if len(list) != 1 || list[0].ID != access.SessionID(session) || list[0].Name != "anna" || list[0].From != auth.FromTwitch || list[0].Used.IsZero() {
			t.Fatalf("%+v", list)
		}
		if s.EndByID("x") || !s.EndByID(list[0].ID) || s.EndByID(list[0].ID) || s.holds(session) {
			t.Error("not ended once")
		}
		synctest.Wait()
		if s.srv.Tokens("anna") != 0 {
			t.Error("the token is valid")
		}
	})
}

// sink receives what a source says.
type sink struct {
	messages []chatguard.Message
	removals []chat.Removal
}

func (r *sink) Messages(_ time.Time, messages []chatguard.Message) {
	r.messages = append(r.messages, messages...)
}
func (r *sink) Removed(removal chat.Removal) { r.removals = append(r.removals, removal) }

// said is a chat source that passes on messages and removals.
type said struct {
	messages []chatguard.Message
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
			return said{messages: []chatguard.Message{{ChannelID: channelID, User: chatguard.User{ID: userID, Roles: chatguard.RolesOf(roles...)}}}}
		}
		shared := message(s.garden, anna)
		shared.messages[0].SourceChannelID = s.tea
		for name, c := range map[string]struct {
			says said
			asks bool
		}{
			"her badge":         {message(s.garden, anna, chatguard.Moderator), false},
			"a lead's badge":    {message(s.garden, anna, chatguard.LeadModerator), false},
			"no badge":          {message(s.garden, anna), true},
			"only a subscriber": {message(s.garden, anna, chatguard.Subscriber), true},
			"a new badge":       {message(s.tea, anna, chatguard.Moderator), true},
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
		unbadged := said{messages: []chatguard.Message{{ChannelID: s.garden, User: chatguard.User{ID: s.srv.UserID("anna")}}}}
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

// TestCheck_OtherChannels checks that a newly served channel is found soon.
func TestCheck_OtherChannels(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		twitchtest.Pass(lookEvery)
		session := s.signIn("anna")
		attic := s.srv.AddChannel("attic")
		s.srv.SetModerator("attic", "anna", true)
		s.served.Store(&map[string]string{s.garden: "garden", attic: "attic"})
		twitchtest.Pass(lookEvery)
		if who, _, _ := s.Holder(t.Context(), session); who.Channels[attic] != auth.Moderate || who.Channels[s.garden] != auth.Moderate {
			t.Errorf("%+v", who)
		}
	})
}

// TestFinish_Slow checks that a Twitch that never answers leaves people with a page that says so,
// and that only so many sign-ins wait for it.
func TestFinish_Slow(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		s.Join(func(http.ResponseWriter, *http.Request, string) { t.Error("somebody is signed in") })
		s.srv.FailAuth(&faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour})
		var answers [mostAsking + 1]*httptest.ResponseRecorder
		began := time.Now()
		for i := range answers {
			answers[i] = httptest.NewRecorder()
			back := s.begin(fmt.Sprintf("192.0.2.%d", i))
			go s.Finish(answers[i], back)
			synctest.Wait() // it asks Twitch now
		}
		if last := answers[mostAsking]; last.Code != http.StatusServiceUnavailable || !strings.Contains(last.Body.String(), "Too many sign-ins at once") || !time.Now().Equal(began) {
			t.Errorf("one too many: %d %s", last.Code, last.Body)
		}
		twitchtest.Pass(patience)
		for _, a := range answers[:mostAsking] {
			if a.Code != http.StatusBadGateway || !strings.Contains(a.Body.String(), "Twitch does not answer") {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		}
		if n := s.asked(); n != mostAsking {
			t.Errorf("%d requests", n)
		}
	})
}

// begin begins a sign-in from an address, lets anna authorize it, and returns the request with
// which the browser comes back.
func (s *scene) begin(from string) *http.Request {
	s.Helper()
	request := func(address string) *http.Request {
		r := httptest.NewRequest("GET", address, nil)
		r.RemoteAddr = from + ":1"
		return r
	}
	w := httptest.NewRecorder()
	if err := s.BeginCode(w, request(s.opts.Address+Begin)); err != nil {
		s.Fatal(err)
	}
	back, err := s.srv.Authorize(w.Header().Get("Location"), "anna")
	if err != nil {
		s.Fatal(err)
	}
	r := request(back)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}
