package limits

import "math/bits"

// batchSize is how many messages are judged under the same locks.
const batchSize = 16

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
		places[i] = t.place(cases[i].User)
		shards.add(places[i].shard.number)
	}
	t.lockAll(&shards)
	defer t.unlockAll(&shards)
	for i := range cases {
		places[i].find()
	}
	for i := range cases {
		places[i].judgeFound(&cases[i])
	}
}

// judgeFound decides on a message whose row has been looked for. The rows may have moved since.
func (p *place) judgeFound(c *Case) {
	if !p.found || !p.shard.holds(p.slot, p.key) {
		if p.find(); !p.found && c.Request.Exempt {
			exempt(p.shard.set, &c.Request, &c.Decision)
			return
		}
		p.make(c.Request.At)
	}
	p.judge(&c.Request, &c.Decision)
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
