package twitchsignin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

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
			if ok, _ := s.confirm(session); ok || s.Members.len() != 0 {
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

// TestMembers_FewQuestionsAtOnce checks that only so many questions to Twitch are in progress.
func TestMembers_FewQuestionsAtOnce(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		answer := make(chan struct{})
		for n := range mostAsking + 1 {
			if begun := s.Members.start(func(context.Context) { <-answer }); begun != (n < mostAsking) {
				t.Errorf("question %d: begun %v", n+1, begun)
			}
		}
		close(answer)
		synctest.Wait()
		if !s.Members.start(func(context.Context) {}) {
			t.Error("none can begin after the answers")
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
