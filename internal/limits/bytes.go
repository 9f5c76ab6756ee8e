package limits

// Bytes returns about the most bytes that the rows of so many users take in a Table of the set: each shard begins with a few rows, and grows before it
// is full.
func (s *Set) Bytes(users int) int64 {
	rows := leastSlots*min(users, shardCount) + users*10*(growth+1)/(fullTenths*growth)
	return int64(rows) * int64(s.width) * 8
}
