package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/waittest"
)

// testLease is a Lease that the test gives and takes.
type testLease struct {
	mu      sync.Mutex
	until   time.Time
	judged  time.Time // noted by this node
	before  time.Time // noted by the predecessor
	sure    time.Time // certainly judged by the predecessor
	fence   int64
	leader  string    // if this node doesn't lead
	since   time.Time // of the problem
	problem string
	running bool
	early   bool // it ran before anything was noted
}

func (l *testLease) Leading() (int64, time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fence + 1, l.until, time.Now().Before(l.until)
}

func (l *testLease) Leader() string {
	if _, _, ok := l.Leading(); ok {
		return "self"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leader
}

func (l *testLease) Problem() (time.Time, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since, l.problem
}

// set changes the lease.
func (l *testLease) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *testLease) SetJudgedUntil(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judged = t
}

func (l *testLease) JudgedUntil() (sure, maybe time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sure, l.before
}

func (l *testLease) Run(ctx context.Context) error {
	l.mu.Lock()
	l.running, l.early = true, l.judged.IsZero()
	l.mu.Unlock()
	<-ctx.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = false
	return nil
}

// noted returns what this node has noted.
func (l *testLease) noted() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judged
}

// give gives the lease for a duration.
func (l *testLease) give(length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(length)
}

// handOver gives the lease to another node, which judges until a time, and back.
func (l *testLease) handOver(judged time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fence += 2
	l.before = judged
}

// channelSource passes on batches of messages.
type channelSource chan []Message

func (s channelSource) Run(ctx context.Context, sink Sink) error {
	for {
		select {
		case messages := <-s:
			if messages == nil {
				sink.Removed(Removal{ChannelID: "removed"})
				continue
			}
			sink.Messages(time.Time{}, messages)
		case <-ctx.Done():
			return nil
		}
	}
}

// idSink records the IDs of messages. It waits for a blocked channel.
type idSink struct {
	blocked map[string]chan struct{} // by channel; closed to continue
	mu      sync.Mutex
	ids     []string
}

func (s *idSink) Messages(_ time.Time, messages []Message) {
	if block := s.blocked[messages[0].ChannelID]; block != nil {
		<-block
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.ids = append(s.ids, m.ID)
	}
}

func (s *idSink) Removed(r Removal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, r.ChannelID)
}

func (s *idSink) Lifted(l Lift) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, l.UserID)
}

func (s *idSink) want(t *testing.T, ids ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := fmt.Sprint(s.ids); got != fmt.Sprint(ids) {
		t.Errorf("passed on: %v, want %v", got, ids)
	}
	s.ids = nil
}

// standbyTest is a Standby with a lease for each of two channels.
type standbyTest struct {
	*Standby
	t      *testing.T
	source channelSource
	sink   *idSink
	log    *waittest.Output
	leases map[string]*testLease
}

