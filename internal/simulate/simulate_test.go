package simulate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

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

var start = time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)

// message returns a message of anna (1), berta (2), clara (3) …, the given number of seconds after
// the start.
func message(seconds int, user string, roles ...chatguard.Role) journal.TimelineMessage {
	logins := map[string]string{"1": "anna", "2": "berta", "3": "clara"}
	return journal.TimelineMessage{
		At: start.Add(time.Duration(seconds) * time.Second), ChannelID: "7", UserID: user, Login: logins[user], Roles: chatguard.Roles(roles), Cost: 1,
	}
}

func newTimeline(messages ...journal.TimelineMessage) *Timeline {
	t := NewTimeline(1_000_000)
	t.Add(messages)
	return t
}

// bucket returns a token bucket with the given burst, refilled by one per minute.
func bucket(name string, burst int) chatguard.Limit {
	return chatguard.Limit{Name: name, Algorithm: chatguard.TokenBucket, Burst: burst, Refill: time.Minute}
}

// policyOf returns a policy that observes these limits.
func policyOf(limits ...chatguard.Limit) chatguard.Policy {
	p := config.DefaultPolicy()
	p.Limits = limits
	return p
}

func mustJudge(t *testing.T, timeline *Timeline, policy chatguard.Policy, own Overrides) *Outcome {
	t.Helper()
	o, err := Judge(context.Background(), timeline, policy, own)
	must(t, err)
	return o
}

func TestJudge(t *testing.T) {
	timeline := newTimeline(
		message(0, "1"), message(0, "1"), message(1, "2"), message(1, "1"), message(2, "3", chatguard.RoleModerator), message(2, "3", chatguard.RoleModerator),
		message(3, "1"), message(14, "1"), message(90, "2"), message(90, "2"), message(90, "2"),
	)
	watched := bucket("watched", 1)
	watched.Mode = chatguard.ModeObserve
	got := mustJudge(t, timeline, policyOf(bucket("burst", 2), watched), Overrides{})
	want := Outcome{
		ThrottledMessages: 4, ThrottledUsers: 2, ExemptMessages: 2,
		ByLimit: map[string]int{"burst": 4}, ObservedByLimit: map[string]int{"watched": 2}, Penalties: map[string]int{"delete": 4},
		throttled: []uint32{3, 1, 0},
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	candidate := mustJudge(t, timeline, policyOf(bucket("burst", 1)), Overrides{})
	differences := Differences(timeline, got, candidate, 100)
	if fmt.Sprint(differences) != "[{1 anna  3 4} {2 berta  1 2}]" {
		t.Errorf("differences: %+v", differences)
	}
	if few := Differences(timeline, got, candidate, 1); len(few) != 1 {
		t.Errorf("of one at most: %+v", few)
	}
	if none := Differences(timeline, got, got, 100); none == nil || len(none) > 0 {
		t.Errorf("to itself: %+v", none)
	}
}

func TestDifferences_LargestFirst(t *testing.T) {
	timeline := newTimeline(message(0, "3"), message(0, "2"), message(0, "1"))
	a, b := &Outcome{throttled: []uint32{9, 0, 5}}, &Outcome{throttled: []uint32{2, 2, 7}}
	if got := fmt.Sprint(Differences(timeline, a, b, 100)); got != "[{3 clara  9 2} {1 anna  5 7} {2 berta  0 2}]" {
		t.Error(got)
	}
}

func TestJudge_Ladder(t *testing.T) {
	policy := policyOf(bucket("burst", 1))
	policy.Penalties.StrikeEvery = time.Second
	timeline := newTimeline(message(0, "1"), message(2, "1"), message(4, "1"), message(6, "1"), message(8, "1"))
	want := map[string]int{"delete": 2, "warn": 1, "timeout": 1}
	if got := mustJudge(t, timeline, policy, Overrides{}).Penalties; !reflect.DeepEqual(got, want) {
		t.Errorf("penalties: %v", got)
	}
}

func TestJudge_CostsAndRoles(t *testing.T) {
	limit := bucket("burst", 3)
	limit.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 1}}
	dear := message(0, "1")
	dear.Cost = 3
	huge := message(1, "2")
	huge.Cost = 1 << 40
	timeline := newTimeline(dear, message(0, "1"), huge, message(2, "3", roles.VIP), message(2, "3", roles.VIP))
	if got := mustJudge(t, timeline, policyOf(limit), Overrides{}).throttled; !reflect.DeepEqual(got, []uint32{1, 1, 1}) {
		t.Errorf("throttled: %v", got)
	}
}

