package web

import (
	"context"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// shownEntry is an entry as it is told, with whether it is forgiven.
type shownEntry struct {
	journal.Entry
	Pardoned *pardonNote `json:"pardoned,omitempty"` // left out where nobody has pardoned it
}

// pardonNote says who has pardoned an entry, and when.
type pardonNote struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// withPardons looks up, at once, who has pardoned which of the entries.
func (s *Server) withPardons(ctx context.Context, entries []journal.Entry) ([]shownEntry, error) {
	shown := make([]shownEntry, len(entries)) // in JSON an empty list, never null
	if len(entries) == 0 {
		return shown, nil
	}
	ids := make([]chatguard.EntryID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	pardons, err := s.opts.Store.Audits(ctx, journal.AuditFilter{Pardoned: ids, N: len(ids)})
	if err != nil {
		return nil, err
	}
	notes := map[string]*pardonNote{}
	for _, a := range pardons {
		detail, _ := a.Detail.(map[string]any)
		notes[fmt.Sprint(detail["entry"])] = &pardonNote{a.Author, a.At}
	}
	for i, e := range entries {
		shown[i] = shownEntry{e, notes[fmt.Sprint(e.ID)]}
	}
	return shown, nil
}