func runStandby(t *testing.T, test func(s *standbyTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &standbyTest{t: t, sink: &idSink{}, log: &waittest.Output{}, leases: map[string]*testLease{"a": {leader: "other"}, "b": {leader: "other"}}}
		s.source = make(channelSource)
		s.Standby = NewStandby(func(id string) Lease { return s.leases[id] }, slog.New(slog.NewTextHandler(s.log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Source(s.source).Run(ctx, s.sink) }()
		test(s)
		cancel()
		must(t, <-ended)
		s.Close()
		for id, l := range s.leases {
			if l.running || l.early {
				t.Errorf("the lease of %s still runs: %t; ran before its node had noted a time: %t", id, l.running, l.early)
			}
		}
	})
}

// send sends messages with these IDs, whose first letter is the channel.
func (s *standbyTest) send(ids ...string) {
	var messages []Message
	for _, id := range ids {
		messages = append(messages, Message{Message: chatguard.Message{ID: id, ChannelID: id[:1], SentAt: time.Now()}})
	}
	s.source <- messages
	synctest.Wait()
}

// Only the leader's messages are passed on. A standby continues with those that its predecessor
// can't have judged.
func TestStandby_TakesOver(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		s.leases["a"].give(time.Hour)
		if _, known := s.Acting("a"); known {
			s.t.Error("a leader without a message")
		}
		s.send("a1", "b1", "a2")
		for id, want := range map[string]string{"a": "self", "b": "other"} {
			if a, known := s.Acting(id); !known || a != (Acting{Self: want == "self", Leader: want}) || s.Leads(id) != a.Self {
				s.t.Errorf("%s: %+v", id, a)
			}
		}
		s.sink.want(s.t, "a1", "a2")
		s.leases["b"].before = time.Now().Add(4 * time.Second) // judged until here
		time.Sleep(5 * time.Second)
		s.send("b2") // maybe judged
		time.Sleep(2 * time.Second)
		s.send("b3")
		s.sink.want(s.t)
		s.leases["b"].sure = s.leases["b"].before.Add(-4*time.Second - 1)
		s.leases["b"].give(time.Hour)
		time.Sleep(standbyLooks)
		s.sink.want(s.t, "b3")
		if text := s.log.String(); !strings.Contains(text, "kept=1 unknown=2\n") { // b1 and b2
			s.t.Errorf("logged: %s", text)
		}
		s.send("b4")
		s.send("a3")
		s.sink.want(s.t, "b4", "a3")
	})
}

func TestStandby_KeepsLastMessages(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		s.send("a1")
		time.Sleep(standbyKeeps / 2)
		s.send("a2")
		time.Sleep(standbyKeeps/2 + time.Second)
		s.send("a3")
		s.leases["a"].give(time.Hour)
		s.send("a4") // takes over at once
		s.sink.want(s.t, "a2", "a3", "a4")
		for i := range maxStandby + 5 {
			s.send(fmt.Sprint("b", i))
		}
		if kept := s.channels["b"].queue; len(kept) != maxStandby || kept[0].message.ID != "b5" {
			s.t.Errorf("%d messages are kept, from %s", len(kept), kept[0].message.ID)
		}
	})
}

// TestStandby_Nobody checks that a channel without a leader is reported and logged once, with the
// time and the cause, and not while nodes change as usual.
func TestStandby_Nobody(t *testing.T) {
	const nobody, ended = "nobody moderates the channel", "a node moderates the channel"
	runStandby(t, func(s *standbyTest) {
		lease := s.leases["a"]
		s.send("a1")
		lease.set(func() { lease.leader = "" })
		time.Sleep(standbyLooks)
		since := time.Now()
		lease.set(func() { lease.since, lease.problem = since.Add(time.Second), "the memory is full" })
		time.Sleep(UsualGap - 1)
		s.sink.want(s.t)
		if a, _ := s.Acting("a"); a != (Acting{Since: since, Problem: "the memory is full"}) {
			s.t.Errorf("%+v", a)
		}
		if text := s.log.String(); strings.Contains(text, nobody) {
			s.t.Errorf("logged too soon: %s", text)
		}
		time.Sleep(time.Minute)
		if text := s.log.String(); strings.Count(text, nobody) != 1 || !strings.Contains(text, `problem="the memory is full"`) || strings.Contains(text, ended) {
			s.t.Errorf("logged: %s", text)
		}
		lease.set(func() { lease.leader, lease.problem = "other", "" })
		time.Sleep(standbyLooks)
		if a, _ := s.Acting("a"); a.Leader != "other" || strings.Count(s.log.String(), ended) != 1 {
			s.t.Errorf("%+v, logged: %s", a, s.log.String())
		}
	})
}

