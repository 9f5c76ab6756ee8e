package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// withLimits is the default policy and as many limits more.
func withLimits(n int) chatguard.Policy {
	p := chatguard.DefaultPolicy()
	for i := range n {
		p.Limits = append(p.Limits, chatguard.Limit{Name: fmt.Sprintf("more%05d", i), Algorithm: chatguard.TokenBucket, Burst: 5, Refill: time.Second})
	}
	return p
}

// TestApply_WorkGrowsWithTheChanges: it is not done again for each of them.
func TestApply_WorkGrowsWithTheChanges(t *testing.T) {
	base := chatguard.DefaultPolicy()
	allocations := func(limits int) float64 {
		changes := Diff(base, withLimits(limits))
		return testing.AllocsPerRun(3, func() {
			if p, left := Apply(base, changes); len(left) > 0 || len(p.Limits) != 2+limits {
				t.Fatalf("%d limits, left %v", len(p.Limits), left)
			}
		})
	}
	few, many := allocations(5), allocations(30)
	if many > 6*few {
		t.Errorf("%.0f allocations for 5 limits, but %.0f for 30", few, many)
	}
}

// TestApply_LeavesOutOnlyWhatDoesNotFit of changes that are made together.
func TestApply_LeavesOutOnlyWhatDoesNotFit(t *testing.T) {
	base := chatguard.DefaultPolicy()
	changes := Diff(base, withLimits(20))
	for i, c := range changes {
		if c.Key == "limit.more00007.refill" || c.Key == "limit.more00016.refill" {
			changes[i].To = "0s"
		}
	}
	p, left := Apply(base, changes)
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
