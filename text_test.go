package chatguard

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/state"
)

const pasted = "join my channel, it is the best"

// textGuard returns a Guard with the usual limit and others, at a fixed time.
func textGuard(t *testing.T, list ...Limit) *Guard {
	t.Helper()
	policy := Policy{Limits: append([]Limit{TokenBucketLimit("burst", 100, time.Second)}, list...), Exempt: []Role{RoleModerator}, Penalties: Penalties{
		Ladder: []Penalty{{Action: ActionTimeout, Duration: time.Minute}}, ForgetAfter: time.Hour,
	}}
	return mustNew(t, policy, &Options{Now: func() time.Time { return textStart }})
}

var textStart = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// repeats returns a limit on repeated text: 2 in a minute.
func repeats(name string, per Scope) Limit {
	l := SlidingLogLimit(name, 2, time.Minute)
	l.Per = per
	return l
}

func say(t *testing.T, g *Guard, user, text string) Verdict {
	t.Helper()
	v, err := g.Check(t.Context(), Message{ChannelID: "1", User: User{ID: user}, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantLimit fails the test unless the message was throttled by that limit, or if it is empty,
// allowed.
func wantLimit(t *testing.T, v Verdict, limit string) {
	t.Helper()
	if v.Limit != limit {
		t.Errorf("throttled by %q, want %q: %v", v.Limit, limit, v)
	}
}

func TestPerUserText(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText))
	for range 2 {
		wantLimit(t, say(t, g, "7", pasted), "")
	}
	v := say(t, g, "7", strings.ToUpper(pasted)+"  ")
	wantLimit(t, v, "again")
	if v.RetryAfter != time.Minute || v.Strikes != 1 || v.Penalty.Action != ActionTimeout || v.Tightest != "again" || v.Remaining != 0 {
		t.Errorf("the third time: %+v", v)
	}
	wantLimit(t, say(t, g, "7", "something else entirely"), "")
	wantLimit(t, say(t, g, "8", pasted), "")
	if got := say(t, g, "8", "next"); got.Tightest != "burst" {
		t.Errorf("a short text: %+v", got)
	}
}

// What is left of a text's allowance says nothing about the author's next text.
func TestRepeatedText_IsNotTightest(t *testing.T) {
	once := repeats("once", PerUserText)
	once.Messages = 1
	g := textGuard(t, once)
	if v := say(t, g, "7", pasted); v.Tightest != "burst" || v.Remaining != 99 {
		t.Errorf("with another limit: %+v", v)
	}
	folded := CascadeLimit("copies", 1, time.Minute, 1, time.Minute)
	folded.Per = PerText
	must(t, g.SetPolicy(Policy{Limits: []Limit{folded}}))
	for _, priority := range []Priority{"", PriorityLow} {
		if v := say(t, g, "8", pasted); v.Tightest != "" || v.Remaining != -1 || !v.ResetAt.IsZero() || v.Priority != priority {
			t.Errorf("alone: %+v, want the priority %q", v, priority)
		}
	}
	if v := say(t, g, "8", pasted); v.Tightest != "copies" || v.Remaining != 0 || v.Limit != "copies" {
		t.Errorf("throttled: %+v", v)
	}
}

func TestPerText(t *testing.T) {
	g := textGuard(t, repeats("copies", PerText))
	wantLimit(t, say(t, g, "7", pasted), "")
	wantLimit(t, say(t, g, "8", pasted), "")
	v := say(t, g, "9", pasted)
	wantLimit(t, v, "copies")
	if v.Strikes != 0 || v.Penalty.Action != ActionDelete {
		t.Errorf("a shared limit: %+v", v)
	}
	wantLimit(t, say(t, g, "9", "my own words about it"), "")
}

func TestPerText_Strikes(t *testing.T) {
	l := repeats("copies", PerText)
	l.Strikes = true
	g := textGuard(t, l)
	for _, user := range []string{"7", "8"} {
		wantLimit(t, say(t, g, user, pasted), "")
	}
	if v := say(t, g, "9", pasted); v.Limit != "copies" || v.Strikes != 1 || v.Penalty.Action != ActionTimeout {
		t.Errorf("got %+v", v)
	}
}

// A message that one limit throttles spends nothing in the others.
func TestRepeatedText_AllOrNothing(t *testing.T) {
	slow := TokenBucketLimit("slow", 1, time.Minute)
	g := textGuard(t, repeats("again", PerUserText), repeats("copies", PerText), slow)
	wantLimit(t, say(t, g, "7", pasted), "")
	for range 5 {
		wantLimit(t, say(t, g, "7", pasted), "slow")
	}
	wantLimit(t, say(t, g, "8", pasted), "") // the second copy that passes
	wantLimit(t, say(t, g, "9", pasted), "copies")
	wantLimit(t, say(t, g, "9", "words of my own"), "") // "slow" has spent nothing
}

func TestRepeatedText_ExemptDontFill(t *testing.T) {
	g := textGuard(t, repeats("copies", PerText))
	for range 5 {
		v, err := g.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "1", Roles: Roles{RoleModerator}}, Text: pasted})
		if err != nil || !v.Exempt || !v.Print.IsZero() {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	wantLimit(t, say(t, g, "7", pasted), "")
}

