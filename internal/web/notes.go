package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// userNotes is the answer to a request for the notes on a user.
type userNotes struct {
	Notes []journal.Note `json:"notes"` // newest first
}

// noteWanted is the body of a request for a note.
type noteWanted struct {
	Text string `json:"text"`
}

// changedNote is the answer to a request that adds or deletes a note.
type changedNote struct {
	Note  journal.Note `json:"note"`
	Saved bool         `json:"saved"`
}

// notesOn returns the notes on a user, as a list that is never null in JSON.
func (h *users) notesOn(channel, user string) []journal.Note {
	return append([]journal.Note{}, h.store.Notes(channel, user)...)
}

// getNotes is GET /channels/{channel}/users/{id}/notes.
func (h *users) getNotes(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	channel, user, err := h.pathUser(r)
	if err != nil {
		return err
	}
	return problem.WriteJSON(w, userNotes{h.notesOn(channel, user)})
}

// addNote is POST …/notes.
func (h *amendments) addNote(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted noteWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done changedNote, err error) {
		done.Note, done.Saved, err = h.controls.Notes.Add(ctx, t, wanted.Text)
		return done, err
	})
}

// deleteNote is DELETE …/notes/{note}. Every moderator may delete every note.
func (h *amendments) deleteNote(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	id, err := strconv.ParseInt(r.PathValue("note"), 10, 64)
	if err != nil {
		return errControls(control.ErrNoNote)
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done changedNote, err error) {
		done.Note, done.Saved, err = h.controls.Notes.Delete(ctx, t, id)
		return done, err
	})
}
