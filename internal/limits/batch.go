package limits

import "math/bits"

// batchSize is how many messages are judged under the same locks: enough for the memory to answer side by side, and few enough that two
// batches seldom need the same shard.
const batchSize = 8

// Case is one message of a batch, and what was decided on it.
type Case struct {
	User     string
	Request  Request
	Decision Decision
}

// JudgeAll decides on messages in their order, as Judge does on each. All rows of a batch are looked for before the first is judged, so
// that the memory is waited for once instead of once for each.
func (t *Table) JudgeAll(cases []Case) {
	for len(cases) > batchSize {
		t.judgeBatch(cases[:batchSize])
		cases = cases[batchSize:]
	}
	t.judgeBatch(cases)
}

func (t *Table) judgeBatch(cases []Case) {
	var places [batchSize]place
	var shards shardSet
	for i := range cases {
		t.place(cases[i].User, &places[i])
		shards.add(places[i].shard.number)
	}
	t.lockAll(&shards)
	for i := range cases {
		places[i].find()
	}
	for i := range cases {
		p, c := &places[i], &cases[i]
		if !p.found || p.key&namedKey != 0 || !p.shard.holds(p.slot, p.key) {
			p.find() // a case before has added the row, or moved it, or given its place to another
		}
		p.judge(&c.Request, &c.Decision, nil)
	}
	t.unlockAll(&shards)
}

// shardSet is a set of shards of a table, by their numbers.
type shardSet [shardCount / 64]uint64

func (set *shardSet) add(number int) { set[number/64] |= 1 << (number % 64) }

// lockAll locks shards in the order of their numbers, so that two batches never wait for each other.
func (t *Table) lockAll(set *shardSet) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			t.shards[64*i+bits.TrailingZeros64(word)].Load().mu.Lock()
		}
	}
}

func (t *Table) unlockAll(set *shardSet) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			t.shards[64*i+bits.TrailingZeros64(word)].Load().mu.Unlock()
		}
	}
}
