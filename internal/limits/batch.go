package limits

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
// it judges the first, so that it waits for memory once instead of once per message. It returns how
// many messages it has judged: all, unless the table is closed.
func (t *Table) JudgeAll(cases []Case) (judged int) {
	for judged < len(cases) {
		batch := cases[judged:min(judged+batchSize, len(cases))]
		if !t.judgeBatch(batch) {
			break
		}
		judged += len(batch)
	}
	return judged
}

func (t *Table) judgeBatch(cases []Case) (open bool) {
	var places [batchSize]place
	var room [batchSize]*shard
	shards, open := t.lockAll(cases, &places, &room)
	if !open {
		return false
	}
	for i := range cases {
		places[i].find()
	}
	for i := range cases {
		p, c := &places[i], &cases[i]
		if !p.found || p.key&namedKey != 0 || !p.shard.holds(p.slot, p.key) {
			p.find() // an earlier case may have changed the row
		}
		p.judge(&c.Request, &c.Decision)
	}
	unlockAll(shards)
	return true
}

// lockAll fills in the places of the cases and locks their shards, in the order of the directory,
// so that two batches never deadlock. It returns false if the table is closed.
func (t *Table) lockAll(cases []Case, places *[batchSize]place, room *[batchSize]*shard) (shards []*shard, open bool) {
	for !t.closed.Load() {
		shards = room[:0]
		for i := range cases {
			t.fillPlace(cases[i].User, &places[i])
			shards = insertShard(shards, places[i].shard)
		}
		if lockShards(shards) {
			return shards, true
		}
	}
	return nil, false
}

// insertShard inserts a shard into a list that is in the order of the directory, unless the list
// has it.
func insertShard(shards []*shard, s *shard) []*shard {
	at := len(shards)
	for at > 0 && shards[at-1].number >= s.number {
		if at--; shards[at] == s {
			return shards
		}
	}
	shards = append(shards, s)
	for last := len(shards) - 1; last > at; last-- { // faster than slices.Insert
		shards[last] = shards[last-1]
	}
	shards[at] = s
	return shards
}

// lockShards locks all shards. If one of them is closed, it leaves all unlocked and returns false.
func lockShards(shards []*shard) bool {
	for i, s := range shards {
		if !s.lock() {
			unlockAll(shards[:i])
			return false
		}
	}
	return true
}

func unlockAll(shards []*shard) {
	for _, s := range shards {
		s.mu.Unlock()
	}
}
