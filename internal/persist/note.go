package persist

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// notebook holds all notes in memory, so that they can be read and changed while the database is
// failing. It is safe for concurrent use after load.
type notebook struct {
	mu       sync.Mutex
	users    map[personKey][]journal.Note // oldest first
	channels map[string]int               // number of notes by channel
	all      int                          // number of notes
	last     int64                        // highest ID
	pending  map[int64]noteRow            // changes that aren't in the database yet, by ID
}

// noteRow is a note that was added or deleted.
type noteRow struct {
	journal.Note
	isDeleted bool
}

const noteColumns = "id, at, channel_id, user_id, author, text"

var noteInsertion = statement.Insertion{Into: "note (" + noteColumns + ")", Columns: 6, Conflict: "DO NOTHING"}

// load reads the newest notes from the database, as many as there may be.
func (b *notebook) load(ctx context.Context, db *sqlite.DB) error {
	b.users, b.channels, b.pending = map[personKey][]journal.Note{}, map[string]int{}, map[int64]noteRow{}
	return db.Query(ctx, func(rows *sql.Rows) error {
		var n journal.Note
		err := rows.Scan(&n.ID, statement.Time(&n.At), &n.ChannelID, &n.UserID, &n.Author, &n.Text)
		b.put(n)
		return err
	}, "SELECT * FROM (SELECT "+noteColumns+" FROM note ORDER BY id DESC LIMIT ?) ORDER BY id", journal.MaxAllNotes)
}

func (b *notebook) put(n journal.Note) {
	key := personKey{n.ChannelID, n.UserID}
	b.users[key] = append(b.users[key], n)
	b.channels[n.ChannelID]++
	b.all++
	b.last = max(b.last, n.ID)
}

// AddNote numbers a note and keeps it. The note is stored with the next flush; see Commit. An error
// means that there are too many notes.
func (s *Store) AddNote(n journal.Note) (journal.Note, error) {
	b := &s.notes
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.users[personKey{n.ChannelID, n.UserID}]) >= journal.MaxNotes:
		return n, fmt.Errorf("a user has at most %d notes: delete one first", journal.MaxNotes)
	case b.channels[n.ChannelID] >= journal.MaxChannelNotes:
		return n, fmt.Errorf("a channel has at most %d notes: delete some first", journal.MaxChannelNotes)
	case b.all >= journal.MaxAllNotes:
		return n, fmt.Errorf("all channels have at most %d notes together: delete some first", journal.MaxAllNotes)
	case len(b.pending) >= maxChanges:
		return n, ErrTooMany
	}
	n.ID, n.At = b.last+1, n.At.UTC()
	b.put(n)
	b.pending[n.ID] = noteRow{Note: n}
	return n, nil
}

// DeleteNote deletes a note on a user and returns it. The change is stored with the next flush; see
// Commit. ok is false if there is no such note. An error means that too many changes are pending.
func (s *Store) DeleteNote(channelID, userID string, id int64) (n journal.Note, ok bool, err error) {
	b := &s.notes
	b.mu.Lock()
	defer b.mu.Unlock()
	key := personKey{channelID, userID}
	i := slices.IndexFunc(b.users[key], func(n journal.Note) bool { return n.ID == id })
	if i < 0 {
		return n, false, nil
	}
	if len(b.pending) >= maxChanges {
		return n, false, ErrTooMany
	}
	n = b.users[key][i]
	if b.users[key] = slices.Delete(b.users[key], i, i+1); len(b.users[key]) == 0 {
		delete(b.users, key)
	}
	b.channels[channelID]--
	b.all--
	b.pending[id] = noteRow{n, true}
	return n, true, nil
}

// Notes returns the notes on a user of a channel, newest first.
func (s *Store) Notes(channelID, userID string) []journal.Note {
	b := &s.notes
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := slices.Clone(b.users[personKey{channelID, userID}])
	slices.Reverse(notes)
	return notes
}

// NotedUsers returns the users of a channel who have notes, with the number of their notes.
func (s *Store) NotedUsers(channelID string) map[string]int {
	b := &s.notes
	b.mu.Lock()
	defer b.mu.Unlock()
	noted := map[string]int{}
	for key, notes := range b.users {
		if key.channelID == channelID {
			noted[key.userID] = len(notes)
		}
	}
	return noted
}

// FindNoted is like FindPeople, but finds only users who have notes.
func (s *Store) FindNoted(ctx context.Context, channelID, text string, n int) ([]journal.Person, error) {
	var ids []string
	for id := range s.NotedUsers(channelID) {
		ids = append(ids, id)
	}
	people, err := s.People(ctx, channelID, ids)
	if err != nil {
		return nil, err
	}
	wanted := searchFor(text)
	found := []journal.Person{}
	for _, id := range ids {
		p, ok := people[id]
		if !ok {
			p.UserID = id
		}
		if wanted.quality(p) != unlike {
			found = append(found, p)
		}
	}
	wanted.sort(found)
	return found[:min(n, len(found))], nil
}

// peek returns the pending changes, ordered by ID. They stay pending.
func (b *notebook) peek() []noteRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows := make([]noteRow, 0, len(b.pending))
	for _, row := range b.pending {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b noteRow) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}

// removeStored removes the changes that peek returned, because they are stored now, except those
// that were followed by another change of the same note.
func (b *notebook) removeStored(rows []noteRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, row := range rows {
		if b.pending[row.ID].isDeleted == row.isDeleted {
			delete(b.pending, row.ID)
		}
	}
}

func writeNotes(ctx context.Context, tx *sql.Tx, rows []noteRow) error {
	var added []noteRow
	var deleted []int64
	for _, row := range rows {
		if row.isDeleted {
			deleted = append(deleted, row.ID)
		} else {
			added = append(added, row)
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM note WHERE id IN (SELECT value FROM json_each(?))", jsonOf(deleted)); err != nil {
		return err
	}
	return noteInsertion.Write(ctx, tx, len(added), func(args []any, i int) []any {
		n := &added[i]
		return append(args, n.ID, n.At.UnixNano(), n.ChannelID, n.UserID, n.Author, strings.ToValidUTF8(n.Text, "\uFFFD"))
	})
}