func TestRepeatedText_FromLength(t *testing.T) {
	l := repeats("again", PerUserText)
	l.FromLength = 5
	g := textGuard(t, l)
	for range 4 {
		wantLimit(t, say(t, g, "7", "abcd"), "")
	}
	for i, want := range []string{"", "", "again"} {
		t.Log(i)
		wantLimit(t, say(t, g, "7", "abcde"), want)
	}
}

func TestRepeatedText_Emotes(t *testing.T) {
	both := repeats("emotes", PerUserText)
	both.CountEmotes = true
	for _, test := range []struct {
		limit Limit
		want  string
	}{{repeats("again", PerUserText), ""}, {both, "emotes"}} {
		g := textGuard(t, test.limit)
		var v Verdict
		for range 3 {
			var err error
			if v, err = g.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, Text: "Kappa PogChamp Kappa", Kinds: []string{KindEmotes}}); err != nil {
				t.Fatal(err)
			}
		}
		wantLimit(t, v, test.want)
	}
}

func TestRepeatedText_Similar(t *testing.T) {
	similar := repeats("similar", PerUserText)
	similar.Similar = true
	g := textGuard(t, repeats("again", PerUserText), similar)
	for i, want := range []string{"", "", "similar"} {
		wantLimit(t, say(t, g, "7", fmt.Sprint(pasted, " ", 4711+i)), want)
	}
}

// A refund gives back what the message has spent in the row of its text, and in no other.
func TestRepeatedText_Refund(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText), repeats("copies", PerText))
	said := say(t, g, "7", pasted)
	wantLimit(t, say(t, g, "7", pasted), "")
	wantLimit(t, say(t, g, "7", pasted), "again")
	data, err := json.Marshal(said)
	must(t, err)
	var v Verdict // as a program has it that received it from another one
	must(t, json.Unmarshal(data, &v))
	must(t, g.Refund(t.Context(), v))
	wantLimit(t, say(t, g, "7", pasted), "")
	wantLimit(t, say(t, g, "7", pasted), "again")
	wantLimit(t, say(t, g, "8", pasted), "copies")
}

// A program that no longer has the text judges by its print.
func TestMessage_Print(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText))
	print := g.TextPrint(pasted)
	for range 2 {
		wantLimit(t, say(t, g, "7", pasted), "")
	}
	v, err := g.Peek(t.Context(), Message{ChannelID: "1", User: User{ID: "7"}, Print: &print})
	if err != nil || v.Limit != "again" || v.Print != print {
		t.Errorf("got %+v, %v", v, err)
	}
	for _, p := range []TextPrint{{}, print, {emotes: true, exactLength: 1}} {
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var again TextPrint
		if err := again.UnmarshalText(text); err != nil || again != p {
			t.Errorf("%s: read %+v (%v), want %+v", text, again, err, p)
		}
	}
	var p TextPrint
	for _, text := range []string{"x", "AAAA", "!", strings.Repeat("_", 50)} {
		if err := p.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, p)
		}
	}
	if other := textGuard(t, repeats("again", PerUserText)); other.TextPrint(pasted) == print {
		t.Error("Guards without a TextKey have the same prints")
	}
}

