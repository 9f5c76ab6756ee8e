package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
)

// limited returns a policy with limits of these names, in this order. The limit "all" counts in all
// channels.
func limited(list string) chatguard.Policy {
	p := config.DefaultPolicy()
	p.Limits = nil
	for _, name := range strings.Fields(list) {
		l := chatguard.DailyWindowLimit(name, 300)
		if name == "all" {
			l.Per = chatguard.PerUserEverywhere
		}
		p.Limits = append(p.Limits, l)
	}
	return p
}

// order returns the names of a policy's limits as limited takes them.
func order(p chatguard.Policy) string {
	_, names := flatten(p)
	return strings.Join(names, " ")
}

// An order is a change only if the other changes don't lead to it.
func TestDiff_Order(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"a b c", "a b c", ""},
		{"a b c", "c a b", "[a b c] -> [c a b]"},
		{"a b c", "a c", ""},
		{"a b", "a b c d", ""},
		{"a b", "a b d c", "[a b] -> [a b d c]"},
		{"a", "a b b-b", ""},
		{"a b", "c b", "[a b] -> [c b]"},
		{"a all b", "b all a", "[a b] -> [b a]"},
		{"a all b", "all a b", ""}, // a channel can't move it
	} {
		from, to := limited(c.from), limited(c.to)
		changes := Diff(from, to)
		got := ""
		if i := slices.IndexFunc(changes, func(c journal.Change) bool { return c.Key == orderKey }); i >= 0 {
			got = fmt.Sprintf("%v -> %v", changes[i].From, changes[i].To)
		}
		if got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
		if strings.HasPrefix(c.to, "all") {
			continue
		}
		wantApplied(t, from, changes, to)
	}
}

// The order of one base is applied to another base, which has other limits.
func TestApply_OrderOfAnotherBase(t *testing.T) {
	changes := restored(t, Diff(limited("a b c"), limited("c b a")))
	for base, want := range map[string]string{"a b c": "c b a", "a new b c": "c new b a", "b a": "b a", "a all c": "c all a", "": ""} {
		if got, left := applyAll(limited(base), changes); left != nil || order(got) != want {
			t.Errorf("on %q: %q, left %v, want %q", base, order(got), left, want)
		}
	}
}

// An order that the base can't have is left out; the other changes are applied.
func TestApply_OrderRefused(t *testing.T) {
	burst := journal.Change{Key: "limit.a.messages", To: 5.0}
	for _, to := range []any{nil, "b a", []any{"b", 1.0}, map[string]any{}, []any{"b", "b", "a"}} {
		wrong := journal.Change{Key: orderKey, To: to}
		got, left := applyAll(limited("a b"), []journal.Change{burst, wrong})
		if len(left) != 1 || left[0].Key != orderKey || order(got) != "a b" || got.Limits[0].Messages != 5 {
			t.Errorf("%v: %s, left %v", to, order(got), left)
		}
	}
}

// A changed order is stored, listed and reverted like every other change, and survives a restart
// and a new configuration.
func TestRevise_Order(t *testing.T) {
	o := newOffice(t)
	request := Request{ChannelID: channel, Author: "berta"}
	turn := edited(func(p *chatguard.Policy) { slices.Reverse(p.Limits) })
	const want = "[{order [burst daily] [daily burst]}]"
	done, err := o.Revise(t.Context(), request, turn)
	if err != nil || fmt.Sprint(done.Changes) != want || fmt.Sprint(done.Revision.Changes) != want {
		t.Errorf("%+v, %v", done, err)
	}
	wantOrder := func(when, want string) {
		t.Helper()
		if got := order(o.guard.ChannelPolicy(channel)); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	wantOrder("revised", "daily burst")
	o.start()
	wantOrder("restarted", "daily burst")
	next := bursting(4)
	next.Limits = append(next.Limits, chatguard.DailyWindowLimit("third", 9))
	must(t, o.Reload(&file{all: next}, func() error { return nil }))
	wantOrder("reloaded", "daily burst third")
	if got := fmt.Sprint(o.Difference(channel)); got != "[{order [burst daily third] [daily burst third]}]" {
		t.Errorf("differences %s", got)
	}
	must(t, errorOf(o.Discard(t.Context(), request)))
	wantOrder("discarded", "burst daily third")
	must(t, errorOf(o.Revert(t.Context(), request, 1)))
	wantOrder("reverted", "daily burst")
	past, _, err := o.History(t.Context(), channel, 0, 50)
	if err != nil || len(past) != 3 || fmt.Sprint(past[2].Difference) != want || fmt.Sprint(past[1].Difference) != "[{order [daily burst] [burst daily]}]" {
		t.Errorf("history %+v, %v", past, err)
	}
}

// A program's limits that count in all channels don't look like a change of the order.
func TestDifference_OrderOfProgram(t *testing.T) {
	o := newOffice(t, givenByProgram)
	must(t, o.guard.SetPolicy(limited("burst all daily")))
	_, err := o.Revise(t.Context(), Request{ChannelID: channel}, edited(func(p *chatguard.Policy) { p.Limits[0].Messages = 7 }))
	if got := fmt.Sprint(o.Difference(channel)); err != nil || got != "[{limit.burst.messages 300 7}]" {
		t.Errorf("differences %s, %v", got, err)
	}
}
