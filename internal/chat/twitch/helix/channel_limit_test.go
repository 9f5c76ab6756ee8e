package helix

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// crowdStage is a Client in simulated time, with a channel full of users.
type crowdStage struct {
	*testing.T
	srv  *faketwitch.Server
	h    *Client
	room Room
}

func testCrowd(t *testing.T, o faketwitch.Options, play func(*crowdStage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Channels = []string{"room", "other"}
		srv, h := startInMemory(t, o)
		play(&crowdStage{t, srv, h, Room{srv.UserID("room"), srv.BotID()}})
	})
}

// timeOut times n users out at once. It returns how many were, and the reasons why others weren't.
func (s *crowdStage) timeOut(n int, how sending) (done int, held []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for user := range n {
		all.Go(func() {
			err := s.h.timeOut(s.Context(), s.room, strconv.Itoa(user+1), time.Minute, "", how)
			mu.Lock()
			defer mu.Unlock()
			if busy, ok := errors.AsType[*chat.HeldError](err); ok {
				held = append(held, busy.Why)
			} else if err == nil {
				done++
			} else {
				s.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(held)
	return done, slices.Compact(held)
}

// tooMany returns how many requests Twitch has refused because there were too many.
func (s *crowdStage) tooMany() (n int) {
	for _, r := range s.srv.Requests() {
		if r.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// TestChannelLimit_Pace checks our own pace: 90 timeouts and bans in 31 s and channel, and 8 more
// for what people want. Nobody waits for more, and Twitch has to refuse nothing.
func TestChannelLimit_Pace(t *testing.T) {
	testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
		why := []string{"Twitch accepts no more timeouts in this channel for 31 s"}
		began := time.Now()
		if done, held := s.timeOut(250, sending{}); done != 90 || !slices.Equal(held, why) {
			s.Errorf("%d timeouts, then %q", done, held)
		}
		if err := s.h.ban(s.Context(), s.room, "7", "", sending{}); err == nil || !strings.Contains(err.Error(), "no more bans in this channel for 31 s") {
			s.Errorf("a ban: %v", err)
		}
		if done, _ := s.timeOut(9, sending{essential: true}); done != 8 {
			s.Errorf("%d more for people", done)
		}
		if err := s.h.UnbanUser(s.Context(), s.room, "1"); err == nil || !strings.Contains(err.Error(), "no more unbans") {
			s.Errorf("an unban: %v", err)
		}
		must(s, s.h.DeleteMessage(s.Context(), s.room, "gone"))
		must(s, s.h.WarnUser(s.Context(), s.room, "7", "slow down"))
		must(s, s.h.timeOut(s.Context(), Room{s.srv.UserID("other"), s.srv.BotID()}, "7", time.Minute, "", sending{}))
		if took := time.Since(began); took > 0 {
			s.Errorf("somebody waited %s", took)
		}
		time.Sleep(limitSpan)
		if done, _ := s.timeOut(250, sending{}); done != 90 {
			s.Errorf("%d timeouts after a while", done)
		}
		if n := s.tooMany(); n > 0 {
			s.Errorf("Twitch refused %d requests", n)
		}
	})
}

// TestChannelLimit_Needless checks that a timeout that isn't needed any more doesn't count.
func TestChannelLimit_Needless(t *testing.T) {
	testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
		for range 100 {
			if err := s.h.timeOut(s.Context(), s.room, "7", time.Minute, "", sending{unless: func() bool { return true }}); !errors.Is(err, errNeedless) {
				s.Fatal(err)
			}
		}
		if done, _ := s.timeOut(100, sending{}); done != 90 {
			s.Errorf("%d timeouts", done)
		}
		if err := s.h.timeOut(s.Context(), s.room, "7", time.Minute, "", sending{unless: func() bool { return true }}); !errors.Is(err, errNeedless) {
			s.Errorf("it is held: %v", err)
		}
	})
}

// TestChannelLimit_NoBudget checks that a timeout that is held doesn't wait for the budget first.
func TestChannelLimit_NoBudget(t *testing.T) {
	testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
		s.timeOut(90, sending{})
		began := time.Now()
		s.h.budget.hold(began.Add(time.Minute))
		if done, held := s.timeOut(1, sending{}); done != 0 || len(held) != 1 || time.Since(began) > 0 {
			s.Errorf("%d timeouts, %q after %s", done, held, time.Since(began))
		}
	})
}