// Exempt messages are known for previews of recorded chat, and of recordings.
func TestJudge_ExemptMessages(t *testing.T) {
	var recordings Recordings
	var lines strings.Builder
	for second, kinds := range []roles.Kinds{nil, {roles.Bits}, {roles.Resub, roles.Bits}, {roles.Resub}} {
		must(t, recordings.Add(chatguard.Message{ChannelID: "7", User: chatguard.User{ID: "1"}, Kinds: kinds, SentAt: start.Add(time.Duration(second) * time.Second)}, ""))
		fmt.Fprintf(&lines, `{"at":%d,"channel":"7","user_id":"1","message_kind":%q}`+"\n", start.UnixMilli()+int64(second)*1000, kinds)
	}
	recordings.Sort()
	timeline := NewTimeline(100)
	must(t, recordings.Timeline(t.Context(), "7", time.Time{}, func(m []journal.TimelineMessage) error { timeline.Add(m); return nil }))
	policy := policyOf(bucket("burst", 1))
	policy.ExemptKinds = []string{roles.Bits}
	if got := mustJudge(t, timeline, policy, Overrides{}); got.ExemptMessages != 2 || got.ThrottledMessages != 1 {
		t.Errorf("recorded: %+v", got)
	}
	guard, err := chatguard.New(policy, nil)
	must(t, err)
	replayed := NewReplay(ReplayOptions{Guard: guard, Parse: parseNothing})
	must(t, replayed.Read(t.Context(), "chat", strings.NewReader(lines.String())))
	if got := replayed.Summary(); got.ExemptMessages != 2 || got.ThrottledMessages != 1 {
		t.Errorf("replayed: %+v", got)
	}
}

func TestJudge_Overrides(t *testing.T) {
	timeline := newTimeline(message(0, "1"), message(0, "1"), message(0, "2"), message(0, "2"), message(0, "3"), message(0, "3"))
	total := bucket("total", 5)
	total.Per = chatguard.PerUserEverywhere
	own := Overrides{Channel: map[string]chatguard.UserOverride{
		"1": {Limits: map[string]chatguard.Override{"burst": {Burst: 2}, "gone": {Burst: 9}}},
		"2": {Exempt: chatguard.ExemptAlways},
		// temporary
		"3": {Exempt: chatguard.ExemptAlways, ExemptUntil: start.Add(1000 * time.Hour)},
		// wrote nothing
		"4": {Exempt: chatguard.ExemptAlways},
	}, Everywhere: map[string]chatguard.UserOverride{"3": {Limits: map[string]chatguard.Override{"total": {Burst: 1}}}}}
	got := mustJudge(t, timeline, policyOf(bucket("burst", 1)), own)
	if !reflect.DeepEqual(got.throttled, []uint32{0, 0, 1}) || got.ExemptMessages != 2 {
		t.Errorf("throttled: %v, exempt: %d", got.throttled, got.ExemptMessages)
	}
	if got := mustJudge(t, timeline, policyOf(bucket("burst", 2), total), own).ByLimit["total"]; got != 1 {
		t.Errorf("%d messages throttled by the limit of all channels", got)
	}
}

func TestJudge_OwnZoneFromFirstMessage(t *testing.T) {
	daily := policyOf(chatguard.Limit{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 1})
	// 18:00 and 01:00 in UTC; in New York a day ends at 05:00
	timeline := newTimeline(message(0, "1"), message(7*3600, "1"))
	newYork := Overrides{Channel: map[string]chatguard.UserOverride{"1": {Timezone: "America/New_York"}}}
	if utc, own := mustJudge(t, timeline, daily, Overrides{}), mustJudge(t, timeline, daily, newYork); utc.ThrottledMessages != 0 || own.ThrottledMessages != 1 {
		t.Errorf("%d messages throttled in UTC, %d in New York", utc.ThrottledMessages, own.ThrottledMessages)
	}
}