// TestStandby_Alone checks that a node that acts without the lease judges everything, says so, and
// steps back when another node has the lease.
func TestStandby_Alone(t *testing.T) {
	const alone = "this node moderates the channel alone"
	runStandby(t, func(s *standbyTest) {
		lease := s.leases["a"]
		lease.set(func() { lease.fence, lease.leader = -1, "" }) // it leads with the fencing number 0
		s.send("a1")
		lease.set(func() { lease.since, lease.problem = time.Now(), "Redis is away" })
		lease.give(time.Hour)
		time.Sleep(standbyLooks)
		s.sink.want(s.t, "a1")
		s.send("a2")
		s.sink.want(s.t, "a2")
		if a, _ := s.Acting("a"); !a.Self || a.Since.IsZero() || a.Problem != "Redis is away" {
			s.t.Errorf("%+v", a)
		}
		if text := s.log.String(); strings.Contains(text, alone) {
			s.t.Errorf("logged too soon: %s", text)
		}
		time.Sleep(time.Minute)
		if text := s.log.String(); strings.Count(text, alone) != 1 || !strings.Contains(text, `problem="Redis is away"`) {
			s.t.Errorf("logged: %s", text)
		}
		lease.set(func() { lease.until, lease.leader, lease.problem = time.Now(), "other", "" })
		s.send("a3")
		s.sink.want(s.t)
		if s.Leads("a") || strings.Count(s.log.String(), "leader=other") != 2 { // that it ends, and why
			s.t.Errorf("leads %v, logged: %s", s.Leads("a"), s.log.String())
		}
	})
}

// A leader whose lease isn't renewed keeps messages, and continues if it gets the lease again.
func TestStandby_LosesLease(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		s.leases["a"].give(10 * time.Second)
		s.send("a1")
		time.Sleep(10 * time.Second)
		s.send("a2")
		s.sink.want(s.t, "a1")
		s.source <- nil // removals are passed on in any case
		s.sink.want(s.t, "removed")
		s.leases["a"].give(10 * time.Second)
		time.Sleep(standbyLooks)
		s.sink.want(s.t, "a2")
	})
}

// A channel whose messages can't be judged now delays neither messages nor requests of others. Its
// own messages keep their order. Those that wait when the lease ends aren't passed on.
func TestStandby_SlowChannel(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		blocked := make(chan struct{})
		s.sink.blocked = map[string]chan struct{}{"a": blocked}
		s.leases["a"].give(10 * time.Second)
		s.leases["b"].give(time.Hour)
		s.send("a1")
		s.send("a2", "b1", "a3", "b2")
		s.source <- nil
		s.send("b3")
		s.sink.want(s.t, "b1", "b2", "removed", "b3")
		if !s.Leads("a") || !s.Leads("b") {
			s.t.Error("a channel isn't led")
		}
		time.Sleep(10 * time.Second)
		close(blocked)
		s.sink.want(s.t, "a1") // it began while this node led
		s.leases["a"].give(10 * time.Second)
		time.Sleep(standbyLooks)
		s.sink.want(s.t, "a2", "a3")
	})
}

// Of the messages that wait in a slow channel, those of a time in which another node led aren't
// passed on, even if this node has not noticed that it lost the lease.
func TestStandby_SlowChannelLosesLease(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		blocked := make(chan struct{})
		s.sink.blocked = map[string]chan struct{}{"a": blocked}
		s.leases["a"].give(time.Minute)
		s.send("a1")
		s.send("a2")
		s.leases["a"].handOver(time.Now())
		time.Sleep(judgedMargin + time.Second)
		s.send("a3")
		close(blocked)
		s.sink.want(s.t, "a1", "a3")
	})
}

// A leader notes the time of a quiet channel too: its successor can't know whether a message was
// judged after the last one that was noted.
func TestStandby_NotesQuietTime(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		s.leases["a"].give(time.Hour)
		s.send("a1", "b1")
		time.Sleep(time.Minute)
		for id, l := range s.leases {
			if age := time.Since(l.noted()); age > standbyLooks {
				s.t.Errorf("channel %s: noted %s ago", id, age)
			}
		}
	})
}

