package simulate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/limitinfo"
)

// printsOf returns a function that makes prints.
func printsOf(t testing.TB) func(text string) chatguard.TextPrint {
	t.Helper()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	must(t, err)
	return guard.TextPrint
}

// TestPrints_Bounded checks that the newest texts are known, and how many.
func TestPrints_Bounded(t *testing.T) {
	of, p := printsOf(t), prints{most: 3}
	var said []chatguard.TextPrint
	var references []uint32
	for i, word := range []int{0, 1, 1, 2, 0, 3, 4, 3, 0, 5, 6, 7, 7} {
		said = append(said, of(fmt.Sprint("the text with the number ", string(rune('a'+word)))))
		references = append(references, p.of(&said[i], i))
	}
	if p.of(&chatguard.TextPrint{}, len(said)) != 0 || p.get(0, len(said)) != nil {
		t.Error("no text has a print")
	}
	known := 5 // with the fourth different text, the second table began
	for i, reference := range references {
		got := p.get(reference, i)
		if (got != nil) != (i >= known) || got != nil && *got != said[i] {
			t.Errorf("text %d: %v, want %v", i, got, said[i])
		}
	}
	many := prints{}
	for i := range 5000 {
		print := of(fmt.Sprintf("a text that differs by %b", i))
		if first, again := many.of(&print, i), many.of(&print, i); first != again || *many.get(first, i) != print {
			t.Fatalf("text %d has the references %d and %d", i, first, again)
		}
	}
	if per := many.bytes() / 5000; per < 38 || per > 80 {
		t.Errorf("a text takes %d bytes", per)
	}
}

// TestJudge_RepeatedText checks that a preview knows the texts of recorded messages, for each way
// of sharing a limit, and says from when on.
func TestJudge_RepeatedText(t *testing.T) {
	of := printsOf(t)
	said := func(seconds int, user, text string) journal.TimelineMessage {
		m := message(seconds, user)
		m.Print = of(text)
		return m
	}
	const raid, other = "the same text of all", "something quite different"
	old := []journal.TimelineMessage{message(0, "1"), message(1, "2")}
	known := []journal.TimelineMessage{said(10, "1", raid), said(11, "2", raid), said(12, "1", raid), said(13, "1", other), said(14, "3", raid), message(15, "1"), message(16, "1")}
	repeats := func(per chatguard.Scope) chatguard.Policy {
		limit := bucket("repeats", 1)
		limit.Per = per
		return policyOf(limit)
	}
	from := start.Add(10 * time.Second)
	for name, test := range map[string]struct {
		policy    chatguard.Policy
		messages  []journal.TimelineMessage
		throttled []uint32
		without   int
		from      time.Time
	}{
		"by one user":    {repeats(chatguard.PerUserText), known, []uint32{1, 0, 0}, 0, time.Time{}},
		"by anybody":     {repeats(chatguard.PerText), known, []uint32{1, 1, 1}, 0, time.Time{}},
		"older messages": {repeats(chatguard.PerText), append(old, known...), []uint32{1, 1, 1}, 2, from},
		"no texts":       {repeats(chatguard.PerText), old, []uint32{0, 0}, 2, time.Time{}},
		"no such limit":  {policyOf(bucket("burst", 100)), append(old, known...), []uint32{0, 0, 0}, 0, time.Time{}},
	} {
		got := mustJudge(t, newTimeline(test.messages...), test.policy, Overrides{})
		if !reflect.DeepEqual(got.throttled, test.throttled) || got.WithoutText != test.without || !got.TextsFrom.Equal(test.from) {
			t.Errorf("%s: throttled %v, %d without text, from %s", name, got.throttled, got.WithoutText, got.TextsFrom)
		}
	}
	// Users are judged one by one, unless they share the limit.
	for per, together := range map[chatguard.Scope]bool{chatguard.PerUserText: false, chatguard.PerText: true} {
		one, err := limitinfo.Memory(repeats(per), 1)
		must(t, err)
		_, err = judgeWithBudget(context.Background(), newTimeline(known...), repeats(per), Overrides{}, one)
		if errors.As(err, new(*BudgetError)) != together {
			t.Errorf("%s: %v", per, err)
		}
	}
}

// TestTimeline_DropsWithPrints checks that prints stay with their messages when old ones are
// dropped.
func TestTimeline_DropsWithPrints(t *testing.T) {
	of, timeline := printsOf(t), NewTimeline(3)
	for i := range 3*blockSize + 5 {
		m := message(i, "1")
		m.Print = of(fmt.Sprintf("the text in binary %b", i%7))
		timeline.Add([]journal.TimelineMessage{m})
	}
	b := newBatch()
	n, _ := timeline.read(0, group{0, 1}, b)
	for i := range n {
		if want := of(fmt.Sprintf("the text in binary %b", (3*blockSize+2+i)%7)); b.messages[i].Print == nil || *b.messages[i].Print != want {
			t.Errorf("message %d has another print", i)
		}
	}
	if n != 3 {
		t.Errorf("%d messages", n)
	}
}

// TestRecordings_Texts checks that the texts of a file are known by their prints.
func TestRecordings_Texts(t *testing.T) {
	var r Recordings
	for i, text := range []string{"one text of a file", "another text of it", "", "One text  of a file"} {
		must(t, r.Add(chatguard.Message{ChannelID: "7", User: chatguard.User{ID: "1"}, Text: text, SentAt: start.Add(-time.Duration(i))}, ""))
	}
	r.Sort()
	var got []chatguard.TextPrint
	must(t, r.Timeline(t.Context(), "7", time.Time{}, func(batch []journal.TimelineMessage) error {
		for _, m := range batch {
			got = append(got, m.Print)
		}
		return nil
	}))
	if len(got) != 4 || got[0] != got[3] || got[0] == got[2] || !got[1].IsZero() || got[0].IsZero() {
		t.Errorf("the prints are %v", got)
	}
}
