package signin

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tokenCheck is how long a row that was found is used without another look-up.
	tokenCheck = time.Second
	// tokenWait is how old a row becomes before all callers wait for a look-up. Before that, one
	// caller looks it up, and the others use what is known. So a token or session that another
	// process has ended is rejected within tokenWait plus the time that the database takes to
	// answer.
	tokenWait = 3 * time.Second
	// maxLookUps is the maximum number of look-ups at a time. Further ones wait, and end with the
	// same error if one before them fails.
	maxLookUps = 4
	// maxKnown is the number of known rows from which on unused rows are evicted.
	maxKnown = 10_000
)

// cache knows the rows that were found in the database, so that few requests read it, and so
// that nobody is signed out while it can't be read. It is safe for concurrent use. Finding a row
// takes no lock.
type cache struct {
	known  atomic.Pointer[map[tokenHash]*knownToken] // the map itself never changes; the pointer is never nil
	failed atomic.Pointer[failedLookUp]              // the last one; nil if there was none
	slots  chan struct{}                             // holds a value for each look-up that runs

	mu    sync.Mutex    // held while known is replaced
	ended atomic.Uint64 // how often rows were removed
}

// knownToken is a row and when it was last found.
type knownToken struct {
	row     *tokenRow
	at      atomic.Int64
	looking atomic.Bool // somebody looks it up
}

// failedLookUp is an error of the database. Within tokenCheck, nobody tries again.
type failedLookUp struct {
	err error
	at  time.Time
}

func newCache() *cache {
	c := &cache{slots: make(chan struct{}, maxLookUps)}
	c.known.Store(&map[tokenHash]*knownToken{})
	return c
}

// row returns the row with a hash, or nil if there is none. It calls read, which reads the row from
// the database, if the row is not known or too old. If that fails, a known row remains valid.
func (c *cache) row(ctx context.Context, hash tokenHash, now time.Time, read func() (*tokenRow, error)) (*tokenRow, error) {
	known := (*c.known.Load())[hash]
	if known != nil {
		switch age := now.Sub(time.Unix(0, known.at.Load())); {
		case age < 0: // the clock has gone back
		case age < tokenCheck, age < tokenWait && !known.looking.CompareAndSwap(false, true):
			return known.row, nil
		}
		defer known.looking.Store(false)
	}
	ended := c.ended.Load()
	row, err := c.lookUp(ctx, now, read)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && known != nil:
		return known.row, nil
	case err != nil:
		return nil, err
	case row == nil && known != nil:
		c.remove(func(h tokenHash, _ *tokenRow) bool { return h == hash })
	case row != nil && known == nil:
		c.add(map[tokenHash]*tokenRow{hash: row}, now, ended)
	case known != nil:
		known.at.Store(now.UnixNano())
	}
	return row, nil
}

// lookUp calls read, unless a look-up has failed just now, or while this one waited.
func (c *cache) lookUp(ctx context.Context, now time.Time, read func() (*tokenRow, error)) (*tokenRow, error) {
	before := c.failed.Load()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if last := c.failed.Load(); last != before || last != nil && now.Sub(last.at).Abs() < tokenCheck {
		return nil, last.err
	}
	row, err := read()
	if err != nil && ctx.Err() == nil {
		c.failed.Store(&failedLookUp{err, now})
	}
	return row, err
}

// add adds rows that were found or stored at the time now. ended is the value of c.ended before
// that. If any rows were removed since, add does nothing, because these rows may be among them.
func (c *cache) add(rows map[tokenHash]*tokenRow, now time.Time, ended uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Load() != ended {
		return
	}
	known := maps.Clone(*c.known.Load())
	if len(known) >= maxKnown {
		unused := now.Add(-tokenWait).UnixNano()
		maps.DeleteFunc(known, func(_ tokenHash, k *knownToken) bool { return k.at.Load() < unused })
	}
	for hash, row := range rows {
		known[hash] = &knownToken{row: row}
		known[hash].at.Store(now.UnixNano())
	}
	c.known.Store(&known)
}

// remove removes the rows for which isOver returns true.
func (c *cache) remove(isOver func(tokenHash, *tokenRow) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended.Add(1)
	known := maps.Clone(*c.known.Load())
	maps.DeleteFunc(known, func(hash tokenHash, k *knownToken) bool { return isOver(hash, k.row) })
	c.known.Store(&known)
}
