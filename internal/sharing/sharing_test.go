package sharing_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

var sharedStart = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func sharedNoon() time.Time { return sharedStart }

var bothModes = []shared.Mode{shared.Exact, shared.Synchronised}

// enforced returns the default policy, enforced, with other limits if there are any.
func enforced(limits ...chatguard.Limit) chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	if len(limits) > 0 {
		p.Limits = limits
	}
	return p
}

// with adds limits to a policy.
func with(p chatguard.Policy, limits ...chatguard.Limit) chatguard.Policy {
	p.Limits = slices.Concat(p.Limits, limits)
	return p
}

// per returns a limit of another scope.
func per(scope chatguard.Scope, l chatguard.Limit) chatguard.Limit {
	l.Per = scope
	return l
}

// dayOnly is a policy of one limit: 300 messages per day.
func dayOnly() chatguard.Policy { return enforced(enforced().Limits[1]) }

// sharedPolicy has a limit of each scope, so that a decision uses four rows.
func sharedPolicy() chatguard.Policy {
	return with(enforced(),
		per(chatguard.PerUserEverywhere, chatguard.SlidingWindowLimit("everywhere", 8, time.Minute)),
		per(chatguard.PerChannel, chatguard.FixedWindowLimit("room", 40, time.Minute)),
		per(chatguard.PerEverywhere, chatguard.TokenBucketLimit("server", 50, 2*time.Second)))
}

// comparableVerdict returns a verdict without the fields that differ between two Guards by design.
func comparableVerdict(v chatguard.Verdict) chatguard.Verdict {
	v.EntryID, v.Series = 0, 0
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustNew(t testing.TB, policy chatguard.Policy, opts *chatguard.Options) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(policy, opts)
	must(t, err)
	return guard
}

// checker is a Guard or a node.
type checker interface {
	Check(ctx context.Context, m chatguard.Message) (chatguard.Verdict, error)
	CheckAll(ctx context.Context, messages []chatguard.Message, verdicts []chatguard.Verdict) error
}

// seven and eight are users in a channel.
var seven, eight = chatguard.Key{ChannelID: "c", UserID: "7"}, chatguard.Key{ChannelID: "c", UserID: "8"}

// exempt is an override.
var exempt = chatguard.UserOverride{Exempt: chatguard.ExemptAlways}

// pasted is the text of messages, for limits on repeated text.
const pasted = "the same text each time"

// message returns a message of a user.
func message(user string) chatguard.Message {
	return chatguard.Message{ChannelID: "c", User: chatguard.User{ID: user}, Text: pasted}
}

// messagesOf returns a message of each of that many users.
func messagesOf(users int) (messages []chatguard.Message) {
	for user := range users {
		messages = append(messages, message(fmt.Sprint(user)))
	}
	return messages
}

// judge returns the verdict on a message. An error fails the test. It may be called by any
// goroutine.
func judge(t testing.TB, g checker, m chatguard.Message) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(t.Context(), m)
	if err != nil {
		t.Error(err)
	}
	return v
}

// judgeAll returns the verdicts of CheckAll.
func judgeAll(t testing.TB, g checker, messages []chatguard.Message) []chatguard.Verdict {
	t.Helper()
	verdicts := make([]chatguard.Verdict, len(messages))
	must(t, g.CheckAll(t.Context(), messages, verdicts))
	return verdicts
}

// check sends one message of a user.
func check(t testing.TB, g checker, user string) chatguard.Verdict {
	t.Helper()
	return judge(t, g, message(user))
}

// send sends messages of user 7, and returns how many are allowed.
func send(t testing.TB, g checker, n int) (allowed int) {
	t.Helper()
	for range n {
		if check(t, g, "7").Allowed {
			allowed++
		}
	}
	return allowed
}

// checkEach sends one message of each of that many users.
func checkEach(t testing.TB, g checker, users int) {
	t.Helper()
	for _, m := range messagesOf(users) {
		judge(t, g, m)
	}
}

// used returns how many messages of a day's 300 count on a node, with the one that it sends.
func used(t testing.TB, n *node) int {
	t.Helper()
	return 300 - check(t, n, "7").Remaining
}

// explain explains a message of a user.
func explain(t testing.TB, n *node, user string) limitinfo.Explanation {
	t.Helper()
	e, err := limitinfo.Explain(t.Context(), n.Guard, message(user))
	must(t, err)
	return e
}

