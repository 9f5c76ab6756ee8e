package chat

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// The ends of the journal's reason if a penalty failed, or may have failed, but its message was
// deleted.
const (
	onlyDeleted = "; the message was only deleted"
	alsoDeleted = "; the message was deleted"
)

// deletedError is the error of a penalty that failed after its message was deleted.
type deletedError struct{ error }

func (e deletedError) Unwrap() error { return e.error }

// hasWeaker reports whether to delete the messages because a timeout or a ban failed. It returns
// false if no penalty is possible, or if the user was pardoned.
func (s *task) hasWeaker(err error) bool {
	return penalties.Silences(s.penalty.Action) && !errors.Is(err, ErrFutile) && !s.bot.backlog.isPardoned(s)
}

// deleteInstead deletes the messages whose penalty failed, unless they are already deleted, and
// reports the outcomes. If the penalty may have been carried out nevertheless, its result is
// unknown, so that a pardon lifts it. inTime ends when the penalty's time is over.
func (s *task) deleteInstead(ctx, inTime context.Context, failed error) {
	result, why := journal.Failed, failed.Error()
	if held, ok := errors.AsType[*HeldError](failed); ok {
		why = held.Why
	}
	s.bot.sampler.warn("a penalty failed; its message is only deleted", "channel", s.channel.channelID, "penalty", s.penalty, "error", why)
	if errors.Is(failed, ErrUnanswered) {
		result, why = journal.Unknown, failed.Error()
	}
	errs := s.deleteMessages(inTime, failed)
	if s.isToUndo(result) {
		why = s.undo(ctx)
	}
	for i, err := range errs {
		switch {
		case err != nil:
			s.report(&s.jobs[i], s.penalty.Action, result, why+"; deleting the message failed, too: "+err.Error())
		case result == journal.Unknown:
			s.report(&s.jobs[i], s.penalty.Action, result, why+alsoDeleted)
		default:
			s.report(&s.jobs[i], chatguard.ActionDelete, journal.Done, why+onlyDeleted)
		}
	}
}

// deleteMessages deletes the messages whose penalty failed, unless they are already deleted. It
// returns an error for each, which may be nil.
func (s *task) deleteMessages(ctx context.Context, failed error) []error {
	errs := make([]error, len(s.jobs))
	if _, deleted := errors.AsType[deletedError](failed); deleted {
		return errs
	}
	for i := range s.jobs {
		errs[i] = s.bot.options.Moderator.Delete(ctx, s.jobs[i].message)
	}
	return errs
}
