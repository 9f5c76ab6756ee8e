package journal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestDiffAndApply(t *testing.T) {
	base := chatguard.DefaultPolicy()
	changed := base.Clone()
	changed.Mode = chatguard.Enforce
	changed.Limits[0].Refill = 1500 * time.Millisecond
	changed.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 9}, chatguard.Subscriber: {}}
	changed.Limits[1] = chatguard.Limit{Name: "other", Algorithm: chatguard.TokenBucket, Burst: 7, Refill: time.Minute}
	changed.Penalties.Ladder = changed.Penalties.Ladder[:1]

	changes := Diff(base, changed)
	want := []string{
		"limit.burst.refill: 4s -> 1.5s",
		"limit.burst.roles.subscriber: <nil> -> map[]",
		"limit.burst.roles.vip.burst: <nil> -> 9",
		"limit.daily.algorithm: daily-window -> <nil>",
		"limit.daily.messages: 300 -> <nil>",
		"limit.daily.reset_at: 00:00 -> <nil>",
		"limit.other.algorithm: <nil> -> token-bucket",
		"limit.other.burst: <nil> -> 7",
		"limit.other.refill: <nil> -> 1m",
		"mode: observe -> enforce",
		"penalties.ladder: [delete delete warn timeout 30s timeout 10m] -> [delete]",
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s: %v -> %v", c.Key, c.From, c.To))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if len(Diff(base, base.Clone())) != 0 {
		t.Error("a policy differs from itself")
	}

	for _, list := range [][]Change{changes, restored(t, changes)} {
		if back, left := Apply(base, list); left != nil || !reflect.DeepEqual(back, changed) {
			t.Errorf("applied: %+v, left %v\nwant %+v", back, left, changed)
		}
	}
}

func TestChangesFollowANewConfiguration(t *testing.T) {
	// What was changed live stays changed; what wasn't follows the file.
	file := chatguard.DefaultPolicy()
	live := file.Clone()
	live.Limits[0].Burst, live.Mode = 5, chatguard.Enforce
	changes := Diff(file, live)
	file.Limits[1].Messages = 500
	got, left := Apply(file, changes)
	if left != nil || got.Limits[0].Burst != 5 || got.Limits[1].Messages != 500 || got.Mode != chatguard.Enforce {
		t.Errorf("got %+v, left %v", got, left)
	}
	file.Limits = file.Limits[1:] // a change of a limit that is gone would make half a limit
	got, left = Apply(file, changes)
	if len(left) != 1 || left[0].Key != "limit.burst.burst" || got.Mode != chatguard.Enforce || !reflect.DeepEqual(got.Limits, file.Limits) {
		t.Errorf("got %+v, left %v", got, left)
	}
}

// restored is what a store gives back of changes.
func restored(t *testing.T, changes []Change) (back []Change) {
	t.Helper()
	data, err := json.Marshal(changes)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// everyLimit has everything that limits can have.
func everyLimit() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Limits = append(p.Limits,
		chatguard.Limit{
			Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 2,
			Roles: map[chatguard.Role]chatguard.Override{chatguard.VIP: {Queue: 5}},
		},
		chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 500, Every: time.Minute},
		chatguard.Limit{Name: "evening", Algorithm: chatguard.UserWindow, Messages: 100, Every: 12 * time.Hour, CountThrottled: true},
		chatguard.Limit{Name: "month", Algorithm: chatguard.SlidingWindow, Messages: 6000, Every: 720 * time.Hour, Mode: chatguard.LimitObserves},
		chatguard.Limit{Name: "exact", Algorithm: chatguard.SlidingLog, Messages: 20, Every: 90 * time.Second},
		chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1000, Every: 24 * time.Hour},
	)
	return p
}