// A change of the policy keeps what texts have used, unless other texts are the same now.
func TestRepeatedText_PolicyChanges(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText))
	for range 2 {
		say(t, g, "7", pasted)
	}
	change := func(change func(l *Limit)) {
		t.Helper()
		p := g.Policy()
		change(&p.Limits[1])
		if err := g.SetPolicy(p); err != nil {
			t.Fatal(err)
		}
	}
	change(func(l *Limit) { l.Messages = 3 })
	wantLimit(t, say(t, g, "7", pasted), "")
	wantLimit(t, say(t, g, "7", pasted), "again")
	change(func(l *Limit) { l.FromLength = 13 })
	wantLimit(t, say(t, g, "7", pasted), "")
	change(func(l *Limit) { l.Per, l.FromLength = PerUser, 0 })
	if v := say(t, g, "7", pasted); v.Limit != "" || !v.Print.IsZero() {
		t.Errorf("without limits on repeated text: %+v", v)
	}
}

// TestRepeatedText_ChannelForgotten forgets a channel while a batch is judged. The channel's next
// policy has no limits on repeated text.
func TestRepeatedText_ChannelForgotten(t *testing.T) {
	var g *Guard
	forget := false
	g = mustNew(t, Policy{Limits: []Limit{repeats("again", PerText)}}, &Options{Now: func() time.Time {
		if forget {
			forget = false
			g.ForgetChannel("1")
			must(t, g.SetPolicy(Policy{Limits: []Limit{TokenBucketLimit("burst", 100, time.Second)}}))
		}
		return textStart
	}})
	say(t, g, "7", pasted)
	forget = true
	m := Message{ChannelID: "1", User: User{ID: "7"}, Text: pasted}
	messages, verdicts := []Message{m, m}, make([]Verdict, 2)
	messages[0].SentAt = textStart
	must(t, g.CheckAll(t.Context(), messages, verdicts))
	for i, v := range verdicts {
		if !v.Print.IsZero() || v.Tightest != "burst" {
			t.Errorf("message %d: %v, with the print %v; want none", i, v, v.Print)
		}
	}
}

// What texts have used is kept by a store, without the texts.
func TestRepeatedText_State(t *testing.T) {
	key := [16]byte{1}
	policy := Policy{Limits: []Limit{repeats("again", PerUserText), repeats("copies", PerText)}}
	opts := &Options{TextKey: key, Now: func() time.Time { return textStart }}
	g := mustNew(t, policy, opts)
	for range 2 {
		say(t, g, "7", pasted)
	}
	batch := g.State().Dirty()
	again := mustNew(t, policy, opts)
	for row := range batch.Rows() {
		if strings.Contains(fmt.Sprintf("%q", row), "channel") {
			t.Errorf("a row has the text: %q", row)
		}
		if err := again.State().Restore(row, textStart); err != nil {
			t.Error(err)
		}
		if forgotten, err := again.State().Forgotten(row, textStart.Add(time.Hour)); err != nil || !forgotten {
			t.Errorf("%q an hour later: forgotten %v, %v", row, forgotten, err)
		}
	}
	wantLimit(t, say(t, again, "7", pasted), "again")
	wantLimit(t, say(t, again, "8", pasted), "copies")
}

