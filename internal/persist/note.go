package persist

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
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

	pending pending[int64, journal.Note] // by ID
}

const noteColumns = "id, at, channel_id, user_id, author, text"

var noteInsertion = statement.Insertion{Into: "note (" + noteColumns + ")", Columns: 6, Conflict: "DO NOTHING"}

// load reads the newest notes from the database, up to journal.MaxAllNotes.
func (b *notebook) load(ctx context.Context, db database) error {
	b.users, b.channels, b.pending.limit = map[personKey][]journal.Note{}, map[string]int{}, maxChanges
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
// means that there are too many notes or pending changes.
func (b *notebook) AddNote(n journal.Note) (journal.Note, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.users[personKey{n.ChannelID, n.UserID}]) >= journal.MaxNotes:
		return n, fmt.Errorf("a user has at most %d notes: delete one first", journal.MaxNotes)
	case b.channels[n.ChannelID] >= journal.MaxChannelNotes:
		return n, fmt.Errorf("a channel has at most %d notes: delete some first", journal.MaxChannelNotes)
	case b.all >= journal.MaxAllNotes:
		return n, fmt.Errorf("all channels have at most %d notes together: delete some first", journal.MaxAllNotes)
	}
	n.ID, n.At = b.last+1, n.At.UTC()
	if err := b.pending.put(n.ID, &n); err != nil {
		return n, err
	}
	b.put(n)
	return n, nil
}

// DeleteNote deletes a note on a user and returns it. The change is stored with the next flush; see
// Commit. ok is false if there is no such note. An error means that too many changes are pending.
func (b *notebook) DeleteNote(channelID, userID string, id int64) (n journal.Note, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := personKey{channelID, userID}
	i := slices.IndexFunc(b.users[key], func(n journal.Note) bool { return n.ID == id })
	if i < 0 {
		return n, false, nil
	}
	if err := b.pending.put(id, nil); err != nil {
		return n, false, err
	}
	n = b.users[key][i]
	if b.users[key] = slices.Delete(b.users[key], i, i+1); len(b.users[key]) == 0 {
		delete(b.users, key)
	}
	b.channels[channelID]--
	b.all--
	return n, true, nil
}

// Notes returns the notes on a user of a channel, newest first.
func (b *notebook) Notes(channelID, userID string) []journal.Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := slices.Clone(b.users[personKey{channelID, userID}])
	slices.Reverse(notes)
	return notes
}

// NotedUsers returns the users of a channel who have notes, with the number of their notes.
func (b *notebook) NotedUsers(channelID string) map[string]int {
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

// forget deletes all notes on a user, also pending ones.
func (b *notebook) forget(userID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, notes := range b.users {
		if key.userID == userID {
			b.channels[key.channelID] -= len(notes)
			b.all -= len(notes)
			delete(b.users, key)
		}
	}
	b.pending.drop(func(n *journal.Note) bool { return n.UserID == userID })
}

func writeNotes(ctx context.Context, tx *sql.Tx, rows map[int64]*journal.Note) error {
	return writeByID(ctx, tx, "note", &noteInsertion, rows, func(args []any, n *journal.Note) []any {
		return append(args, n.ID, n.At.UnixNano(), n.ChannelID, n.UserID, n.Author, strings.ToValidUTF8(n.Text, "\uFFFD"))
	})
}