// The queue of a leader is bounded too.
func TestStandby_FullQueue(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		blocked := make(chan struct{})
		s.sink.blocked = map[string]chan struct{}{"a": blocked}
		s.leases["a"].give(time.Hour)
		s.send("a")
		want := []string{"a"}
		for i := range maxStandby + 5 {
			id := fmt.Sprint("a", i)
			s.send(id)
			if i >= 5 {
				want = append(want, id)
			}
		}
		time.Sleep(standbyKeeps * 2) // a leader's messages don't become too old
		close(blocked)
		s.sink.want(s.t, want...)
	})
}

// permitModerator is a Moderator whose requests ask for the permit right before they are sent.
type permitModerator struct {
	Moderator
	wait time.Duration // before the request is sent
	sent []string
}

func (m *permitModerator) send(ctx context.Context, what string) error {
	time.Sleep(m.wait)
	until, err := Permitted(ctx)
	if err != nil {
		return err
	}
	m.sent = append(m.sent, fmt.Sprintf("%s within %v", what, time.Until(until)))
	return nil
}

func (m *permitModerator) Delete(ctx context.Context, _ chatguard.Message) error {
	return m.send(ctx, "delete")
}
func (m *permitModerator) Warn(ctx context.Context, _ chatguard.Message, _ string) error {
	return m.send(ctx, "warn")
}
func (m *permitModerator) Timeout(ctx context.Context, _ chatguard.Message, _ time.Duration, _ string) error {
	return m.send(ctx, "timeout")
}
func (m *permitModerator) Ban(ctx context.Context, _ chatguard.Message, _ string) error {
	return m.send(ctx, "ban")
}
func (m *permitModerator) Lift(ctx context.Context, _, _ string) error { return m.send(ctx, "lift") }
func (m *permitModerator) SetSlowMode(ctx context.Context, _ string, _ bool, _ time.Duration) error {
	return m.send(ctx, "slow mode")
}
func (m *permitModerator) Say(ctx context.Context, _, _, _ string) error { return m.send(ctx, "say") }

// A request is only sent while this node leads, also if the process was suspended before it.
func TestStandby_Moderator(t *testing.T) {
	runStandby(t, func(s *standbyTest) {
		inner := &permitModerator{}
		m := s.Moderator(inner)
		message := chatguard.Message{ChannelID: "a"}
		all := map[string]func() error{
			"delete":    func() error { return m.Delete(s.t.Context(), message) },
			"warn":      func() error { return m.Warn(s.t.Context(), message, "") },
			"timeout":   func() error { return m.Timeout(s.t.Context(), message, 0, "") },
			"ban":       func() error { return m.Ban(s.t.Context(), message, "") },
			"lift":      func() error { return m.Lift(s.t.Context(), "a", "7") },
			"slow mode": func() error { return m.SetSlowMode(s.t.Context(), "a", true, 0) },
			"say":       func() error { return m.Say(s.t.Context(), "a", "", "") },
		}
		for name, request := range all {
			if err := request(); !errors.Is(err, ErrStandby) {
				s.t.Errorf("%s in a channel without messages: %v", name, err)
			}
		}
		s.leases["a"].give(10 * time.Second)
		s.send("a1")
		for name, request := range all {
			if err := request(); err != nil || inner.sent[len(inner.sent)-1] != name+" within 14s" {
				s.t.Errorf("%s while it leads: %v, sent %v", name, err, inner.sent)
			}
		}
		inner.wait = time.Minute // as if suspended
		for name, request := range all {
			s.leases["a"].give(10 * time.Second)
			if err := request(); !errors.Is(err, ErrStandby) {
				s.t.Errorf("%s after the process was suspended: %v", name, err)
			}
		}
		if s.Leads("a") {
			s.t.Error("it still leads")
		}
	})
	if NewStandby(nil, nil).Moderator(nil) != nil {
		t.Error("no Moderator has become one")
	}
}
