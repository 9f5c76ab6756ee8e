package limits

// Close closes tables for good. If onlyEmpty is true, it closes them only if no user has a row in
// any of them. closed reports whether it has closed them. unsent is then what TakeUnsent would have
// returned for all of them. Afterwards nothing can be spent in the tables. All calls must pass the
// tables in the order in which decisions lock them.
func Close(onlyEmpty bool, tables ...*Table) (closed bool, unsent []Unsent) {
	var shards []*shard
	empty := true
	for _, t := range tables {
		t.mu.Lock()
		defer t.mu.Unlock()
		for s := t.lockFrom(0); s != nil; s = t.lockFrom(s.end()) {
			shards = append(shards, s)
			empty = empty && s.count == 0
		}
	}
	defer unlockAll(shards)
	if onlyEmpty && !empty {
		return false, nil
	}
	for _, t := range tables {
		t.closed.Store(true)
		t.LeaveBudget()
	}
	for _, s := range shards {
		unsent = s.takeAllUnsent(unsent)
		s.close()
	}
	return true, unsent
}

// Closed reports whether the table has been closed.
func (t *Table) Closed() bool { return t.closed.Load() }

// sweptRows is the maximum number of rows that Sweep checks. A small table has no more.
const sweptRows = crowd

// Sweep drops rows that have the same effect as a new user's, as of the time at. It checks only a
// part of a large table; the next call continues. Only one call may be in progress.
func (t *Table) Sweep(at int64) {
	if t.Users() == 0 {
		return
	}
	s := t.lockFrom(t.swept)
	if s == nil {
		return // closed
	}
	defer s.mu.Unlock()
	s.dropFresh(sweptRows, at-clockJump)
	s.free()
	t.swept = s.end() % shardCount
}