// TestChannelLimit_Refused checks that nothing of a kind is sent for 10 s after Twitch has refused
// one because of its limit. A single one then finds out whether that is over. Other kinds and
// channels go on, and the budget isn't held.
func TestChannelLimit_Refused(t *testing.T) {
	testCrowd(t, faketwitch.Options{SanctionLimit: 20}, func(s *crowdStage) {
		s.timeOut(20, sending{})
		began := time.Now()
		if done, held := s.timeOut(1, sending{}); done != 0 || !slices.Equal(held, []string{"Twitch accepts no more timeouts in this channel for 10 s"}) {
			s.Errorf("%d timeouts, then %q", done, held)
		}
		time.Sleep(3 * time.Second)
		if _, held := s.timeOut(5, sending{}); !slices.Equal(held, []string{"Twitch accepts no more timeouts in this channel for 7 s"}) || s.tooMany() != 1 {
			s.Errorf("%q, %d were refused", held, s.tooMany())
		}
		must(s, s.h.DeleteMessage(s.Context(), s.room, "gone"))
		must(s, s.h.WarnUser(s.Context(), s.room, "7", "slow down"))
		must(s, s.h.timeOut(s.Context(), Room{s.srv.UserID("other"), s.srv.BotID()}, "7", time.Minute, "", sending{}))
		if refused, failed := s.h.Trouble(); refused != "" || failed != "" || time.Since(began) != 3*time.Second {
			s.Errorf("after %s: %q, %q", time.Since(began), refused, failed)
		}
		time.Sleep(7 * time.Second)
		if s.timeOut(30, sending{}); s.tooMany() != 2 {
			s.Errorf("%d were refused, want one more", s.tooMany())
		}
		time.Sleep(20 * time.Second)
		s.timeOut(1, sending{})
		if done, _ := s.timeOut(5, sending{}); done != 5 || s.tooMany() != 2 {
			s.Errorf("%d timeouts, %d refused", done, s.tooMany())
		}
	})
}

// TestChannelLimit_Fails checks that timeouts are held if Twitch fails at one for good, and that
// the reason doesn't blame a limit.
func TestChannelLimit_Fails(t *testing.T) {
	testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
		s.srv.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: 500}, r.Path == "/helix/moderation/bans"
		})
		if err := s.h.timeOut(s.Context(), s.room, "7", time.Minute, "", sending{}); !errors.Is(err, chat.ErrUnanswered) {
			s.Error(err)
		}
		asked := len(s.srv.Requests())
		if _, held := s.timeOut(5, sending{}); !slices.Equal(held, []string{"Twitch failed to carry out timeouts in this channel; the next one is tried in 10 s"}) || len(s.srv.Requests()) != asked {
			s.Errorf("%q", held)
		}
		must(s, s.h.DeleteMessage(s.Context(), s.room, "gone"))
		time.Sleep(limitHold)
		asked = len(s.srv.Requests())
		if s.timeOut(5, sending{}); len(s.srv.Requests()) != asked+1 {
			s.Errorf("%d requests find out whether it still fails", len(s.srv.Requests())-asked)
		}
		s.srv.SetHelixFaults(nil)
		time.Sleep(limitHold)
		s.timeOut(1, sending{})
		if done, _ := s.timeOut(5, sending{}); done != 5 {
			s.Errorf("%d timeouts when it works again", done)
		}
	})
}

// TestChannelLimit_Header checks that a refusal because of a channel's limit, whose headers may
// describe that limit, changes nothing about the budget.
func TestChannelLimit_Header(t *testing.T) {
	testCrowd(t, faketwitch.Options{HelixBudget: -1}, func(s *crowdStage) {
		s.srv.FailNext(otherLimitFault(time.Now()))
		if done, held := s.timeOut(1, sending{}); done != 0 || len(held) != 1 {
			s.Errorf("%d timeouts, %q", done, held)
		}
		if left := s.h.Left(0); left != budgetSize-reserve-1 {
			s.Errorf("%d requests left", left)
		}
	})
}

