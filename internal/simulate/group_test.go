package simulate

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

// logs returns limits that together take about 33 kB per user.
func logs() (limits []chatguard.Limit) {
	for _, name := range []string{"one", "two", "three", "four"} {
		limits = append(limits, chatguard.Limit{Name: name, Algorithm: chatguard.SlidingLog, Messages: 1000, Every: time.Hour})
	}
	return limits
}

// Judging users in groups has the same outcome as judging all of them together.
func TestJudge_GroupsOfUsers(t *testing.T) {
	timeline := newCrowd(20_000, 500)
	total := chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 30, Every: time.Hour}
	policy := policyOf(bucket("burst", 2), total, chatguard.Limit{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 20, Every: time.Hour})
	own := Overrides{
		Channel:    map[string]chatguard.UserOverride{"100000001": {Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}, "100000499": {Exempt: chatguard.ExemptAlways}},
		Everywhere: map[string]chatguard.UserOverride{"100000100": {Limits: map[string]chatguard.Override{"total": {Messages: 1}}}},
	}
	want := mustJudge(t, timeline, policy, own)
	if want.ThrottledMessages == 0 {
		t.Fatal("nobody is throttled")
	}
	one, err := limitinfo.Memory(policy, 1)
	must(t, err)
	for _, budget := range []int64{one, 7 * one, 300 * one} {
		got, err := judgeWithBudget(context.Background(), timeline, policy, own, budget)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("within %d bytes: %v, %+v, want %+v", budget, err, got, want)
		}
	}
}

func TestGroupSize_FitsTheBudget(t *testing.T) {
	policy := policyOf(logs()...)
	for _, users := range []int{1, 100, 1000, 20_000} {
		size, err := groupSize(policy, users, Budget)
		if err != nil || size < 1 || size > users {
			t.Fatalf("of %d users: %d, %v", users, size, err)
		}
		fits, err := limitinfo.Memory(policy, size)
		if err != nil || fits > Budget {
			t.Errorf("%d of %d users take %d bytes, %v", size, users, fits, err)
		}
		if more, _ := limitinfo.Memory(policy, size+1); size < users && more <= Budget {
			t.Errorf("%d users would fit, too", size+1)
		}
	}
}

// Users who share a limit of the channel cannot be split into groups, and neither can a single
// user.
func TestJudge_OverBudget(t *testing.T) {
	timeline := newCrowd(5000, 2500)
	joined := policyOf(append(logs(), chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: time.Minute})...)
	var beyond *BudgetError
	if _, err := Judge(context.Background(), timeline, joined, Overrides{}); !errors.As(err, &beyond) || beyond.Users != len(timeline.users) || beyond.Bytes <= Budget {
		t.Errorf("users who are joined: %v", err)
	}
	if _, err := judgeWithBudget(context.Background(), timeline, policyOf(logs()...), Overrides{}, 1000); !errors.As(err, &beyond) || beyond.Users != 1 || beyond.Bytes <= 1000 {
		t.Errorf("one user: %v", err)
	}
}
