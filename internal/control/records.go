package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/shared"
)

// Store stores the changes. Its methods return saved = false if the database fails; the change is
// then pending.
type Store interface {
	Record(ctx context.Context, a journal.Audit) (saved bool, err error)
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
	// AddNote numbers a note and keeps it. DeleteNote deletes a note and returns it; ok is false if
	// there is none. Both are stored with the next change.
	AddNote(n journal.Note) (journal.Note, error)
	DeleteNote(channelID, userID string, id int64) (n journal.Note, ok bool, err error)
	// Commit returns once all earlier changes are stored, including those of the Guard.
	Commit(ctx context.Context) (saved bool)
	// Entry returns a journal entry by its ID.
	Entry(ctx context.Context, id chatguard.EntryID) (journal.Entry, bool, error)
	// Entries returns the matching journal entries, newest first, including pending ones.
	Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error)
	// Silencing returns stored entries since a time whose timeout or ban was carried out, if
	// isWanted reports true for them: the newest such entry of each user of each channel. It
	// returns the newest n, newest first.
	Silencing(ctx context.Context, since time.Time, isWanted func(*journal.Entry) bool, n int) ([]journal.Entry, error)
	// Audits returns the matching changes, newest first.
	Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error)
}

// records passes changes to the followers and to the Store, once they are in force.
type records struct {
	store     Store
	followers *policies.Followers
	now       func() time.Time
	log       *slog.Logger
}

// add adds a change to the audit.
func (r *records) add(ctx context.Context, a journal.Audit) (saved bool, err error) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	a.At = r.now().UTC()
	r.followers.Made(a)
	saved, err = r.store.Record(ctx, a)
	if err != nil {
		return saved, doneError{"it is not recorded in the audit", r.trouble(err)}
	}
	return saved, nil
}

// whole returns a context that doesn't end with the request, for a change that is followed by its
// record. So a client that hangs up can't leave a change without a record. The Guard itself bounds
// the wait for a shared store.
func whole(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// amended announces that a user's state has changed, and adds the change to the audit.
func (r *records) amended(ctx context.Context, t journal.Target, action journal.AuditAction, detail journal.Detail) (saved bool, err error) {
	r.followers.Notify(func(f policies.Follower) { f.Amended(t.ChannelID, t.UserID) })
	return r.add(ctx, journal.Audit{Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: detail})
}

// failed returns the error of a change, after adding the change to the audit as Unconfirmed if it
// may have been made.
func (r *records) failed(ctx context.Context, a journal.Audit, err error) error {
	if !errors.Is(err, shared.ErrUnconfirmed) && !errors.Is(err, ErrUnanswered) {
		return err
	}
	tried := journal.UnconfirmedDetail{Action: a.Action}
	if a.Detail != nil {
		text, broken := json.Marshal(a.Detail)
		if broken != nil {
			r.trouble(broken)
		}
		tried.Detail = text
	}
	a.Action, a.Detail = journal.Unconfirmed, tried
	_, _ = r.add(ctx, a) // it logs its error
	return err
}

// notAmended is failed for a change of a user's state, which may have changed.
func (r *records) notAmended(ctx context.Context, t journal.Target, action journal.AuditAction, detail journal.Detail, err error) error {
	if errors.Is(err, shared.ErrUnconfirmed) {
		r.followers.Notify(func(f policies.Follower) { f.Amended(t.ChannelID, t.UserID) })
	}
	return r.failed(ctx, journal.Audit{Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: detail}, err)
}

// commit returns once all earlier changes are stored.
func (r *records) commit(ctx context.Context) (saved bool) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	return r.store.Commit(ctx)
}

// trouble logs an error of the Store and returns the error to show to people.
func (r *records) trouble(err error) error {
	r.log.Error("the store failed", "error", err)
	return ErrStore
}

// doneError is an error that occurred after a change was made.
type doneError struct {
	lack  string
	cause error
}

func (e doneError) Error() string { return fmt.Sprintf("done, but %s: %v", e.lack, e.cause) }
func (e doneError) Unwrap() error { return e.cause }
