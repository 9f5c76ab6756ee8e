package limits

import "math/bits"

// batchSize is how many messages are judged under the same locks: enough for memory accesses to
// overlap, and few enough that two batches seldom need the same shard.
const batchSize = 8

// Case is one message of a batch, and the decision on it.
type Case struct {
	User     string
	Request  Request
	Decision Decision
}

// JudgeAll judges messages in order, as Judge does for each. It looks up all rows of a batch before
// it judges the first, so that it waits for memory once instead of once per message.
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
		t.fillPlace(cases[i].User, &places[i])
		shards.add(places[i].shard.number)
	}
	t.lockAll(&shards)
	for i := range cases {
		places[i].find()
	}
	for i := range cases {
		p, c := &places[i], &cases[i]
		if !p.found || p.key&namedKey != 0 || !p.shard.holds(p.slot, p.key) {
			p.find() // an earlier case may have changed the row
		}
		p.judge(&c.Request, &c.Decision, nil)
	}
	t.unlockAll(&shards)
}

// shardSet is a set of a table's shards, by number.
type shardSet [shardCount / 64]uint64

func (set *shardSet) add(number int) { set[number/64] |= 1 << (number % 64) }

// lockAll locks shards in ascending order, so that two batches never deadlock.
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
