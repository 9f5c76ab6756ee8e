package preview

import (
	"fmt"
	"slices"
	"sort"

	"github.com/chatguard/chatguard"
)

// Budget is the most memory in bytes that the states of users may take while one policy is judged. If no limit is shared by the whole channel, users are
// judged in groups, one group after the other, so that more users take more time and no more memory.
const Budget = 32 << 20

// BudgetError reports a policy that needs more than the Budget.
type BudgetError struct {
	Users int   // that have to be judged together
	Bytes int64 // that they need
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%d users take %d bytes under these limits, and a preview has %d", e.Users, e.Bytes, Budget)
}

// group is a range of users of a Timeline, by their place; end is not part of it.
type group struct{ first, end uint32 }

func (g group) has(user uint32) bool { return g.first <= user && user < g.end }

// groupSize returns how many of the users can be judged together within a budget. Users who share a limit of the channel stay together.
func groupSize(policy chatguard.Policy, users int, budget int64) (int, error) {
	all, err := policy.MemoryBytes(users)
	if err != nil || all <= budget {
		return users, err
	}
	if slices.ContainsFunc(policy.Limits, func(l chatguard.Limit) bool { return l.Per == chatguard.PerChannel }) {
		return 0, &BudgetError{users, all}
	}
	one, err := policy.MemoryBytes(1)
	if err != nil {
		return 0, err
	}
	if one > budget {
		return 0, &BudgetError{1, one}
	}
	return sort.Search(users, func(n int) bool {
		bytes, _ := policy.MemoryBytes(n + 1) // the policy is valid
		return bytes > budget
	}), nil
}
