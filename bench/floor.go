package main

import (
	"math/bits"
	"sync"
	"time"
)

var floors = []contestant{
	{"floor, own clock", "nothing", false, false, newFloorNow},
	{"floor, time given", "nothing", false, false, newFloorAt},
	{"floor, 16 at once", "nothing", false, false, newFloorAll},
}

// floor is the least work that a decision about a user in memory can do on this machine: parse the
// decimal ID, lock one of the shards, find the user's row and write it back. It decides nothing. A
// row has no pointers and takes one cache line. The rows are the slots of a half-empty hash table
// with open addressing, so a look-up waits for memory once.
type floor struct{ shards [shards]floorShard }

type floorRow [8]uint64

// The words of a row in use.
const (
	floorUser = iota // user ID plus one; 0 is a free slot
	floorLast
	floorCount
)

type floorShard struct {
	mu   sync.Mutex
	rows []floorRow // the length is a power of two
	_    [32]byte   // locks don't share a cache line
}

func newFloor(users int) *floor {
	f := &floor{}
	each := users/shards*11/10 + 16 // the hash fills shards unevenly
	for i := range f.shards {
		f.shards[i].rows = make([]floorRow, 1<<bits.Len(uint(each)))
	}
	return f
}

func (f *floor) shardOf(hash uint64) *floorShard { return &f.shards[hash>>56] }

// row returns the user's row and adds it if it is missing.
func (s *floorShard) row(user, hash uint64) *floorRow {
	mask := uint64(len(s.rows) - 1)
	slot := hash & mask
	for s.rows[slot][floorUser] != user+1 && s.rows[slot][floorUser] != 0 {
		slot = (slot + 1) & mask
	}
	s.rows[slot][floorUser] = user + 1
	return &s.rows[slot]
}

func (r *floorRow) write(at int64) {
	r[floorLast] = uint64(at)
	r[floorCount]++
}

// touch finds the user's row and writes it back.
func (f *floor) touch(id string, at int64) {
	user := number(id)
	hash := spreadBits(user)
	s := f.shardOf(hash)
	s.mu.Lock()
	s.row(user, hash).write(at)
	s.mu.Unlock()
}

func number(id string) (n uint64) {
	for i := range len(id) {
		n = n*10 + uint64(id[i]-'0')
	}
	return n
}

func spreadBits(user uint64) uint64 {
	hi, lo := bits.Mul64(user, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// floorNow is a floor that reads the clock for each message.
type floorNow struct{ *floor }

func newFloorNow(users int, _ time.Duration) (asker, error) { return floorNow{newFloor(users)}, nil }

func (f floorNow) take(messages []draw) (passed int) {
	for i := range messages {
		f.touch(messages[i].id, time.Now().UnixNano())
	}
	return len(messages)
}

// floorAt is a floor that receives the time from the caller.
type floorAt struct {
	*floor
	at int64
}

func newFloorAt(users int, _ time.Duration) (asker, error) {
	return &floorAt{newFloor(users), time.Now().UnixNano()}, nil
}

func (f *floorAt) fork() asker {
	other := *f
	return &other
}

func (f *floorAt) take(messages []draw) (passed int) {
	for i := range messages {
		f.at += int64(pace)
		f.touch(messages[i].id, f.at)
	}
	return len(messages)
}

// floorAll is a floor that finds all rows before it writes the first one. Meanwhile it holds the
// locks of all shards with these rows. It reads the clock once. If it took a lock or read the clock
// between two look-ups, their cache misses could not overlap.
type floorAll struct{ *floor }

func newFloorAll(users int, _ time.Duration) (asker, error) { return floorAll{newFloor(users)}, nil }

func (f floorAll) take(messages []draw) (passed int) {
	var users, hashes [batch]uint64
	var rows [batch]*floorRow
	var locked [shards / 64]uint64 // one bit per shard: which ones to lock
	at := time.Now().UnixNano()
	for i := range messages {
		users[i] = number(messages[i].id)
		hashes[i] = spreadBits(users[i])
		shard := hashes[i] >> 56
		locked[shard/64] |= 1 << (shard % 64)
	}
	f.forEach(locked, (*sync.Mutex).Lock) // in shard order, to avoid deadlock
	for i := range messages {
		rows[i] = f.shardOf(hashes[i]).row(users[i], hashes[i])
	}
	for i := range messages {
		rows[i].write(at)
	}
	f.forEach(locked, (*sync.Mutex).Unlock)
	return len(messages)
}

func (f floorAll) forEach(set [shards / 64]uint64, do func(*sync.Mutex)) {
	for word, rest := range set {
		for ; rest != 0; rest &= rest - 1 {
			do(&f.shards[word*64+bits.TrailingZeros64(rest)].mu)
		}
	}
}
