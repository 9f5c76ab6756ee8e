package repeats

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

var start = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// memory is a Memory with its Guard, whose clock tests set.
type memory struct {
	*Memory
	t     testing.TB
	guard *chatguard.Guard
	now   time.Time
}

func newMemory(t testing.TB, limits ...chatguard.Limit) *memory {
	t.Helper()
	m := &memory{t: t, now: start}
	var err error
	m.guard, err = chatguard.New(chatguard.Policy{Limits: limits}, &chatguard.Options{Now: func() time.Time { return m.now }})
	must(t, err)
	m.Memory = New(m.guard)
	m.guard.AddObserver(m.Observe)
	return m
}

// say judges a message some time after the start, and returns its Repeats.
func (m *memory) say(after time.Duration, channel, user, text string) journal.Repeats {
	m.t.Helper()
	m.now = start.Add(after)
	return m.sayAt(m.now, channel, user, text)
}

// sayAt judges a message with a time of its own, and returns its Repeats.
func (m *memory) sayAt(at time.Time, channel, user, text string) journal.Repeats {
	m.t.Helper()
	v, err := m.guard.Check(m.t.Context(), chatguard.Message{ChannelID: channel, User: chatguard.User{ID: user}, Text: text, SentAt: at})
	must(m.t, err)
	if v.EntryID == 0 {
		return journal.Repeats{}
	}
	return m.Of(v.EntryID)
}

func (m *memory) wantCount(after time.Duration, channel, text string, similar bool, times, people int) {
	m.t.Helper()
	m.now = start.Add(after)
	if n, p := m.Count(channel, m.guard.TextPrint(text), similar); n != times || p != people {
		m.t.Errorf("%q after %s: %d times by %d people, want %d by %d", text, after, n, p, times, people)
	}
}

// copies is a limit that throttles the second message with a text.
func copies(per chatguard.Scope) chatguard.Limit {
	return chatguard.Limit{Name: "copies", Per: per, Algorithm: chatguard.SlidingLog, Messages: 1, Every: 30 * time.Second}
}

const raid, other = "the same text as the others", "another text, which is long enough"

func TestObserve_Repeats(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerText))
	for i, step := range []struct {
		after         time.Duration
		user, text    string
		times, people int // 0 if nothing throttles the message
	}{
		{0, "anna", raid, 0, 0}, {time.Second, "berta", raid, 1, 2}, {2 * time.Second, "anna", raid, 2, 2}, {3 * time.Second, "anna", other, 0, 0},
		{4 * time.Second, "anna", "The SAME text as the others", 3, 2}, {20 * time.Second, "clara", raid, 1, 3},
		{33 * time.Second, "anna", raid, 0, 0}, {34 * time.Second, "anna", raid, 3, 3}, // those after 4 s, 33 s and 34 s
		{11 * time.Minute, "berta", raid, 0, 0}, {11*time.Minute + time.Second, "berta", raid, 2, 1},
	} {
		want := journal.Repeats{}
		if step.people > 0 {
			want = journal.Repeats{Times: step.times, People: step.people, Window: "30s"}
		}
		if got := m.say(step.after, "1", step.user, step.text); got != want {
			t.Errorf("step %d: %+v, want %+v", i, got, want)
		}
	}
}

// TestObserve_Window checks that a limit without a window, or with a longer one, counts ten
// minutes.
func TestObserve_Window(t *testing.T) {
	t.Parallel()
	hour := copies(chatguard.PerUserText)
	hour.Every = time.Hour
	for _, limit := range []chatguard.Limit{hour, {Name: "copies", Per: chatguard.PerUserText, Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour}} {
		m := newMemory(t, limit)
		m.say(0, "1", "anna", raid)
		m.say(2*time.Minute, "1", "anna", raid)
		if got := m.say(11*time.Minute, "1", "anna", raid); got != (journal.Repeats{Times: 2, People: 1, Window: "10m"}) {
			t.Errorf("%s: %+v", limit.Algorithm, got)
		}
	}
}

// TestObserve_OtherLimits checks that only limits on repeated text have Repeats, and that without
// one nothing is remembered.
func TestObserve_OtherLimits(t *testing.T) {
	t.Parallel()
	burst := chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour}
	m := newMemory(t, burst, copies(chatguard.PerText))
	m.say(0, "1", "anna", raid)
	if got := m.say(1, "1", "anna", other); got != (journal.Repeats{}) {
		t.Errorf("of another limit: %+v", got)
	}
	m = newMemory(t, burst)
	m.say(0, "1", "anna", raid)
	if m.wantCount(1, "1", raid, false, 0, 0); len(m.said) > 0 {
		t.Error("a message is remembered without a limit on repeated text")
	}
}

