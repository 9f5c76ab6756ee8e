package chat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// stage is a Bot in a bubble of simulated time. The test plays the part of the chat.
type stage struct {
	*testing.T
	bot       *Bot
	guard     *chatguard.Guard
	platform  *recorder
	sink      Sink
	mu        sync.Mutex
	outcomes  []string // in report order: "timeout skipped: queue full"
	settings  map[string]string
	unsavable bool
	asked     int // users who have asked for their quota
	stop      func()
}

// Run passes the sink to the test.
func (s *stage) Run(ctx context.Context, sink Sink) error {
	s.sink = sink
	<-ctx.Done()
	return nil
}

func (s *stage) SaveSetting(_ context.Context, channelID, name, value string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings[channelID+" "+name] = value
	return !s.unsavable, nil
}

// testWithBot runs a test with a Bot that enforces the ladder on each user's second message.
func testWithBot(t *testing.T, o Options, play func(*stage), ladder ...string) {
	t.Helper()
	testWithGuard(t, nil, o, play, ladder...)
}

// testWithGuard is testWithBot for a Guard with options.
func testWithGuard(t *testing.T, guardOptions *chatguard.Options, o Options, play func(*stage), ladder ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		guard, err := chatguard.New(enforcePolicy(ladder...), guardOptions)
		must(t, err)
		s := &stage{T: t, guard: guard, platform: &recorder{}, settings: map[string]string{}}
		o.Guard, o.Source, o.Moderator, o.Settings = guard, s, s.platform, s
		o.Report = func(out journal.Outcome) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.outcomes = append(s.outcomes, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", out.Action, out.Result, out.Reason), ": "))
		}
		s.bot = New(o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.bot.Run(ctx) }()
		s.stop = sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		defer s.stop()
		synctest.Wait()
		play(s)
	})
}

// say sends messages from users and waits for the consequences. "a1" is a message from user a; the
// user's second message is throttled.
func (s *stage) say(ids ...string) { s.sayIn("1", ids...) }

func (s *stage) sayIn(channelID string, ids ...string) {
	var batch []Message
	for _, id := range ids {
		m := message(id, id[:1])
		m.ChannelID, m.SentAt = channelID, time.Now()
		batch = append(batch, m)
	}
	s.sink.Messages(time.Now(), batch)
	synctest.Wait()
}

func (s *stage) wait(d time.Duration) {
	time.Sleep(d) // simulated time
	synctest.Wait()
}

// checkRequests checks the requests to the platform since the last call.
func (s *stage) checkRequests(want ...string) {
	s.Helper()
	s.platform.mu.Lock()
	got := s.platform.done
	s.platform.done = nil
	s.platform.mu.Unlock()
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], ": Too many")
	}
	if !slices.Equal(got, want) {
		s.Errorf("did %q\nwant %q", got, want)
	}
}

// checkOutcomes checks the outcomes since the last call.
func (s *stage) checkOutcomes(want ...string) {
	s.Helper()
	s.mu.Lock()
	got := s.outcomes
	s.outcomes = nil
	s.mu.Unlock()
	if !slices.Equal(got, want) {
		s.Errorf("reported %q\nwant %q", got, want)
	}
}

// setTrouble sets what the platform's Trouble returns from now on.
func (s *stage) setTrouble(refused, failed string) {
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	s.platform.refused, s.platform.failed = refused, failed
}

// hold blocks every request until the returned function is called.
func (s *stage) hold() (release func()) {
	s.platform.block = make(chan struct{})
	return func() {
		close(s.platform.block)
		synctest.Wait()
	}
}

func TestOrder(t *testing.T) {
	testWithBot(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "c1", "a2", "b2", "a3", "c2", "b3")
		release()
		s.checkRequests("delete a2", "delete b2", "delete a3", "delete c2", "delete b3")
	}, "delete")
}

func TestBacklog_OneStepPerUser(t *testing.T) {
	testWithBot(t, Options{Workers: 2}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "a2", "a3", "b2")
		s.bot.backlog.mu.Lock()
		l := s.bot.backlog.channels["1"]
		if l.inFlight != 2 || len(l.users["a"].jobs) != 1 || len(l.users["b"].jobs) != 0 {
			t.Errorf("%d under way, a waits with %d, b with %d", l.inFlight, len(l.users["a"].jobs), len(l.users["b"].jobs))
		}
		s.bot.backlog.mu.Unlock()
		release()
		s.checkOutcomes("delete done", "delete done", "delete done")
	}, "delete")
}

func TestBacklog_FullQueueSkips(t *testing.T) {
	testWithBot(t, Options{Workers: 1, QueueSize: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "a2")
		s.say("a3", "a4", "a5")
		s.checkOutcomes("delete skipped: queue full", "delete skipped: queue full")
		release()
		s.checkRequests("delete a2", "delete a3")
		s.checkOutcomes("delete done", "delete done")
	}, "delete")
}

