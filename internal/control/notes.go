package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// Notes are the moderators' notes on users. They are safe for concurrent use.
type Notes struct {
	records *records
}

// Add adds a note on a user. The text may have several lines.
func (n *Notes) Add(ctx context.Context, t journal.Target, text string) (note journal.Note, saved bool, err error) {
	if text, err = noteText(text); err != nil {
		return note, false, err
	}
	note, err = n.records.store.AddNote(journal.Note{At: n.records.now().UTC(), ChannelID: t.ChannelID, UserID: t.UserID, Author: t.Author, Text: text})
	if err != nil {
		return note, false, err
	}
	saved, err = n.record(ctx, t, journal.UserNoted, note)
	return note, saved, err
}

// Delete deletes a note on a user, or returns ErrNoNote.
func (n *Notes) Delete(ctx context.Context, t journal.Target, id int64) (note journal.Note, saved bool, err error) {
	note, ok, err := n.records.store.DeleteNote(t.ChannelID, t.UserID, id)
	if err != nil {
		return note, false, err
	}
	if !ok {
		return note, false, ErrNoNote
	}
	saved, err = n.record(ctx, t, journal.NoteDeleted, note)
	return note, saved, err
}

// record adds a change of a note to the audit, without the text, because nobody could delete it
// there.
func (n *Notes) record(ctx context.Context, t journal.Target, action journal.AuditAction, note journal.Note) (saved bool, err error) {
	return n.records.add(ctx, journal.Audit{
		Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: journal.NoteDetail{Note: note.ID, By: note.Author},
	})
}

// noteText returns the text of a note without surrounding white space and control characters.
func noteText(text string) (string, error) {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")))
	if text == "" {
		return "", errors.New("the note is empty")
	}
	if err := hostile.CheckLength(text, journal.MaxNote); err != nil {
		return "", fmt.Errorf("the note %w", err)
	}
	return text, nil
}