// TestCount_Similar checks both ways in which texts are the same, and that channels are separate.
func TestCount_Similar(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerUserText))
	for i, said := range []string{raid, raid + " 123", raid + " 456"} {
		m.say(time.Duration(i)*time.Minute, "1", fmt.Sprint("user ", i), said)
	}
	m.say(time.Minute, "2", "anna", raid)
	m.wantCount(3*time.Minute, "1", raid, false, 1, 1)
	m.wantCount(3*time.Minute, "1", raid, true, 3, 3)
	m.wantCount(3*time.Minute, "2", raid, true, 1, 1)
	m.wantCount(3*time.Minute, "3", raid, true, 0, 0)
	m.wantCount(11*time.Minute, "1", raid, true, 2, 2)
	m.wantCount(13*time.Minute, "1", raid, true, 0, 0)
}

// TestMemory_Bounded checks that the oldest messages are forgotten when there are too many, and all
// of them in time, whatever channels others are written in.
func TestMemory_Bounded(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerText))
	m.most = 1000
	for i := range 20_000 {
		m.say(time.Duration(i), fmt.Sprint(i%7), fmt.Sprint(i%500), fmt.Sprintf("the text of a flood %b", i%300))
	}
	sum, people := 0, 0
	for _, counted := range m.texts {
		sum, people = sum+int(counted.times), people+int(counted.people)
	}
	if n := len(m.said) - m.first; n != m.most || sum != 2*n || people != len(m.own) || len(m.said) > 3*n {
		t.Errorf("%d messages, counted %d times of %d users, in a list of %d; %d users' texts", n, sum, people, len(m.said), len(m.own))
	}
	m.say(Kept+time.Second, "other", "anna", raid)
	if len(m.said)-m.first != 1 || len(m.texts) != 2 || len(m.own) != 2 {
		t.Errorf("after ten minutes, %d messages, %d texts, %d users' texts", len(m.said)-m.first, len(m.texts), len(m.own))
	}
}

// TestMemory_WrongTimes checks that only the Guard's clock says when a message is forgotten, and
// that nothing stays longer if it is set back.
func TestMemory_WrongTimes(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerText))
	m.say(0, "1", "anna", raid)
	for i, off := range []time.Duration{time.Hour, time.Hour, -time.Hour, -time.Hour} {
		m.sayAt(start.Add(off), "1", fmt.Sprint(i), raid)
	}
	m.wantCount(Kept, "1", raid, false, 5, 5)
	m.wantCount(Kept+1, "1", raid, false, 0, 0)
	m.say(Kept+1, "1", "anna", raid)
	m.say(2*Kept, "1", "ben", raid)
	m.wantCount(2*Kept-time.Second, "1", raid, false, 2, 2)
	m.wantCount(2*Kept-4*time.Minute, "1", raid, false, 0, 0)
}

// TestMemory_NumbersOnly checks that texts of which nothing is left aren't one similar text.
func TestMemory_NumbersOnly(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerText))
	for i := range 3 {
		text := fmt.Sprint("123456789012345", i)
		m.say(0, "1", "anna", text)
		m.wantCount(0, "1", text, true, 0, 0)
		m.wantCount(0, "1", text, false, 1, 1)
	}
}

// TestOf_AnyOrder checks that an entry is found whatever other messages were observed since, up to
// the newest keptEntries. Goroutines don't observe in the order of their entries.
func TestOf_AnyOrder(t *testing.T) {
	t.Parallel()
	m := newMemory(t, copies(chatguard.PerText))
	v := chatguard.Verdict{At: start, ChannelID: "1", UserID: "anna", Limit: "copies", Print: m.guard.TextPrint(raid)}
	for _, id := range []chatguard.EntryID{5000, 4999} {
		v.EntryID = id
		m.Observe(chatguard.Message{}, v)
	}
	for id := range chatguard.EntryID(keptEntries - 1) {
		if got := m.Of(5000).Times; got != 1 {
			t.Fatalf("before entry %d: %d times, want 1", id+1, got)
		}
		v.EntryID = id + 1
		m.Observe(chatguard.Message{}, v)
	}
	for id := range 2 * chatguard.EntryID(keptEntries) {
		v.EntryID = 10_000 + id
		m.Observe(chatguard.Message{}, v)
	}
	if got := m.Of(5000); got != (journal.Repeats{}) || m.repeats.Len() > 2*keptEntries {
		t.Errorf("the oldest of %d entries: %+v", m.repeats.Len(), got)
	}
}

func BenchmarkObserve(b *testing.B) {
	m := newMemory(b, copies(chatguard.PerText))
	var prints []chatguard.TextPrint
	for i := range 1000 {
		prints = append(prints, m.guard.TextPrint(fmt.Sprintf("some text of a chat %b", i)))
	}
	msg, v := chatguard.Message{}, chatguard.Verdict{ChannelID: "1", Allowed: true}
	users := make([]string, 5000)
	for i := range users {
		users[i] = fmt.Sprint(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.now, v.UserID, v.Print = start.Add(time.Duration(i)*time.Millisecond), users[i%len(users)], prints[i%len(prints)]
		m.Observe(msg, v)
	}
}
