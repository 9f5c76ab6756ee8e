package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// maxStatements is how many statements are kept. The filter of the journal has some hundred forms,
// of which people use few. Each costs some KiB in each connection that has run it.
const maxStatements = 64

// statements keeps prepared statements by their text, because parsing one takes longer than most
// reads. The zero value keeps nothing yet. It is safe for concurrent use. The pool prepares a kept
// statement again for each connection that it opens, and forgets those of connections that it
// closes. So nothing closes a kept statement.
type statements struct {
	mu   sync.Mutex
	kept map[string]*sql.Stmt
}

// query runs a statement, and keeps it if there is room.
func (s *statements) query(ctx context.Context, pool *sql.DB, text string, args []any) (*sql.Rows, error) {
	statement, err := s.prepare(ctx, pool, text)
	switch {
	case err != nil:
		return nil, err
	case statement == nil:
		return pool.QueryContext(ctx, text, args...)
	}
	return statement.QueryContext(ctx, args...)
}

// prepare returns the kept statement with a text, and prepares it if needed. It returns nil if
// there is no room.
func (s *statements) prepare(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	if kept, hasRoom := s.find(text); kept != nil || !hasRoom {
		return kept, nil
	}
	added, err := pool.PrepareContext(ctx, text) // not under the lock, as it may wait for a connection
	if err != nil {
		return nil, err
	}
	kept := s.keep(text, added)
	if kept != added {
		err = added.Close()
	}
	return kept, err
}

// find returns the kept statement with a text, or nil and whether there is room for it.
func (s *statements) find(text string) (kept *sql.Stmt, hasRoom bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[text], len(s.kept) < maxStatements
}

// keep keeps a statement, unless another goroutine has kept one with the same text or has used up
// the room. It returns the one that is kept, or nil.
func (s *statements) keep(text string, added *sql.Stmt) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*sql.Stmt{}
	}
	if s.kept[text] == nil && len(s.kept) < maxStatements {
		s.kept[text] = added
	}
	return s.kept[text]
}
