package limits

// userBytes returns the maximum number of bytes for a user whose row has width words: each slot has
// the words, a tag and a bit, and there are up to 32 slots for 27 users. The ratio is reached
// because the slots grow by a sixteenth when nine in ten are used.
func userBytes(width int) int64 {
	slotBits := 64*int64(width) + 9
	return slotBits * 32 / 27 / 8
}

// spareRows is the additional memory for the free slots of a shard, in rows.
const spareRows = 2

// nameBytes returns approximately how many bytes a non-numeric ID of that length takes in addition
// to its user's row. Up to a fifth of them is unused.
func nameBytes(length int) int64 { return int64(nameSize(length)) * 5 / 4 }

// shardsFor returns approximately how many shards a table with that many users has.
func shardsFor(users int64) int64 { return min(shardCount, 1+users/crowd) }

// UsersIn returns approximately how many users with numeric IDs fit into a table of memory bytes.
func (s *Set) UsersIn(memory int64) int64 {
	users := memory / userBytes(s.width)
	return max(1, users-spareRows*shardsFor(users))
}

// Bytes returns the maximum number of bytes for the rows of that many users.
func (s *Set) Bytes(users int) int64 {
	full := users * 10 / fullTenths
	shards := int(min(shardCount, 1+2*users/crowd))
	slots := full + max(full/growth, min(full/4, smallGrowth*shards)) + 2*shards
	return int64(slots) * int64(s.width) * 8
}

// hasRoom reports whether that many users, with rows of width words, fit into the table's memory.
func (t *Table) hasRoom(users int64, width int) bool {
	return t.bytesFor(users, width) <= t.memory
}

// bytesFor returns the number of bytes that the given number of users takes if rows have width
// words. It includes the table's names.
func (t *Table) bytesFor(users int64, width int) int64 {
	return (users+t.spare())*userBytes(width) + t.names.Load()
}

// spare returns the additional memory for free slots, in rows.
func (t *Table) spare() int64 { return spareRows * int64(t.shards.Load()) }

// part is the fraction of the users that fits into memory.
type part struct{ fits, of int64 }

// fittingPart returns the part of the users that fits into memory if all rows have width words.
func (t *Table) fittingPart(width int) part {
	spare := t.spare() * userBytes(width)
	of := max(1, t.bytesFor(t.users.Load(), width)-spare)
	return part{min(max(1, t.memory-spare), of), of}
}

// count returns how many of the users are in the part, rounded up.
func (p part) count(users int) int {
	return int((int64(users)*p.fits + p.of - 1) / p.of)
}
