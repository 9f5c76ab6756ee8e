package limits

// userBytes returns the maximum number of bytes for a user whose row has width words: each slot has
// the words, a tag and a bit, and there are up to 32 slots for 27 users. The ratio is reached
// because the slots grow by a sixteenth when nine in ten are used.
func userBytes(width int) int64 {
	slotBits := 64*int64(width) + 9
	return slotBits * 32 / 27 / 8
}

// spareRows is the additional memory for free slots, in rows: two in each shard.
const spareRows = 2 * shardCount

// nameBytes returns approximately how many bytes a non-numeric ID takes in addition to its user's
// row: the text, and its places in a map and two lists.
func nameBytes(id string) int64 { return int64(len(id)) + 88 }

// UsersIn returns approximately how many users with numeric IDs fit into a table of that many
// bytes.
func (s *Set) UsersIn(memory int64) int64 {
	return max(shardCount, memory/userBytes(s.width)-spareRows)
}

// Bytes returns the maximum number of bytes for the rows of that many users. Each shard begins with
// a few rows, and grows before it is full.
func (s *Set) Bytes(users int) int64 {
	rows := leastSlots*min(users, shardCount) + users*10*(growth+1)/(fullTenths*growth)
	return int64(rows) * int64(s.width) * 8
}

// hasRoom reports whether that many users, with rows of width words, fit the table's memory.
func (t *Table) hasRoom(users int64, width int) bool {
	return t.bytesFor(users, width) <= t.memory
}

// bytesFor returns the number of bytes that the given number of users takes if rows have width
// words. It includes the table's names.
func (t *Table) bytesFor(users int64, width int) int64 {
	return (users+spareRows)*userBytes(width) + t.names.Load()
}

// part is the fraction of the users that fits into memory.
type part struct{ fits, of int64 }

// fittingPart returns the part of the users that fits into memory if all rows have width words.
func (t *Table) fittingPart(width int) part {
	spare := spareRows * userBytes(width)
	of := max(1, t.bytesFor(t.users.Load(), width)-spare)
	return part{min(max(1, t.memory-spare), of), of}
}

// count returns how many of the users are in the part, rounded up.
func (p part) count(users int) int {
	return int((int64(users)*p.fits + p.of - 1) / p.of)
}
