package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var monday = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// script is a Source that delivers its batches, then waits or returns its error.
type script struct {
	batches [][]Message
	err     error
	end     func()
}

func (s script) Run(ctx context.Context, sink Sink) error {
	for _, batch := range s.batches {
		sink.Messages(time.Time{}, batch)
	}
	if s.err != nil {
		return s.err
	}
	if s.end != nil {
		s.end()
	}
	<-ctx.Done()
	return nil
}

// recorder is a Moderator that records its calls.
type recorder struct {
	mu    sync.Mutex
	done  []string
	err   error
	fails map[string]error // errors of some kinds of calls, by the first word of their record
	block chan struct{}    // if set, calls wait for it or for the context
	spent int              // requests made
	most  int              // request limit; 0 means unlimited
	// soon is how many more requests may be made a little later.
	soon  int
	slow  slowMode // current setting
	asked int      // lookups of slow mode

	noParent bool // no message can be replied to

	lost            error         // of a blocked call whose context ends, too
	refused, failed string        // results of Trouble
	takes           time.Duration // duration of a request
	idle            time.Duration // wait before each request, as before another try
}

func (r *recorder) do(ctx context.Context, format string, args ...any) error {
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), r.lost)
		}
	}
	if r.idle > 0 {
		if err := Idle(ctx, errors.New("status 429"), func() error { time.Sleep(r.idle); return nil }); err != nil {
			return err
		}
	}
	NoteRequest(ctx)
	time.Sleep(r.takes) // simulated time
	NoteRequest(ctx)    // once more, as if the first request had failed
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent++
	r.done = append(r.done, fmt.Sprintf(format, args...))
	kind, _, _ := strings.Cut(format, " ")
	return cmp.Or(r.fails[kind], r.err)
}

// requests returns the requests so far.
func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.done)
}

func (r *recorder) Lift(ctx context.Context, _, userID string) error {
	return r.do(ctx, "lift %s", userID)
}

func (r *recorder) Removed(Removal)                {}
func (r *recorder) Lifted(Lift)                    {}
func (r *recorder) Wrote(_, _ string, _ time.Time) {}

func (r *recorder) Left(within time.Duration) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most == 0 {
		return 1000
	}
	left := max(0, r.most-r.spent)
	if within > 0 {
		left += r.soon
	}
	return left
}

func (r *recorder) Trouble() (refused, failed string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused, r.failed
}

func (r *recorder) allow(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most += more
}

func (r *recorder) SlowMode(context.Context, string) (bool, time.Duration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.slow.On, r.slow.Wait, r.err
}

func (r *recorder) SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error {
	err := r.do(ctx, "slow mode in %s: %v %s", channelID, on, wait)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = slowMode{on, wait}
	return err
}

func (r *recorder) Say(ctx context.Context, channelID, text, replyTo string) error {
	if err := r.do(ctx, "say in %s to %q: %s", channelID, replyTo, text); err != nil || replyTo == "" || !r.noParent {
		return err
	}
	return ErrNoParent
}

func (r *recorder) Delete(ctx context.Context, m chatguard.Message) error {
	return r.do(ctx, "delete %s", m.ID)
}

func (r *recorder) Warn(ctx context.Context, m chatguard.Message, reason string) error {
	return r.do(ctx, "warn %s for %s: %s", m.User.ID, m.ID, reason)
}

func (r *recorder) Timeout(ctx context.Context, m chatguard.Message, length time.Duration, reason string) error {
	return r.do(ctx, "timeout %s %s: %s", m.User.ID, length, reason)
}

func (r *recorder) Ban(ctx context.Context, m chatguard.Message, reason string) error {
	return r.do(ctx, "ban %s: %s", m.User.ID, reason)
}

// play runs a Bot until the Source has delivered the batches. It returns the outcomes in entry
// order.
func play(t *testing.T, o Options, policy chatguard.Policy, batches ...[]Message) ([]journal.Outcome, *Bot) {
	t.Helper()
	guard, err := chatguard.New(policy, nil)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var outcomes []journal.Outcome
	o.Guard, o.Source = guard, script{batches: batches, end: cancel}
	o.Now = func() time.Time { return monday }
	o.Report = func(out journal.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		outcomes = append(outcomes, out)
	}
	bot := New(o)
	must(t, bot.Run(ctx))
	slices.SortFunc(outcomes, func(a, b journal.Outcome) int { return int(a.Entry - b.Entry) })
	return outcomes, bot
}