func TestTimeline_KeepsNewest(t *testing.T) {
	timeline := NewTimeline(2 * blockSize)
	for i := range 5*blockSize + 7 {
		user := "2"
		if i < 3 {
			user = "1"
		}
		timeline.Add([]journal.TimelineMessage{message(i, user)})
		if timeline.Truncated() != (i >= 2*blockSize) || timeline.Messages() != min(i+1, 2*blockSize) {
			t.Fatalf("after %d messages %d count; truncated: %v", i+1, timeline.Messages(), timeline.Truncated())
		}
	}
	if from := start.Add((3*blockSize + 7) * time.Second); !timeline.From().Equal(from) || timeline.Users() != 1 {
		t.Errorf("%d users since %s, want 1 since %s", timeline.Users(), timeline.From(), from)
	}
	if got := mustJudge(t, timeline, policyOf(bucket("burst", 1)), Overrides{}); got.ThrottledMessages+(2*blockSize-1)/60+1 != 2*blockSize {
		t.Errorf("%d throttled", got.ThrottledMessages)
	}
	if blocks := len(timeline.blocks); blocks > 3 {
		t.Errorf("%d blocks are kept", blocks)
	}
}

func TestTimeline_Empty(t *testing.T) {
	timeline := NewTimeline(10)
	if got := mustJudge(t, timeline, config.DefaultPolicy(), Overrides{}); got.ThrottledMessages != 0 || !timeline.From().IsZero() {
		t.Errorf("%+v since %s", got, timeline.From())
	}
}

func TestJudge_Deterministic(t *testing.T) {
	timeline := newCrowd(50_000, 500)
	first := mustJudge(t, timeline, config.DefaultPolicy(), Overrides{})
	if first.ThrottledMessages == 0 {
		t.Fatal("nobody is throttled")
	}
	for range 3 {
		if again := mustJudge(t, timeline, config.DefaultPolicy(), Overrides{}); !reflect.DeepEqual(first, again) {
			t.Errorf("first %+v\nagain %+v", first, again)
		}
	}
}

// countdown is a context that ends after it has been checked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestJudge_EndsWithContext(t *testing.T) {
	timeline := newCrowd(100*batchSize, 100)
	ctx := &countdown{context.Background(), 3}
	if _, err := Judge(ctx, timeline, config.DefaultPolicy(), Overrides{}); !errors.Is(err, context.Canceled) || ctx.left != -1 {
		t.Errorf("%v, and %d looks at the context were left", err, ctx.left)
	}
}

func TestJudge_InvalidMessage(t *testing.T) {
	wrong := message(0, "1")
	wrong.UserID = ""
	if _, err := Judge(context.Background(), newTimeline(wrong), config.DefaultPolicy(), Overrides{}); !errors.Is(err, chatguard.ErrInvalid) {
		t.Error(err)
	}
	if _, err := Judge(context.Background(), newTimeline(), policyOf(bucket("burst", -1)), Overrides{}); err == nil {
		t.Error("a burst of -1")
	}
}

// newCrowd returns a timeline of messages, 20 per second, from users some of whom write much more
// than others.
func newCrowd(messages, users int) *Timeline {
	t := NewTimeline(messages)
	for i := range messages {
		n := i * 7919 % users
		m := message(0, fmt.Sprint(100_000_000+n*n/users))
		m.At = start.Add(time.Duration(i) * 50 * time.Millisecond)
		t.Add([]journal.TimelineMessage{m})
	}
	return t
}

// BenchmarkJudge judges 1,000,000 messages of about 37,000 users by the default policy.
func BenchmarkJudge(b *testing.B) {
	timeline := newCrowd(1_000_000, 50_000)
	b.ReportMetric(float64(timeline.Bytes())/1e6, "MB")
	for b.Loop() {
		_, err := Judge(context.Background(), timeline, config.DefaultPolicy(), Overrides{})
		must(b, err)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/judge")
}
