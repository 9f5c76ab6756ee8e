package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// stage is a Bot in a bubble of simulated time, whose chat the test plays.
type stage struct {
	*testing.T
	bot       *Bot
	guard     *chatguard.Guard
	platform  *recorder
	sink      Sink
	mu        sync.Mutex
	outcomes  []string // in the order of their report: "delete done", "timeout skipped: queue full"
	settings  map[string]string
	unsavable bool
	stop      func()
}

// Run hands the sink to the test.
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

// onStage plays a test with a Bot that enforces the ladder on everyone's second message.
func onStage(t *testing.T, o Options, play func(*stage), ladder ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		guard, err := chatguard.New(enforcing(ladder...), nil)
		if err != nil {
			t.Fatal(err)
		}
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

// say lets users speak, and waits for what comes of it: "a1" is user a's message, the second of which is throttled.
func (s *stage) say(ids ...string) {
	var batch []chatguard.Message
	for _, id := range ids {
		m := message(id, id[:1])
		m.SentAt = time.Now()
		batch = append(batch, m)
	}
	s.sink.Messages(batch)
	synctest.Wait()
}

func (s *stage) wait(d time.Duration) {
	time.Sleep(d) // simulated
	synctest.Wait()
}

// did checks, and forgets, what the platform was asked for.
func (s *stage) did(want ...string) {
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

// reported checks, and forgets, the outcomes.
func (s *stage) reported(want ...string) {
	s.Helper()
	s.mu.Lock()
	got := s.outcomes
	s.outcomes = nil
	s.mu.Unlock()
	if !slices.Equal(got, want) {
		s.Errorf("reported %q\nwant %q", got, want)
	}
}

// trouble is what the platform says of itself from now on.
func (s *stage) trouble(refused, failed string) {
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	s.platform.refused, s.platform.failed = refused, failed
}

// hold lets every request wait until the func returned is called.
func (s *stage) hold() (release func()) {
	s.platform.block = make(chan struct{})
	return func() {
		close(s.platform.block)
		synctest.Wait()
	}
}

func TestOrder(t *testing.T) {
	onStage(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "c1", "a2", "b2", "a3", "c2", "b3")
		release()
		s.did("delete a2", "delete b2", "delete a3", "delete c2", "delete b3")
	}, "delete")
}

func TestOneUserAtATime(t *testing.T) {
	onStage(t, Options{Workers: 2}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "a2", "a3", "b2")
		s.bot.backlog.mu.Lock()
		l := s.bot.backlog.lanes["1"]
		if l.inFlight != 2 || len(l.piles["a"].jobs) != 1 || len(l.piles["b"].jobs) != 0 {
			t.Errorf("%d under way, a waits with %d, b with %d", l.inFlight, len(l.piles["a"].jobs), len(l.piles["b"].jobs))
		}
		s.bot.backlog.mu.Unlock()
		release()
		s.reported("delete done", "delete done", "delete done")
	}, "delete")
}

func TestFullQueueSkips(t *testing.T) {
	onStage(t, Options{Workers: 1, QueueSize: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "a2")
		s.say("a3", "a4", "a5")
		s.reported("delete skipped: queue full", "delete skipped: queue full")
		release()
		s.did("delete a2", "delete a3")
		s.reported("delete done", "delete done")
	}, "delete")
}

// TestWhatOthersRemoved: what a human has removed isn't acted on again, whether it waits or comes later; what the user writes afterwards is.
func TestWhatOthersRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		removal Removal
		reason  string
		rest    []string // of a's and b's messages are acted on all the same
	}{
		"message":   {Removal{MessageID: "a3"}, "already removed", []string{"delete a4", "delete b3", "delete a5"}},
		"by whom":   {Removal{MessageID: "a3", UserID: "a", By: "berta"}, "already removed by berta", []string{"delete a4", "delete b3", "delete a5"}},
		"timeout":   {Removal{UserID: "a", Silence: time.Second}, "already gone: its author was timed out", []string{"delete b3"}},
		"ban":       {Removal{UserID: "a", Banned: true, By: "berta"}, "already gone: its author was banned by berta", []string{"delete b3"}},
		"clear":     {Removal{}, "already gone: the chat was cleared", nil},
		"elsewhere": {Removal{ChannelID: "2"}, "", []string{"delete a3", "delete a4", "delete b3", "delete a5"}},
	} {
		onStage(t, Options{Workers: 2}, func(s *stage) {
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
			s.did(want...)
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
			s.did("delete a6")
		}, "delete")
	}
}