// enforcePolicy returns a policy that enforces the ladder from each user's second message on.
func enforcePolicy(ladder ...string) chatguard.Policy {
	p := config.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	p.Limits = []chatguard.Limit{{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour}}
	p.Penalties.StrikeEvery = 0
	p.Penalties.Ladder = nil
	for _, text := range ladder {
		var rung chatguard.Penalty
		if err := rung.UnmarshalText([]byte(text)); err != nil {
			panic(err)
		}
		p.Penalties.Ladder = append(p.Penalties.Ladder, rung)
	}
	return p
}

func message(id, user string, roles ...chatguard.Role) Message {
	return Message{Message: chatguard.Message{ID: id, ChannelID: "1", SentAt: monday, User: chatguard.User{ID: user, Roles: chatguard.Roles(roles)}}}
}

func TestBot_ActsOnce(t *testing.T) {
	m := &recorder{}
	mirrored := message("m1", "7")
	mirrored.SourceChannelID = "2"
	outcomes, bot := play(t, Options{Moderator: m}, enforcePolicy("delete", "warn", "timeout 30s", "ban"),
		[]Message{message("a1", "7"), message("a2", "7"), message("b1", "8"), mirrored},
		[]Message{message("a3", "7"), message("c1", "9", chatguard.RoleModerator), message("c2", "9", chatguard.RoleModerator)},
		[]Message{message("a4", "7"), message("a5", "7"), message("d1", "5", roles.Broadcaster), message("d2", "5", roles.Broadcaster)},
		[]Message{message("e1", "6", roles.LeadModerator), message("e2", "6", roles.LeadModerator)},
	)
	const why = "Too many messages (limit burst)."
	want := []string{"delete a2", "delete a3", "warn 7 for a3: " + why, "timeout 7 30s: " + why + " The next one is allowed in 60 min.", "ban 7: " + why}
	if !slices.Equal(m.done, want) {
		t.Errorf("done %q\nwant %q", m.done, want)
	}
	if len(outcomes) != 4 {
		t.Fatalf("outcomes %v", outcomes)
	}
	for _, o := range outcomes {
		if o.Result != journal.Done || o.Entry == 0 || o.Reason != "" || !o.At.Equal(monday) {
			t.Errorf("outcome %+v", o)
		}
	}
	if got, want := bot.Counts(), (Counts{Messages: 12, Exempt: 6, Throttled: 4, Deleted: 2, Punished: 3}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestBot_Observe(t *testing.T) {
	m, p := &recorder{}, enforcePolicy("delete")
	p.Mode = chatguard.ModeObserve
	outcomes, bot := play(t, Options{Moderator: m}, p, []Message{message("a1", "7"), message("a2", "7")})
	if len(m.done) != 0 || len(outcomes) != 0 || bot.Counts() != (Counts{Messages: 2, Observed: 1}) {
		t.Errorf("done %v, outcomes %v, counts %+v", m.done, outcomes, bot.Counts())
	}
}

func TestBot_FailuresAndLimits(t *testing.T) {
	for _, test := range []struct {
		name      string
		moderator Moderator
		ladder    string
		result    journal.Result
		reason    string
	}{
		{"the platform refuses", &recorder{err: errors.New("not a moderator")}, "delete", journal.Failed, "not a moderator"},
		{"nobody to act", nil, "delete", journal.Skipped, "there is no token: chatguard only reads"},
		{"a penalty of chat servers", &recorder{}, "drop", journal.Skipped, "a chat bot can't drop"},
	} {
		outcomes, _ := play(t, Options{Moderator: test.moderator}, enforcePolicy(test.ladder), []Message{message("a1", "7"), message("a2", "7")})
		if len(outcomes) != 1 || outcomes[0].Result != test.result || outcomes[0].Reason != test.reason {
			t.Errorf("%s: %+v", test.name, outcomes)
		}
	}
}

func TestBot_SparesModerators(t *testing.T) {
	m, p := &recorder{}, enforcePolicy("timeout 30s")
	p.Exempt = nil
	for _, role := range []chatguard.Role{chatguard.RoleModerator, roles.LeadModerator, roles.Broadcaster} {
		outcomes, _ := play(t, Options{Moderator: m}, p, []Message{message("a1", "7", role), message("a2", "7", role)})
		if len(outcomes) != 1 || outcomes[0].Result != journal.Skipped || len(m.done) != 0 {
			t.Errorf("%s: %+v, %v", role, outcomes, m.done)
		}
	}
}

// stuckModerator is a Moderator whose calls never complete in one channel.
type stuckModerator struct {
	*recorder
	channelID string
}

func (s stuckModerator) Delete(ctx context.Context, m chatguard.Message) error {
	if m.ChannelID == s.channelID {
		<-ctx.Done()
		return ctx.Err()
	}
	defer close(s.recorder.block)
	return nil
}

func TestBot_ChannelsAreIndependent(t *testing.T) {
	var batch []Message
	for i := range 100 {
		user := fmt.Sprint(i)
		batch = append(batch, message("x", user), message("y", user))
	}
	for _, id := range []string{"b1", "b2"} {
		m := message(id, "7")
		m.ChannelID = "2"
		batch = append(batch, m)
	}
	m := stuckModerator{&recorder{block: make(chan struct{})}, "1"}
	guard, err := chatguard.New(enforcePolicy("delete"), &chatguard.Options{Now: func() time.Time { return monday }})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	source := script{batches: [][]Message{batch}, end: func() { <-m.block; cancel() }}
	must(t, New(Options{Guard: guard, Moderator: m, Source: source, Grace: time.Nanosecond}).Run(ctx))
}

func TestBot_StopEndsPending(t *testing.T) {
	for lost, begun := range map[error]journal.Outcome{
		nil:           {Result: journal.Failed, Reason: "chatguard stopped: context canceled"},
		ErrUnanswered: {Result: journal.Unknown, Reason: "chatguard stopped before it was answered"},
	} {
		testStopEndsPending(t, lost, begun)
	}
}

func testStopEndsPending(t *testing.T, lost error, begun journal.Outcome) {
	m := &recorder{block: make(chan struct{}), lost: lost}
	outcomes, _ := play(t, Options{Moderator: m, Grace: time.Nanosecond}, enforcePolicy("delete"), []Message{message("a1", "7"), message("a2", "7"), message("a3", "7")})
	// The first penalty may have begun or not.
	waited := journal.Outcome{Result: journal.Skipped, Reason: "chatguard stopped"}
	is := func(o, want journal.Outcome) bool { return o.Result == want.Result && o.Reason == want.Reason }
	if len(outcomes) != 2 || !is(outcomes[0], begun) && !is(outcomes[0], waited) || !is(outcomes[1], waited) {
		t.Errorf("outcomes %+v", outcomes)
	}
}

func TestBot_SourceError(t *testing.T) {
	guard, err := chatguard.New(enforcePolicy("delete"), nil)
	must(t, err)
	want := errors.New("login refused")
	if err := New(Options{Guard: guard, Source: script{err: want}}).Run(t.Context()); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
}

// A Standby passes on the messages of different channels at the same time.
func TestBot_ChannelsAtOnce(t *testing.T) {
	answered := make(chan string, 100)
	answer := func(_ context.Context, m chatguard.Message) string {
		answered <- m.ID
		return ""
	}
	testWithBot(t, Options{Answer: answer}, func(s *stage) {
		var channels sync.WaitGroup
		for _, channel := range []string{"1", "2", "3"} {
			channels.Go(func() {
				for n := range 10 {
					m := message(fmt.Sprint(channel, "-", n), fmt.Sprint("user", n))
					m.ChannelID, m.Text = channel, QuotaCommand
					s.sink.Messages(time.Time{}, []Message{m, m})
				}
			})
		}
		channels.Wait()
		s.wait(0)
		if judged := s.bot.Counts().Messages; judged != 30 || len(answered) != 30 {
			s.Errorf("%d messages judged, %d commands answered; want 30 each", judged, len(answered))
		}
	}, "delete")
}

// A penalty for a repeated text says that it was the same message, and when that is allowed again:
// another message may be allowed now.
func TestBot_ReasonsOfRepeatedText(t *testing.T) {
	copies := chatguard.SlidingLogLimit("copies", 1, time.Hour)
	copies.Per = chatguard.PerUserText
	p := enforcePolicy("warn", "timeout 30s")
	p.Limits = []chatguard.Limit{copies}
	said := func(id string) Message {
		m := message(id, "7")
		m.Text = "buy my new drawing of a frog"
		return m
	}
	m := &recorder{}
	play(t, Options{Moderator: m}, p, []Message{said("a1"), said("a2")}, []Message{said("a3")})
	const why = "The same message again (limit copies)."
	if want := []string{"delete a2", "warn 7 for a2: " + why, "timeout 7 30s: " + why + " It is allowed in 60 min."}; !slices.Equal(m.done, want) {
		t.Errorf("done %q\nwant %q", m.done, want)
	}
}
