package peers

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// start is the time of the first step of each table. A minute, an hour and a day begin then.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// silent is a log that nobody reads.
var silent = slog.New(slog.DiscardHandler)

// facts checks the facts of a peer's tests, and counts them.
type facts struct {
	*testing.T
	tally *tally
}

// tally counts facts.
type tally struct {
	hold, differ, lacking int
	notes                 []note
}

// note is a reason why facts differ or aren't expressible.
type note struct {
	n      int
	reason string
}

// group runs a part of the facts as a subtest.
func (f *facts) group(name string, part func(*facts)) {
	f.Helper()
	f.Run(name, func(t *testing.T) { part(&facts{t, f.tally}) })
}

// lacks records n assertions about something that chatguard doesn't have.
func (f *facts) lacks(n int, reason string) {
	f.tally.lacking += n
	f.tally.note(n, "not expressible", reason)
}

// holds checks that chatguard's answer is the peer's.
func (f *facts) holds(name string, answer, theirs any) {
	f.Helper()
	f.check(fact{name: name, theirs: theirs}, answer)
}

// every holds one fact for a loop of a peer's test that expects the same of each round.
func (f *facts) every(name string, rounds int, holds func(round int) bool) {
	f.Helper()
	good := 0
	for good < rounds && holds(good) {
		good++
	}
	f.holds(name+": rounds that hold", good, rounds)
}

// differs checks that chatguard's answer is the given other one, and not the peer's.
func (f *facts) differs(name string, answer, theirs, ours any, reason string) {
	f.Helper()
	f.check(fact{name: name, theirs: theirs, ours: ours, reason: reason}, answer)
}

func (f *facts) check(want fact, answer any) {
	f.Helper()
	if problem := want.problem(answer); problem != "" {
		f.Error(problem)
	}
	if want.reason == "" {
		f.tally.hold++
		return
	}
	f.tally.differ++
	f.tally.note(1, "differ", want.reason)
}

// note counts n facts with the same reason.
func (c *tally) note(n int, what, reason string) {
	reason = what + ": " + reason
	if i := slices.IndexFunc(c.notes, func(known note) bool { return known.reason == reason }); i >= 0 {
		c.notes[i].n += n
		return
	}
	c.notes = append(c.notes, note{n, reason})
}

// fact is one assertion: what a peer's test expects of an answer.
type fact struct {
	name   string
	of     func(answer) any
	theirs any
	ours   any    // chatguard's answer, if it differs
	reason string // why it differs; empty if it doesn't
}

// but says that chatguard's answer is another one, and why.
func (want fact) but(ours any, reason string) fact {
	want.ours, want.reason = ours, reason
	return want
}

// problem says what is wrong with an answer; empty means nothing.
func (want fact) problem(answer any) string {
	switch {
	case want.reason == "" && answer != want.theirs:
		return fmt.Sprintf("%s is %v, want %v", want.name, answer, want.theirs)
	case want.reason != "" && answer == want.theirs:
		return fmt.Sprintf("%s is %v as in the peer's test: the difference is gone (%s)", want.name, answer, want.reason)
	case want.reason != "" && answer != want.ours:
		return fmt.Sprintf("%s is %v, want %v (%s)", want.name, answer, want.ours, want.reason)
	}
	return ""
}

// answer is what an operation returns.
type answer struct {
	chatguard.Verdict
	taken int // the part of the cost that upTo spent
	quota int // the capacity of the tightest limit
}

// What a step expects.
var (
	yes   = fact{name: "allowed", of: func(a answer) any { return a.Allowed }, theirs: true}
	no    = fact{name: "allowed", of: func(a answer) any { return a.Allowed }, theirs: false}
	never = fact{name: "never", of: func(a answer) any { return a.Never }, theirs: true}
)

func allowed(want bool) fact {
	return fact{name: "allowed", of: func(a answer) any { return a.Allowed }, theirs: want}
}

func remaining(n int) fact {
	return fact{name: "remaining", of: func(a answer) any { return a.Remaining }, theirs: n}
}

func retryAfter(d time.Duration) fact {
	return fact{name: "retry after", of: func(a answer) any { return a.RetryAfter }, theirs: d}
}

// resetAfter is the time after which nothing is used any more.
func resetAfter(d time.Duration) fact {
	return fact{name: "reset after", of: func(a answer) any { return a.ResetAt.Sub(a.At) }, theirs: d}
}

func delay(d time.Duration) fact {
	return fact{name: "delay", of: func(a answer) any { return a.Delay }, theirs: d}
}

func taken(n int) fact {
	return fact{name: "taken", of: func(a answer) any { return a.taken }, theirs: n}
}

func quota(n int) fact {
	return fact{name: "quota", of: func(a answer) any { return a.quota }, theirs: n}
}

// atMost holds that nothing is used any more after at most a time.
func atMost(d time.Duration) fact {
	return fact{name: "resets in time", of: func(a answer) any { return a.ResetAt.Sub(a.At) <= d }, theirs: true}
}

// step is one call and what is expected of its answer.
type step struct {
	at   time.Duration // since start
	do   operation     // nil means check
	cost int           // 0 means 1
	want []fact
	user string // empty means always the same one
}

// message returns the message of a step.
func (s step) message() chatguard.Message {
	m := chatguard.Message{ChannelID: "1", SentAt: start.Add(s.at), Cost: s.cost}
	if m.User.ID = s.user; s.user == "" {
		m.User.ID = "2"
	}
	return m
}

// guard returns a Guard with the limits.
func (f *facts) guard(limits ...chatguard.Limit) *chatguard.Guard {
	f.Helper()
	g, err := chatguard.New(chatguard.Policy{Limits: limits}, &chatguard.Options{Now: func() time.Time { return start }})
	if err != nil {
		f.Fatal(err)
	}
	return g
}

// run runs steps with a new Guard that has one limit.
func (f *facts) run(limit chatguard.Limit, steps ...step) {
	f.Helper()
	f.steps(f.guard(limit), steps...)
}

// steps runs steps with a Guard.
func (f *facts) steps(g *chatguard.Guard, steps ...step) {
	f.Helper()
	for i, s := range steps {
		if s.do == nil {
			s.do = check
		}
		got, err := s.do(g, s.message())
		if err != nil {
			f.Fatalf("step %d: %v", i, err)
		}
		if quota := inner.Of(g).Quotas(&got.Verdict).Find(got.Tightest); quota != nil {
			got.quota = quota.Messages
		}
		for _, want := range s.want {
			value := want.of(got)
			want.name = fmt.Sprintf("step %d: %s", i, want.name)
			f.check(want, value)
		}
	}
}

// join returns the steps of several lists as one.
func join(lists ...[]step) []step { return slices.Concat(lists...) }