func TestEveryKeyOfALimitThereAndBack(t *testing.T) {
	base := everyLimit()
	changed := base.Clone()
	slow, crowd, evening, month, exact := &changed.Limits[2], &changed.Limits[3], &changed.Limits[4], &changed.Limits[5], &changed.Limits[6]
	slow.Every, slow.Queue, slow.Mode = 90*time.Minute+time.Nanosecond, 0, chatguard.LimitObserves
	slow.Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Queue: 7}, chatguard.Subscriber: {Queue: 1}}
	crowd.Per, crowd.CountThrottled = chatguard.PerUser, true
	evening.Per, evening.CountThrottled = chatguard.PerChannel, false
	month.Every, month.Mode = 24*time.Hour, chatguard.LimitEnforces
	*exact = chatguard.Limit{Name: "exact", Algorithm: chatguard.LeakyBucket, Every: 2 * time.Second, Queue: 1}
	changed.Limits = append(changed.Limits, chatguard.Limit{
		Name: "new", Algorithm: chatguard.SlidingLog, Per: chatguard.PerChannel, Mode: chatguard.LimitObserves, Messages: 5, Every: time.Hour, CountThrottled: true,
	})

	changes := Diff(base, changed)
	want := []string{
		"limit.crowd.count_throttled: <nil> -> true",
		"limit.crowd.per: channel -> <nil>",
		"limit.evening.count_throttled: true -> <nil>",
		"limit.evening.per: <nil> -> channel",
		"limit.exact.algorithm: sliding-log -> leaky-bucket",
		"limit.exact.every: 1m30s -> 2s",
		"limit.exact.messages: 20 -> <nil>",
		"limit.exact.queue: <nil> -> 1",
		"limit.month.every: 720h -> 24h",
		"limit.month.mode: observe -> <nil>",
		"limit.new.algorithm: <nil> -> sliding-log",
		"limit.new.count_throttled: <nil> -> true",
		"limit.new.every: <nil> -> 1h",
		"limit.new.messages: <nil> -> 5",
		"limit.new.mode: <nil> -> observe",
		"limit.new.per: <nil> -> channel",
		"limit.slow.every: 1s -> 1h30m0.000000001s",
		"limit.slow.mode: <nil> -> observe",
		"limit.slow.queue: 2 -> <nil>",
		"limit.slow.roles.subscriber.queue: <nil> -> 1",
		"limit.slow.roles.vip.queue: 5 -> 7",
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s: %v -> %v", c.Key, c.From, c.To))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, list := range [][]Change{changes, restored(t, changes)} {
		if there, left := Apply(base, list); left != nil || !reflect.DeepEqual(there, changed) {
			t.Errorf("there: %+v, left %v\nwant %+v", there, left, changed)
		}
	}
	for _, list := range [][]Change{Diff(changed, base), restored(t, Diff(changed, base))} {
		if back, left := Apply(changed, list); left != nil || !reflect.DeepEqual(back, base) {
			t.Errorf("back: %+v, left %v\nwant %+v", back, left, base)
		}
	}
}

func TestWhatCountsInAllChannelsFollowsTheConfiguration(t *testing.T) {
	was := everyLimit() // then evening counted in each channel by itself
	live := was.Clone()
	live.Mode, live.Limits[0].Burst, live.Limits[4].Messages = chatguard.Enforce, 7, 5
	changes := restored(t, Diff(was, live))
	is := was.Clone()
	is.Limits[4].Per = chatguard.PerUserEverywhere
	got, left := Apply(is, changes)
	want := is.Clone()
	want.Mode, want.Limits[0].Burst = chatguard.Enforce, 7
	if len(left) != 1 || left[0].Key != "limit.evening.messages" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, left %v", got, left)
	}
}

func TestNewEntry(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	m := chatguard.Message{ID: "m", ChannelID: "1", User: chatguard.User{ID: "7", Login: "anna", DisplayName: "Anna"}, Text: "hi", SentAt: at}
	v := chatguard.Verdict{
		At: at, ChannelID: "1", UserID: "7", Limit: "burst", RetryAfter: time.Second, ResetAt: at.Add(time.Hour), EntryID: 3, Strikes: 2,
		Penalty: chatguard.Penalty{Action: chatguard.Warn}, Late: 5, Counted: 2, Series: 4, NewStrike: true,
	}
	e := NewEntry(m, v)
	want := Entry{
		ID: 3, At: at, ChannelID: "1", UserID: "7", Login: "anna", DisplayName: "Anna", MessageID: "m", Text: "hi", Limit: "burst",
		MaySpeakAt: OptionalTime{at.Add(time.Second)}, ResetAt: at.Add(time.Hour), Strikes: 2, Penalty: v.Penalty,
		Cost: 1, Offence: Offence{Late: 5, Counted: 2, Series: 4, NewStrike: true},
		Outcome: Outcome{Entry: 3, At: at, Action: chatguard.Warn, Result: Pending},
	}
	if e != want {
		t.Errorf("got %+v\nwant %+v", e, want)
	}
	v.Allowed, v.Observed, v.Never, v.WouldBe, v.Penalty = true, true, true, v.Penalty, chatguard.Penalty{}
	e = NewEntry(m, v)
	if e.Penalty.Action != chatguard.Warn || e.Outcome.Result != Observed || e.Outcome.Action != chatguard.NoAction || !e.MaySpeakAt.IsZero() {
		t.Errorf("observed: %+v", e)
	}
	if text, err := json.Marshal(e); err != nil || !strings.Contains(string(text), `"may_speak_at":null`) {
		t.Errorf("never: %s, %v", text, err)
	}
}

// TestOptionalTime: the zero time is null, and what earlier versions wrote for it is read.
func TestOptionalTime(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 7, time.UTC)
	for text, want := range map[string]time.Time{`null`: {}, `"0001-01-01T00:00:00Z"`: {}, `"2026-01-05T00:00:00.000000007Z"`: at} {
		var got OptionalTime
		if err := json.Unmarshal([]byte(text), &got); err != nil || !got.Equal(want) || got.IsZero() != want.IsZero() {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		again, err := json.Marshal(got)
		if wanted := strings.ReplaceAll(text, `"0001-01-01T00:00:00Z"`, "null"); err != nil || string(again) != wanted {
			t.Errorf("%s: written as %s, %v", text, again, err)
		}
	}
}