// TestRemoved_ByOthers checks that a message that a human has removed is not acted on again,
// whether it is pending or arrives later. Messages that the user sends afterwards are acted on.
func TestRemoved_ByOthers(t *testing.T) {
	for name, test := range map[string]struct {
		removal Removal
		reason  string
		rest    []string // messages of a and b still acted on
	}{
		"message":   {Removal{MessageID: "a3"}, "already removed", []string{"delete a4", "delete b3", "delete a5"}},
		"by whom":   {Removal{MessageID: "a3", UserID: "a", By: "berta"}, "already removed by berta", []string{"delete a4", "delete b3", "delete a5"}},
		"timeout":   {Removal{UserID: "a", Silence: time.Second}, "already gone: its author was timed out", []string{"delete b3"}},
		"ban":       {Removal{UserID: "a", Banned: true, By: "berta"}, "already gone: its author was banned by berta", []string{"delete b3"}},
		"clear":     {Removal{}, "already gone: the chat was cleared", nil},
		"elsewhere": {Removal{ChannelID: "2"}, "", []string{"delete a3", "delete a4", "delete b3", "delete a5"}},
	} {
		testWithBot(t, Options{Workers: 2}, func(s *stage) {
			release := s.hold()
			s.say("a1", "b1", "a2", "b2", "a3", "a4", "b3")
			if test.removal.ChannelID == "" {
				test.removal.ChannelID = "1"
			}
			s.sink.Removed(test.removal)
			s.say("a5")
			release()
			s.platform.mu.Lock()
			slices.Sort(s.platform.done)
			s.platform.mu.Unlock()
			want := append([]string{"delete a2", "delete b2"}, test.rest...)
			slices.Sort(want)
			s.checkRequests(want...)
			skipped := 0
			for _, o := range s.outcomes {
				if o == "delete skipped: "+test.reason {
					skipped++
				}
			}
			if skipped != 6-len(want) {
				t.Errorf("%s: %d skipped of %q", name, skipped, s.outcomes)
			}
			s.wait(time.Second)
			s.say("a6")
			s.checkRequests("delete a6")
		}, "delete")
	}
}

// TestRemoved_LateReport checks that messages sent after everything was removed are still acted on,
// however late the removal is reported.
func TestRemoved_LateReport(t *testing.T) {
	testWithBot(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("b1", "b2", "a1", "a2")
		purged := time.Now()
		s.wait(3 * time.Second)
		s.say("a3")
		s.sink.Removed(Removal{ChannelID: "1", UserID: "a", Silence: time.Second, At: purged})
		release()
		s.checkRequests("delete b2", "delete a3")
	}, "delete")
}

// TestReprieve_PendingPenalties checks that a pause and an exemption also apply to pending
// penalties.
func TestReprieve_PendingPenalties(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*stage) error
		want   string
	}{
		"pause": {func(s *stage) error {
			return inner.At(s.guard, time.Now()).SetOverlay("1", func(p chatguard.Policy) chatguard.Policy { p.Mode = chatguard.ModeObserve; return p })
		}, "delete skipped: the channel now only observes"},
		"observe": {func(s *stage) error {
			p := s.guard.ChannelPolicy("1")
			p.Mode = chatguard.ModeObserve
			return inner.At(s.guard, time.Now()).SetChannelPolicy("1", p)
		}, "delete skipped: the channel now only observes"},
		"exempt": {func(s *stage) error {
			return inner.At(s.guard, time.Now()).SetUserOverride(t.Context(), chatguard.Key{ChannelID: "1", UserID: "b"}, chatguard.UserOverride{Exempt: chatguard.ExemptAlways})
		}, "delete skipped: the user is now exempt"},
	} {
		testWithBot(t, Options{Workers: 1}, func(s *stage) {
			release := s.hold()
			s.say("a1", "b1", "a2", "b2")
			if err := test.change(s); err != nil {
				t.Fatal(name, err)
			}
			release()
			s.checkRequests("delete a2")
			s.checkOutcomes("delete done", test.want)
		}, "delete")
	}
}

// TestExpire_BehindLateUser checks that a user who keeps writing does not prevent the penalties
// of others from expiring.
func TestExpire_BehindLateUser(t *testing.T) {
	testWithBot(t, Options{Patience: 5 * time.Second}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "b1", "a2", "b2")
		for n := range 8 {
			s.wait(time.Second)
			s.say(fmt.Sprint("a", n+3))
		}
		s.bot.backlog.mu.Lock()
		defer s.bot.backlog.mu.Unlock()
		if l := s.bot.backlog.channels["1"]; l.users["b"] != nil || l.waiting > 6 {
			t.Errorf("%d wait, b with %+v", l.waiting, l.users["b"])
		}
	}, "delete")
}

