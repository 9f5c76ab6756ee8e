package chatguard

import (
	"context"

	"github.com/chatguard/chatguard/internal/limits"
)

// collectUnsent makes the known rows owe what was spent in the tables since the last call.
func (g *Guard) collectUnsent() {
	g.sharing.collecting.Lock()
	defer g.sharing.collecting.Unlock()
	g.eachTable(func(channelID string, table *limits.Table) {
		for _, u := range table.TakeUnsent() {
			g.sharing.oweUnsent(rowKey{channelID, u.User}, u)
		}
	})
}

// collectRow is collectUnsent for one row.
func (g *Guard) collectRow(key rowKey) {
	if table := g.knownTable(key); table != nil && !g.exact {
		g.sharing.collecting.Lock()
		defer g.sharing.collecting.Unlock()
		if u, ok := table.TakeUnsentOf(key.userID); ok {
			g.sharing.oweUnsent(key, u)
		}
	}
}

// knownTable returns the table of a row, or nil if there is none.
func (g *Guard) knownTable(key rowKey) *limits.Table {
	table, _ := g.findTable(key.channelID, key.userID)
	return table
}

// oweUnsent makes a row owe what was spent in a table.
func (s *sharing) oweUnsent(key rowKey, u limits.Unsent) {
	t := s.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	k.version++
	if !u.IsZero() {
		k.owe(len(k.owed), u.Spent)
		k.compact()
	}
	if u.Strikes != nil {
		k.apart = u.Strikes
	}
	t.place(k)
}

// adoptRow puts a row that was swapped into its table.
func (g *Guard) adoptRow(key rowKey, row *limits.Row) {
	table := g.knownTable(key)
	if table == nil {
		return
	}
	// The bytes were readable before. A table that was closed has nothing to decide any more.
	_ = table.Adopt(key.userID, row, g.sharing.now().UnixNano())
}

// findOverrides makes the next exchange read the rows with an override, once for each channel. The
// users may have sent nothing here yet.
func (g *Guard) findOverrides(ctx context.Context) (err error) {
	g.eachTable(func(channelID string, _ *limits.Table) {
		if _, met := g.sharing.met.Load(channelID); met || err != nil {
			return
		}
		var users []string
		if users, err = g.sharing.store.Overrides(ctx, channelID); err != nil {
			return
		}
		for _, user := range users {
			g.sharing.invalidate(rowKey{channelID, user})
		}
		g.sharing.met.Store(channelID, true)
	})
	return err
}