func TestRepeatedText_Mistakes(t *testing.T) {
	different := func(n int) Limit {
		l := repeats(fmt.Sprint("from", n), PerText)
		l.FromLength = n
		return l
	}
	leaky := LeakyBucketLimit("queue", time.Second, 2)
	leaky.Per = PerText
	for _, test := range []struct {
		limits []Limit
		want   string
	}{
		{[]Limit{different(4), different(5), different(6), different(7), different(8)}, `limit "from8": the limits on repeated text have more than 4 different combinations`},
		{[]Limit{leaky}, `limit "queue": a repeated text can't wait in a leaky-bucket`},
		{[]Limit{different(501)}, "from_length is 501, want 1 to 500"},
		{[]Limit{different(-1)}, "from_length is -1, want 1 to 500, or leave it out for 12"},
	} {
		if err := (Policy{Limits: test.limits}).Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	g := textGuard(t)
	if _, err := g.Check(t.Context(), Message{ChannelID: "1", User: User{ID: "\x1fuet12.x"}}); err != errTextID {
		t.Errorf("a user with the key of a text: %v", err)
	}
}

// An override that takes a moderator's exemption away lets limits on repeated text count, too.
func TestRepeatedText_NotExempt(t *testing.T) {
	g := textGuard(t, repeats("copies", PerText))
	m := Message{ChannelID: "1", User: User{ID: "1", Roles: Roles{RoleModerator}}, Text: pasted}
	if err := g.SetUserOverride(t.Context(), m.Key(), UserOverride{Exempt: ExemptNever}); err != nil {
		t.Fatal(err)
	}
	verdicts := make([]Verdict, 2)
	if err := g.CheckAll(t.Context(), []Message{m, m}, verdicts); err != nil {
		t.Fatal(err)
	}
	peeked, err := g.Peek(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	wantLimit(t, peeked, "copies")
	v, err := g.Check(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	wantLimit(t, v, "copies")
	m.User.ID = "2" // another moderator
	if v, err = g.Check(t.Context(), m); err != nil || !v.Exempt || !v.Print.IsZero() {
		t.Errorf("an exempt moderator: %+v, %v", v, err)
	}
}

// Whatever order the limits of a policy have, decisions lock the rows of a channel in the same
// order. Otherwise two of them could wait for each other during a change.
func TestRepeatedText_OrderOfTables(t *testing.T) {
	a, b, c := repeats("a", PerUserText), repeats("b", PerText), repeats("c", PerText)
	c.Similar = true
	g := textGuard(t, a, b)
	say(t, g, "7", pasted)
	tables := func() (names []string) {
		for _, table := range *g.channels.known.find("1").texts.Load() {
			names = append(names, fmt.Sprint(table.same))
		}
		return names
	}
	before := tables()
	for _, list := range [][]Limit{{b, a}, {c, b, a}, {b}, {a, b}} {
		if err := g.SetPolicy(Policy{Limits: list}); err != nil {
			t.Fatal(err)
		}
	}
	if after := tables(); before[0] != after[1] || before[1] != after[0] {
		t.Errorf("%q became %q: the table that stayed isn't first", before, after)
	}
}

// No method takes a user for a text.
func TestRepeatedText_UserIDs(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText))
	v := say(t, g, "7", pasted)
	id := g.channels.known.find("1").textKeys(&g.channels.textKey, &v.Print, "7")[0]
	m, ctx := Message{ChannelID: "1", User: User{ID: id}, Text: pasted}, t.Context()
	for name, err := range map[string]error{
		"Validate": m.Validate(), "CheckAll": g.CheckAll(ctx, []Message{m}, make([]Verdict, 1)), "Reset": g.Reset(ctx, m.Key()),
		"Refund":          g.Refund(ctx, Verdict{ChannelID: "1", UserID: id, Spent: 1, At: textStart}),
		"SetUserOverride": g.SetUserOverride(ctx, m.Key(), UserOverride{Exempt: ExemptAlways}),
		"Check":           second(g.Check(ctx, m)), "Peek": second(g.Peek(ctx, m)), "Grant": second(g.Grant(ctx, m.Key(), "", 1)),
		"Pardon": second(g.Pardon(ctx, Verdict{ChannelID: "1", UserID: id, At: textStart})), "UserOverride": second(g.UserOverride(ctx, m.Key())),
		"Reserve": second(g.Reserve(ctx, m)), "Wait": second(g.Wait(ctx, m)),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, want := range []string{"", "again"} {
		wantLimit(t, say(t, g, "7", pasted), want)
	}
}

func second[T any](_ T, err error) error { return err }

// A store's row with the key of a text that nobody has written, or of a user's strikes in place of
// a text's usage, has no effect.
func TestRepeatedText_DamagedRows(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText))
	v := say(t, g, "7", pasted)
	c := g.channels.known.find("1")
	key := c.textKeys(&g.channels.textKey, &v.Print, "7")[0]
	var row state.Row
	for r := range g.State().Dirty().Rows() {
		if r.UserID == key {
			row = r
		}
	}
	users := (*c.texts.Load())[0].table.Users()
	for _, bad := range []string{key[:len(key)-1], key + "A", key[:len(key)-1] + "_", key[:6] + "\n" + key[7:], key[:6] + "_" + key[7:], "\x1fuet13" + key[6:], "\x1f"} {
		row.UserID = bad
		if err := g.State().Restore(row, textStart); err != nil {
			t.Errorf("%q: %v", bad, err)
		}
		if gone, err := g.State().Forgotten(row, textStart.Add(time.Hour)); err != nil || !gone {
			t.Errorf("%q: forgotten %v, %v", bad, gone, err)
		}
	}
	row.UserID = key
	for limit, data := range map[string]string{"": "\x02\x00\x00\x05\x05\x05\x01", "+": "\x02\xff{\"exemption\":1}"} {
		row.Limit, row.Data = limit, []byte(data)
		if err := g.State().Restore(row, textStart); err != nil {
			t.Errorf("%q: %v", limit, err)
		}
	}
	if table := (*c.texts.Load())[0].table; table.Users() != users || table.HasOwn() {
		t.Errorf("%d rows of texts, want %d", table.Users(), users)
	}
}