// TestExpire_Channel checks that a channel whose penalties have all expired has no turn.
func TestExpire_Channel(t *testing.T) {
	testWithBot(t, Options{Patience: 5 * time.Second}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "a2")
		s.wait(3 * time.Second)
		s.sayIn("2", "b1", "b2")
		s.wait(3 * time.Second)
		s.platform.allow(1)
		s.wait(time.Second)
		s.checkRequests("delete b2")
		s.checkOutcomes("delete skipped: too late: the request budget is used up", "delete done")
	}, "delete")
}

// TestForgive_StepInProgress checks that a timeout in progress is lifted when it is complete, if
// its message was pardoned meanwhile. If it fails, nothing is done about the message any more.
func TestForgive_StepInProgress(t *testing.T) {
	for _, test := range []struct {
		err     error
		did     []string
		outcome string
	}{
		{nil, []string{"timeout a 30s", "lift a"}, "timeout done: pardoned meanwhile, and lifted"},
		{ErrUnanswered, []string{"timeout a 30s", "lift a"}, "timeout unknown: pardoned meanwhile, and lifted"},
		{errors.New("invalid user"), []string{"timeout a 30s"}, "timeout failed: invalid user"},
	} {
		testWithBot(t, Options{}, func(s *stage) {
			s.platform.fails = map[string]error{"timeout": test.err}
			release := s.hold()
			s.say("a1", "a2")
			s.bot.backlog.mu.Lock()
			entry := s.bot.backlog.channels["1"].users["a"].task.jobs[0].verdict.EntryID
			s.bot.backlog.mu.Unlock()
			if dropped, underWay := s.bot.Forgive("1", "a", entry, entry); len(dropped) != 0 || !slices.Equal(underWay, []chatguard.EntryID{entry}) {
				t.Errorf("dropped %v, under way %v", dropped, underWay)
			}
			release()
			s.checkRequests(test.did...)
			s.checkOutcomes(test.outcome)
		}, "timeout 30s")
	}
}

// TestForgive_Unknown checks that a timeout that may have been carried out is lifted if its message
// was pardoned while it was only deleted. One that failed isn't.
func TestForgive_Unknown(t *testing.T) {
	for kind, want := range map[error][]string{
		ErrUnanswered:         {"timeout a 30s, delete a2, lift a", "timeout unknown: pardoned meanwhile, and lifted; the message was deleted"},
		errors.New("too bad"): {"timeout a 30s, delete a2", "delete done: too bad; the message was only deleted"},
	} {
		testWithBot(t, Options{}, func(s *stage) {
			s.platform.takes, s.platform.fails = time.Second, map[string]error{"timeout": kind}
			s.say("a1", "a2")
			s.wait(1500 * time.Millisecond)
			s.checkRequests("timeout a 30s")
			s.bot.Forgive("1", "a", 0, math.MaxInt64)
			s.wait(2 * time.Second)
			s.checkRequests(strings.Split(want[0], ", ")[1:]...)
			s.checkOutcomes(want[1])
		}, "timeout 30s")
	}
}

func TestForgive(t *testing.T) {
	testWithBot(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "a2", "b2", "b3")
		s.bot.backlog.mu.Lock()
		entry := s.bot.backlog.channels["1"].users["b"].jobs[0].verdict.EntryID
		s.bot.backlog.mu.Unlock()
		forgives := func(channelID string, first, last chatguard.EntryID, want ...chatguard.EntryID) {
			t.Helper()
			if dropped, underWay := s.bot.Forgive(channelID, "b", first, last); !slices.Equal(dropped, want) || len(underWay) != 0 {
				t.Errorf("dropped %v, under way %v; want %v", dropped, underWay, want)
			}
		}
		forgives("1", entry+2, entry+100)
		forgives("2", entry, entry)
		forgives("1", entry, entry+100, entry, entry+1)
		forgives("1", entry, entry+100)
		release()
		s.checkRequests("delete a2")
		s.checkOutcomes("delete skipped: pardoned", "delete skipped: pardoned", "delete done")
	}, "delete")
}

// TestBot_RepeatsCountOnce checks that a message received twice counts once.
func TestBot_RepeatsCountOnce(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		s.say("a1", "a1", "a1")
		s.checkRequests()
		s.say("a2", "a1")
		s.say("a2")
		s.checkRequests("delete a2")
		if c := s.bot.Counts(); c.Messages != 2 {
			t.Errorf("%d messages", c.Messages)
		}
	}, "delete")
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	must(t, err)
	b := New(Options{Guard: guard})
	for n := range 3 * maxRepeats {
		if id := fmt.Sprint(n); b.isRepeat(id) || !b.isRepeat(id) {
			t.Fatal(n)
		}
	}
	if b.received.Len() > 2*maxRepeats || b.isRepeat("") || b.isRepeat("") {
		t.Errorf("%d remembered", b.received.Len())
	}
}
