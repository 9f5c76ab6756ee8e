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

// AddNote adds a note on a user. The text may have several lines.
func (c *Controls) AddNote(ctx context.Context, t journal.Target, text string) (n journal.Note, saved bool, err error) {
	if text, err = noteText(text); err != nil {
		return n, false, err
	}
	n, err = c.options.Store.AddNote(journal.Note{At: c.now().UTC(), ChannelID: t.ChannelID, UserID: t.UserID, Author: t.Author, Text: text})
	if err != nil {
		return n, false, err
	}
	saved, err = c.recordNote(ctx, t, journal.UserNoted, n)
	return n, saved, err
}

// DeleteNote deletes a note on a user, or returns ErrNoNote.
func (c *Controls) DeleteNote(ctx context.Context, t journal.Target, id int64) (n journal.Note, saved bool, err error) {
	n, ok, err := c.options.Store.DeleteNote(t.ChannelID, t.UserID, id)
	if err != nil {
		return n, false, err
	}
	if !ok {
		return n, false, ErrNoNote
	}
	saved, err = c.recordNote(ctx, t, journal.NoteDeleted, n)
	return n, saved, err
}

// recordNote adds a change of a note to the audit, without the text: nobody can delete it there.
func (c *Controls) recordNote(ctx context.Context, t journal.Target, action journal.AuditAction, n journal.Note) (saved bool, err error) {
	return c.record(ctx, journal.Audit{
		Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: map[string]any{"note": n.ID, "by": n.Author},
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
