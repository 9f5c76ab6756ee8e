package limits

import (
	"strconv"
	"testing"
	"time"
)

// That many users take at most the calculated bytes, and not much less.
func TestSetBytes_BoundsTheRows(t *testing.T) {
	set := mustSet(t, window("sliding-log", 100, time.Minute))
	for _, users := range []int{1, 10, 300, 5000} {
		table := NewTable(set, 1<<30, new(Dropped))
		for user := range users {
			table.judge(strconv.Itoa(user), Request{At: 1, Cost: 1})
		}
		taken := int64(0)
		table.forEach(func(s *shard) { taken += int64(len(s.rows)) * 8 })
		if said := set.Bytes(users); taken > said || said > 2*taken {
			t.Errorf("%d users take %d bytes, %d are said", users, taken, said)
		}
	}
}