// TestChannelLimit_Echo checks that a timeout that wasn't sent isn't expected in the chat, so that
// the same one by a human counts as theirs. One that may have been carried out is expected.
func TestChannelLimit_Echo(t *testing.T) {
	fail := func(s *crowdStage, faults ...faketwitch.Fault) {
		s.srv.FailNext(faults...)
		_ = s.h.timeOut(s.Context(), s.room, "1", time.Minute, "", sending{})
	}
	for name, c := range map[string]struct {
		prepare func(*crowdStage, *Moderator)
		isOurs  bool
	}{
		"held by a limit":  {func(s *crowdStage, _ *Moderator) { fail(s, faketwitch.Fault{Status: 429}) }, false},
		"held by failures": {func(s *crowdStage, _ *Moderator) { fail(s, statusFaults(503, 503, 503, 503, 503)...) }, false},
		"no answer, then a limit": {func(s *crowdStage, _ *Moderator) {
			s.srv.FailNext(faketwitch.Fault{After: true}, faketwitch.Fault{Status: 429})
		}, true},
		"needless": {func(s *crowdStage, m *Moderator) {
			m.Removed(chat.Removal{ChannelID: s.room.BroadcasterID, UserID: "7", Silence: time.Hour, At: time.Now()})
		}, false},
	} {
		testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
			m := &Moderator{Helix: s.h, UserID: s.srv.BotID}
			c.prepare(s, m)
			msg := chatguard.Message{ID: "1", ChannelID: s.room.BroadcasterID, User: chatguard.User{ID: "7"}, SentAt: time.Now()}
			_ = m.Timeout(s.Context(), msg, time.Minute, "")
			m.Removed(chat.Removal{ChannelID: msg.ChannelID, UserID: "7", Silence: time.Minute, At: time.Now()})
			if err := m.Lift(s.Context(), msg.ChannelID, "7"); errors.Is(err, ErrNotOurs) == c.isOurs {
				s.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestChannelLimit_TwoRequests checks that a timeout that wasn't sent changes nothing about a later
// one that was.
func TestChannelLimit_TwoRequests(t *testing.T) {
	m := &Moderator{Helix: &Client{}}
	who := target{"100", "7"}
	first := m.noteRequest(who, sanction{length: time.Hour, from: m.now()})
	m.noteRequest(who, sanction{length: time.Minute, from: m.now()})
	m.noteAnswer(who, first, &chat.HeldError{})
	m.Removed(chat.Removal{ChannelID: "100", UserID: "7", Silence: time.Minute, At: m.now()})
	if m.sanctionedByOther(who) {
		t.Error("it counts as somebody else's")
	}
}

// TestRetry_Idle checks that a wait before another try leaves the place of its penalty.
func TestRetry_Idle(t *testing.T) {
	testCrowd(t, faketwitch.Options{}, func(s *crowdStage) {
		s.srv.FailNext(statusFaults(500, 409, 429)...)
		waits := 0
		ctx := chat.WithIdle(s.Context(), func(_ error, wait func() error) error {
			waits++
			return wait()
		})
		must(s, s.h.DeleteMessage(ctx, s.room, "gone"))
		if waits != 3 {
			s.Errorf("idle %d times", waits)
		}
	})
}

// TestChannelLimit_Translated checks that the pages know the reasons that they translate.
func TestChannelLimit_Translated(t *testing.T) {
	page, err := os.ReadFile("../../../../web/static/app/words/reasons.js")
	must(t, err)
	for _, what := range []string{"timeouts", "bans", "warnings"} {
		for _, busy := range []bool{true, false} {
			why := channelLimit{what: what}.heldError(hold{busy: busy}, time.Time{}).Why
			if start := strings.TrimSuffix(why, " 0 s"); start == why || !strings.Contains(string(page), `"`+start+`":`) {
				t.Errorf("reasons.js doesn't know %q", why)
			}
		}
	}
}
