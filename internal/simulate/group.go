package simulate

import (
	"fmt"
	"slices"
	"sort"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/limitinfo"
)

// Budget is the maximum memory in bytes for the users' states while one policy is judged, and again
// for the texts of each kind of limit on repeated text. Users are judged in groups, one after
// another, unless all of them share a limit. So more users take more time but no more memory.
const Budget = 32 << 20

// BudgetError is the error for a policy that needs more than the Budget.
type BudgetError struct {
	Users int   // number of users that must be judged together
	Bytes int64 // memory for these users
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%d users take %d bytes under these limits, and a preview has %d", e.Users, e.Bytes, Budget)
}

// group is a range of indexes of a Timeline's users, excluding end.
type group struct{ first, end uint32 }

func (g group) has(user uint32) bool { return g.first <= user && user < g.end }

// groupSize returns how many users can be judged together within a budget. Users who share a
// limit stay together.
func groupSize(policy chatguard.Policy, users int, budget int64) (int, error) {
	all, err := limitinfo.Memory(policy, users)
	if err != nil || all <= budget {
		return users, err
	}
	if slices.ContainsFunc(policy.Limits, func(l chatguard.Limit) bool { return inner.IsShared(l.Per) }) {
		return 0, &BudgetError{users, all}
	}
	one, err := limitinfo.Memory(policy, 1)
	if err != nil {
		return 0, err
	}
	if one > budget {
		return 0, &BudgetError{1, one}
	}
	return sort.Search(users, func(n int) bool {
		bytes, _ := limitinfo.Memory(policy, n+1) // the policy is valid
		return bytes > budget
	}), nil
}
