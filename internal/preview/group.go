package preview

import (
	"fmt"
	"slices"
	"sort"

	"github.com/chatguard/chatguard"
)

// Budget is the most memory in bytes that what users have spent may take while one policy is judged. Where no limit is shared by a whole channel, users
// are judged in groups, one group after the other, so that more of them take more time instead.
const Budget = 32 << 20

// BudgetError is the error of a policy that takes more than the Budget.
type BudgetError struct {
	Users int   // who have to be judged together
	Bytes int64 // that they take
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%d users take %d bytes under these limits, and a preview has %d", e.Users, e.Bytes, Budget)
}

// group are the users of a Timeline from a place to before another.
type group struct{ first, end uint32 }

func (g group) has(user uint32) bool { return g.first <= user && user < g.end }

// groupSize returns how many of so many users can be judged together within a budget. Users whom a limit of the channel joins aren't parted.
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