// TestOldRemovals: what was sent after everything was removed is still there, however late that is told.
func TestOldRemovals(t *testing.T) {
	onStage(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("b1", "b2", "a1", "a2")
		purged := time.Now()
		s.wait(3 * time.Second)
		s.say("a3")
		s.sink.Removed(Removal{ChannelID: "1", UserID: "a", Silence: time.Second, At: purged})
		release()
		s.did("delete b2", "delete a3")
	}, "delete")
}

// TestReprieve: a pause, and an exemption, hold for what waits already.
func TestReprieve(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*stage) error
		want   string
	}{
		"pause": {func(s *stage) error {
			return s.guard.SetOverlay("1", func(p chatguard.Policy) chatguard.Policy { p.Mode = chatguard.Observe; return p }, time.Now())
		}, "delete skipped: the channel only observes by now"},
		"observe": {func(s *stage) error {
			p := s.guard.Policy("1")
			p.Mode = chatguard.Observe
			return s.guard.SetPolicy("1", p, time.Now())
		}, "delete skipped: the channel only observes by now"},
		"exempt": {func(s *stage) error {
			return s.guard.SetUserOverride("1", "b", chatguard.UserOverride{Exempt: chatguard.AlwaysExempt}, time.Now())
		}, "delete skipped: the user is exempt by now"},
	} {
		onStage(t, Options{Workers: 1}, func(s *stage) {
			release := s.hold()
			s.say("a1", "b1", "a2", "b2")
			if err := test.change(s); err != nil {
				t.Fatal(name, err)
			}
			release()
			s.did("delete a2")
			s.reported("delete done", test.want)
		}, "delete")
	}
}

// TestNobodyWaitsBehindALateOne: who goes on writing doesn't keep others' penalties from being given up.
func TestNobodyWaitsBehindALateOne(t *testing.T) {
	onStage(t, Options{Patience: 5 * time.Second}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "b1", "a2", "b2")
		for n := range 8 {
			s.wait(time.Second)
			s.say(fmt.Sprint("a", n+3))
		}
		s.bot.backlog.mu.Lock()
		defer s.bot.backlog.mu.Unlock()
		if l := s.bot.backlog.lanes["1"]; l.piles["b"] != nil || l.waiting > 6 {
			t.Errorf("%d wait, b with %+v", l.waiting, l.piles["b"])
		}
	}, "delete")
}

// TestPardonUnderWay: a timeout that is being given when its message is pardoned is lifted as soon as it is there.
func TestPardonUnderWay(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		release := s.hold()
		s.say("a1", "a2")
		s.bot.backlog.mu.Lock()
		entry := s.bot.backlog.lanes["1"].piles["a"].step.jobs[0].verdict.EntryID
		s.bot.backlog.mu.Unlock()
		if dropped, underWay := s.bot.Forgive("1", "a", entry, entry); len(dropped) != 0 || !slices.Equal(underWay, []chatguard.EntryID{entry}) {
			t.Errorf("dropped %v, under way %v", dropped, underWay)
		}
		release()
		s.did("timeout a 30s", "lift a")
		s.reported("timeout done: pardoned meanwhile, and lifted")
	}, "timeout 30s")
}

func TestForgiven(t *testing.T) {
	onStage(t, Options{Workers: 1}, func(s *stage) {
		release := s.hold()
		s.say("a1", "b1", "a2", "b2", "b3")
		s.bot.backlog.mu.Lock()
		entry := s.bot.backlog.lanes["1"].piles["b"].jobs[0].verdict.EntryID
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
		s.did("delete a2")
		s.reported("delete skipped: pardoned", "delete skipped: pardoned", "delete done")
	}, "delete")
}

// TestRepeats: a message that comes twice counts once.
func TestRepeats(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.say("a1", "a1", "a1")
		s.did()
		s.say("a2", "a1")
		s.say("a2")
		s.did("delete a2")
		if c := s.bot.Counts(); c.Messages != 2 {
			t.Errorf("%d messages", c.Messages)
		}
	}, "delete")
	var r repeats
	for n := range 3 * maxRepeats {
		if m := message(fmt.Sprint(n), "7"); r.again(&m) || !r.again(&m) {
			t.Fatal(n)
		}
	}
	if len(r.recent)+len(r.before) > 2*maxRepeats {
		t.Errorf("%d remembered", len(r.recent)+len(r.before))
	}
}
