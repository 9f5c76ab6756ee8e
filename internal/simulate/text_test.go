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

// TestJudge_RepeatedText checks that a preview knows the texts of recorded messages, for each way
// of sharing a limit, and says how many messages have none.
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
	for name, test := range map[string]struct {
		policy    chatguard.Policy
		messages  []journal.TimelineMessage
		throttled []uint32
		without   int
	}{
		"by one user":    {repeats(chatguard.PerUserText), known, []uint32{1, 0, 0}, 2},
		"by anybody":     {repeats(chatguard.PerText), known, []uint32{1, 1, 1}, 2},
		"older messages": {repeats(chatguard.PerText), append(old, known...), []uint32{1, 1, 1}, 4},
		"no texts":       {repeats(chatguard.PerText), old, []uint32{0, 0}, 2},
		"no such limit":  {policyOf(bucket("burst", 100)), append(old, known...), []uint32{0, 0, 0}, 0},
	} {
		got := mustJudge(t, newTimeline(test.messages...), test.policy, Overrides{})
		if !reflect.DeepEqual(got.throttled, test.throttled) || got.WithoutText != test.without {
			t.Errorf("%s: throttled %v, %d without text", name, got.throttled, got.WithoutText)
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
	plain, printed := NewTimeline(1), NewTimeline(1)
	plain.Add([]journal.TimelineMessage{message(0, "1")})
	m := message(0, "1")
	m.Print = of("a text")
	if printed.Add([]journal.TimelineMessage{m}); printed.Bytes()-plain.Bytes() != 38*blockSize {
		t.Errorf("%d bytes with a text, %d without", printed.Bytes(), plain.Bytes())
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