// However long and strange a text is, it has a print, and its cost is bounded.
func TestRepeatedText_StrangeTexts(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText), repeats("copies", PerText))
	for name, text := range map[string]string{
		"four-byte characters": strings.Repeat("😀🎉", 250), "invalid UTF-8": strings.Repeat("\xff\xfe", 20) + "and then some text", "a megabyte": strings.Repeat("all the same words ", 1<<16),
		"invisible": strings.Repeat("\u200b", 1<<20), "cut": strings.Repeat("ab cd", 20) + "\xf0\x9f",
	} {
		for range 2 {
			wantLimit(t, say(t, g, name, text), "")
		}
		want := "again"
		if name == "invisible" { // it is empty
			want = ""
		}
		if v := say(t, g, name, text); v.Limit != want || v.Print.IsZero() != (want == "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Limits on repeated text may come, go and change while messages are judged, given back and saved.
func TestRepeatedText_ConcurrentChanges(t *testing.T) {
	again, copies, similar, longer := repeats("again", PerUserText), repeats("copies", PerText), repeats("similar", PerText), repeats("again", PerUserText)
	similar.Similar, longer.FromLength = true, 20
	g := textGuard(t)
	ctx := t.Context()
	message := func(i int) Message {
		return Message{ChannelID: fmt.Sprint(i % 2), User: User{ID: fmt.Sprint(i % 5)}, Text: fmt.Sprint(pasted, i%7)}
	}
	var working sync.WaitGroup
	for k, work := range []func(i int) error{
		func(i int) error {
			v, err := g.Check(ctx, message(i))
			if err == nil && i%3 == 0 {
				err = g.Refund(ctx, v)
			}
			return err
		},
		func(i int) error {
			verdicts := make([]Verdict, 5)
			return g.CheckAll(ctx, []Message{message(i), message(i), message(i + 1), message(i + 2), message(i)}, verdicts)
		},
		func(i int) error { return second(g.Peek(ctx, message(i))) },
		func(i int) error {
			batch := g.State().Dirty()
			for row := range batch.Rows() {
				if _, err := g.State().Forgotten(row, textStart); err != nil {
					return err
				}
			}
			if i%2 == 0 {
				batch.Confirm()
			} else {
				batch.Release()
			}
			return nil
		},
		func(i int) error {
			g.State().DirtyAll()
			if g.Rewind(textStart); i%5 == 0 {
				g.ForgetChannel(fmt.Sprint(i % 2))
			}
			return nil
		},
		func(i int) error {
			lists := [][]Limit{{again, copies}, {copies, again}, {similar, longer}, nil, {copies, longer}, {longer, similar, copies}}
			return g.SetPolicy(Policy{Limits: append([]Limit{TokenBucketLimit("burst", 100, time.Second)}, lists[i%len(lists)]...)})
		},
	} {
		working.Go(func() {
			for i := range 300 {
				if err := work(k + i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	g.ForgetChannel("1")
	if err := g.SetPolicy(Policy{Limits: []Limit{again}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "", "again"} {
		wantLimit(t, say(t, g, "9", pasted), want)
	}
}

// A decision with limits on repeated text needs no memory, if the text has been written before.
func TestRepeatedText_DoesNotAllocate(t *testing.T) {
	g := textGuard(t, repeats("again", PerUserText), repeats("copies", PerText))
	m, at := Message{ChannelID: "1", User: User{ID: "7"}, Text: pasted}, textStart
	if n := testing.AllocsPerRun(100, func() {
		at = at.Add(time.Second)
		m.SentAt = at
		if _, err := g.Check(t.Context(), m); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