// All nodes together allow what one Guard alone would, from many goroutines at the same time.
func TestShared_NeverTooManyOrTooFew(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforced(), "all scopes": sharedPolicy()} {
		t.Run(name, func(t *testing.T) {
			const users = 5
			server := newServer(t, shared.Exact, policy)
			nodes := server.joinAll(3)
			alone := mustNew(t, policy, &chatguard.Options{Now: server.clock})
			got, want := 0, 0
			for range 4 {
				var wg sync.WaitGroup
				for n, node := range nodes {
					for k := range 4 {
						wg.Go(func() {
							for i := range 100 {
								check(t, node, fmt.Sprint((n+k+i)%users))
							}
						})
					}
				}
				wg.Wait()
				for i := range users * 4 {
					if check(t, alone, fmt.Sprint(i%users)).Allowed {
						want++
					}
				}
				server.now = server.now.Add(4 * time.Second)
			}
			for u := range users {
				got += explain(t, nodes[0], fmt.Sprint(u)).Limits[1].Used
			}
			if got != want {
				t.Errorf("%d messages passed, want %d", got, want)
			}
		})
	}
}

// Of two limits that wait as long, the first of the channel's policy is named, whichever call asks.
func TestShared_PolicyOrder(t *testing.T) {
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.UserWindowLimit("own", 1, time.Hour),
		per(chatguard.PerUserEverywhere, chatguard.UserWindowLimit("everywhere", 1, time.Hour)),
	}}
	node := newServer(t, shared.Exact, policy).join()
	slices.Reverse(policy.Limits)
	must(t, node.SetChannelPolicy("2", policy))
	for channel, first := range map[string]string{"1": "own", "2": "everywhere"} {
		m := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: "of " + channel}}
		verdicts := judgeAll(t, node, []chatguard.Message{m, m})
		v := judge(t, node, m)
		e, err := limitinfo.Explain(t.Context(), node.Guard, m)
		must(t, err)
		if got := []string{verdicts[1].Limit, v.Limit, e.Verdict.Limit, e.Limits[0].Name}; slices.ContainsFunc(got, func(name string) bool { return name != first }) {
			t.Errorf("channel %s: %q are named, want %s", channel, got, first)
		}
	}
}

// A new policy of a channel, or of all channels, is in force at the next message on every node that
// has it, and keeps what was spent, as on a Guard alone.
func TestShared_PolicyChange(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	a, b := server.join(), server.join()
	send(t, a, 3)
	slower := enforced()
	slower.Limits[0].Refill = 8 * time.Second
	for _, n := range server.nodes {
		must(t, n.SetPolicy(slower))
	}
	if v := check(t, b, "7"); v.Allowed || v.RetryAfter != 8*time.Second {
		t.Errorf("after the refill was doubled: %+v", v)
	}
	larger := enforced()
	larger.Limits[0].Burst = 5
	must(t, a.SetChannelPolicy("c", larger))
	if got := send(t, a, 4); got != 2 {
		t.Errorf("%d messages are allowed by a burst of 5 after 3, want 2", got)
	}
	must(t, a.SetPolicy(with(enforced(), per(chatguard.PerUserEverywhere, chatguard.UserWindowLimit("everywhere", 1, time.Minute)))))
	if first, second := check(t, a, "8"), check(t, a, "8"); !first.Allowed || second.Limit != "everywhere" {
		t.Errorf("with a limit in all channels: %v, then %v", first, second)
	}
	if v := check(t, a, "7"); v.Limit != "burst" {
		t.Errorf("%v, want the burst that was used up before", v)
	}
}

// Messages elsewhere change a row that doesn't refuse, so it isn't judged from memory.
func TestShared_OneOfTwoRowsRefuses(t *testing.T) {
	policy := enforced(chatguard.TokenBucketLimit("burst", 3, 4*time.Second),
		per(chatguard.PerUserEverywhere, chatguard.FixedWindowLimit("everywhere", 4, time.Hour)))
	server := newServer(t, shared.Exact, policy)
	server.now = sharedStart.Add(time.Minute)
	a, b := server.join(), server.join()
	alone := mustNew(t, policy, &chatguard.Options{Now: server.clock})
	for i, sent := range []struct {
		on      *node
		channel string
	}{{a, "one"}, {a, "one"}, {a, "one"}, {a, "one"}, {a, "one"}, {b, "two"}, {a, "one"}, {a, "one"}} {
		m := chatguard.Message{ChannelID: sent.channel, User: chatguard.User{ID: "7"}}
		got, want := judge(t, sent.on, m), judge(t, alone, m)
		if got.Allowed != want.Allowed || got.RetryAfter != want.RetryAfter || got.Limit != want.Limit {
			t.Errorf("message %d: %v by %s after %v, want %v by %s after %v", i, got.Allowed, got.Limit, got.RetryAfter, want.Allowed, want.Limit, want.RetryAfter)
		}
	}
	if a.counts().FromMemory == 0 {
		t.Error("nothing is refused from memory although both rows refuse")
	}
}
