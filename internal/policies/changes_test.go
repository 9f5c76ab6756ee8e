package policies

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// withLimits returns the default policy with n more limits.
func withLimits(n int) chatguard.Policy {
	p := config.DefaultPolicy()
	for i := range n {
		p.Limits = append(p.Limits, chatguard.Limit{Name: fmt.Sprintf("more%05d", i), Algorithm: chatguard.TokenBucket, Burst: 5, Refill: time.Second})
	}
	return p
}

// Apply's work grows with the number of changes; it does not start over for each change.
func TestApply_WorkGrowsWithTheChanges(t *testing.T) {
	base := config.DefaultPolicy()
	allocations := func(limits int) float64 {
		changes := Diff(base, withLimits(limits))
		return testing.AllocsPerRun(3, func() {
			if p, left := applyAll(base, changes); len(left) > 0 || len(p.Limits) != 2+limits {
				t.Fatalf("%d limits, left %v", len(p.Limits), left)
			}
		})
	}
	few, many := allocations(5), allocations(30)
	if many > 6*few {
		t.Errorf("%.0f allocations for 5 limits, but %.0f for 30", few, many)
	}
}

// Apply leaves out only the changes that do not fit, even if they were made together with others.
func TestApply_LeavesOutOnlyWhatDoesNotFit(t *testing.T) {
	base := config.DefaultPolicy()
	changes := Diff(base, withLimits(20))
	for i, c := range changes {
		if c.Key == "limit.more00007.refill" || c.Key == "limit.more00016.refill" {
			changes[i].To = "0s"
		}
	}
	p, left := applyAll(base, changes)
	if len(p.Limits) != 20 || p.Validate() != nil {
		t.Errorf("in force are %d limits, want 20: %v", len(p.Limits), p.Validate())
	}
	var keys []string
	for _, c := range left {
		keys = append(keys, c.Key)
	}
	want := "[limit.more00007.algorithm limit.more00007.burst limit.more00007.refill limit.more00016.algorithm limit.more00016.burst limit.more00016.refill]"
	if fmt.Sprint(keys) != want {
		t.Errorf("left are %v, want %s", keys, want)
	}
}

func wantChanges(t *testing.T, changes []journal.Change, want []string) {
	t.Helper()
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s: %v -> %v", c.Key, c.From, c.To))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// wantApplied fails the test unless the changes, as made and as stored, turn base into want.
func wantApplied(t *testing.T, base chatguard.Policy, changes []journal.Change, want chatguard.Policy) {
	t.Helper()
	for _, list := range [][]journal.Change{changes, restored(t, changes)} {
		if got, left := applyAll(base, list); left != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("applied: %+v, left %v\nwant %+v", got, left, want)
		}
	}
}

func TestDiffAndApply(t *testing.T) {
	base := config.DefaultPolicy()
	changed := base.Clone()
	changed.Mode = chatguard.ModeEnforce
	changed.Limits[0].Refill = 1500 * time.Millisecond
	changed.Limits[0].Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 9}, roles.Subscriber: {}}
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
	wantChanges(t, changes, want)
	if len(Diff(base, base.Clone())) != 0 {
		t.Error("a policy differs from itself")
	}

	wantApplied(t, base, changes, changed)
}

func TestApply_FollowsConfiguration(t *testing.T) {
	// Live changes stay; everything else follows the file.
	file := config.DefaultPolicy()
	live := file.Clone()
	live.Limits[0].Burst, live.Mode = 5, chatguard.ModeEnforce
	changes := Diff(file, live)
	file.Limits[1].Messages = 500
	got, left := applyAll(file, changes)
	if left != nil || got.Limits[0].Burst != 5 || got.Limits[1].Messages != 500 || got.Mode != chatguard.ModeEnforce {
		t.Errorf("got %+v, left %v", got, left)
	}
	file.Limits = file.Limits[1:] // the change would make half a limit
	got, left = applyAll(file, changes)
	if len(left) != 1 || left[0].Key != "limit.burst.burst" || got.Mode != chatguard.ModeEnforce || !reflect.DeepEqual(got.Limits, file.Limits) {
		t.Errorf("got %+v, left %v", got, left)
	}
}

// restored returns changes as a store returns them.
func restored(t *testing.T, changes []journal.Change) (back []journal.Change) {
	t.Helper()
	data, err := json.Marshal(changes)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	must(t, err)
	return back
}

// everyLimit returns a policy with every setting that limits can have.
func everyLimit() chatguard.Policy {
	p := config.DefaultPolicy()
	p.Limits = append(p.Limits,
		chatguard.Limit{
			Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 2,
			Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Queue: 5}},
		},
		chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 500, Every: time.Minute},
		chatguard.Limit{Name: "evening", Algorithm: chatguard.UserWindow, Messages: 100, Every: 12 * time.Hour, CountThrottled: true},
		chatguard.Limit{Name: "month", Algorithm: chatguard.SlidingWindow, Messages: 6000, Every: 720 * time.Hour, Mode: chatguard.ModeObserve},
		chatguard.Limit{Name: "exact", Algorithm: chatguard.SlidingLog, Messages: 20, Every: 90 * time.Second},
		chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1000, Every: 24 * time.Hour},
	)
	return p
}

func TestDiff_RoundTripsEveryKey(t *testing.T) {
	base := everyLimit()
	changed := base.Clone()
	slow, crowd, evening, month, exact := &changed.Limits[2], &changed.Limits[3], &changed.Limits[4], &changed.Limits[5], &changed.Limits[6]
	slow.Every, slow.Queue, slow.Mode = 90*time.Minute+time.Nanosecond, 0, chatguard.ModeObserve
	slow.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Queue: 7}, roles.Subscriber: {Queue: 1}}
	crowd.Per, crowd.CountThrottled = chatguard.PerUser, true
	evening.Per, evening.CountThrottled = chatguard.PerChannel, false
	month.Every, month.Mode = 24*time.Hour, chatguard.ModeEnforce
	*exact = chatguard.Limit{Name: "exact", Algorithm: chatguard.LeakyBucket, Every: 2 * time.Second, Queue: 1}
	changed.Limits = append(changed.Limits, chatguard.Limit{
		Name: "new", Algorithm: chatguard.SlidingLog, Per: chatguard.PerChannel, Mode: chatguard.ModeObserve, Messages: 5, Every: time.Hour, CountThrottled: true,
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
	wantChanges(t, changes, want)
	wantApplied(t, base, changes, changed)
	wantApplied(t, changed, Diff(changed, base), base)
}

func TestApply_EverywhereLimitFollowsConfiguration(t *testing.T) {
	was := everyLimit() // here evening still counts per channel
	live := was.Clone()
	live.Mode, live.Limits[0].Burst, live.Limits[4].Messages = chatguard.ModeEnforce, 7, 5
	changes := restored(t, Diff(was, live))
	is := was.Clone()
	is.Limits[4].Per = chatguard.PerUserEverywhere
	got, left := applyAll(is, changes)
	want := is.Clone()
	want.Mode, want.Limits[0].Burst = chatguard.ModeEnforce, 7
	if len(left) != 1 || left[0].Key != "limit.evening.messages" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, left %v", got, left)
	}
}
