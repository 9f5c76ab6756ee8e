package limits

// userBytes returns how many bytes a user takes at most whose row has so many words: those words, a tag and a bit in each slot, and 32 slots for
// 27 users, which is where slots settle that grow by a sixteenth when nine in ten are used.
func userBytes(width int) int64 {
	slotBits := 64*int64(width) + 9
	return slotBits * 32 / 27 / 8
}

// spareRows is how many users' memory is in free slots beyond that: two in each shard.
const spareRows = 2 * shardCount

// nameBytes returns about how many bytes an ID that is no number takes beside its user's row: the text, and its places in a map and two lists.
func nameBytes(id string) int64 { return int64(len(id)) + 88 }

// UsersIn returns about how many users, whose IDs are numbers, a table keeps in so many bytes of memory.
func (s *Set) UsersIn(memory int64) int64 {
	return max(shardCount, memory/userBytes(s.width)-spareRows)
}

// Bytes returns the most bytes that the rows of so many users take: each shard begins with a few rows, and grows before it is full.
func (s *Set) Bytes(users int) int64 {
	rows := leastSlots*min(users, shardCount) + users*10*(growth+1)/(fullTenths*growth)
	return int64(rows) * int64(s.width) * 8
}

// hasRoom reports whether so many users, with rows of so many words, fit the table's memory.
func (t *Table) hasRoom(users int64, width int) bool {
	return t.need(users, width) <= t.memory
}

// need returns how many bytes so many users take, with rows of so many words and the table's names.
func (t *Table) need(users int64, width int) int64 {
	return (users+spareRows)*userBytes(width) + t.names.Load()
}

// part is a fraction of the users: those whom there is memory for.
type part struct{ fits, of int64 }

// fitting returns the part of the users whom there is memory for if all rows have so many words.
func (t *Table) fitting(width int) part {
	spare := spareRows * userBytes(width)
	of := max(1, t.need(t.users.Load(), width)-spare)
	return part{min(max(1, t.memory-spare), of), of}
}

// count returns how many of so many users are in the part, rounded up.
func (p part) count(users int) int {
	return int((int64(users)*p.fits + p.of - 1) / p.of)
}
