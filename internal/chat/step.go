package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// step is something to be done about a user, for one message or for several.
type step struct {
	bot     *Bot
	lane    *lane
	pile    *pile
	jobs    []job             // at least one
	penalty chatguard.Penalty // for all of them
	deed    string            // what to say of messages that share a penalty; empty for one that has its own

	began    time.Time
	forgiven bool // to be undone once it is done; guarded by the backlog's mu
}

// carryOut does what is due and reports how that went.
func (s *step) carryOut(ctx context.Context) {
	inTime, cancel := context.WithTimeout(ctx, s.bot.options.Patience)
	defer cancel()
	var err error = skipError("chatguard stopped") // between being chosen and beginning
	if ctx.Err() == nil {
		err = s.bot.penalise(inTime, &s.jobs[len(s.jobs)-1], s.penalty)
	}
	result, reason := journal.Done, s.deed
	var skip skipError
	switch {
	case err == nil:
	case errors.As(err, &skip):
		result, reason = journal.Skipped, err.Error()
	case ctx.Err() != nil:
		result, reason = journal.Failed, "chatguard stopped before it was answered"
	case inTime.Err() != nil:
		result, reason = journal.Failed, "too late: "+err.Error()
	default:
		result, reason = journal.Failed, err.Error()
	}
	if result != journal.Skipped && s.penalty.Action >= chatguard.Timeout && s.bot.backlog.isForgiven(s) {
		reason = s.undo(ctx)
	}
	for i := range s.jobs {
		s.bot.report(&s.jobs[i], s.penalty.Action, result, reason)
		if j := &s.jobs[i]; result == journal.Done && s.penalty.Action == chatguard.Delete {
			s.bot.tell(&j.message, &j.verdict)
		}
	}
}

// undo lifts what was just given to somebody who has been pardoned meanwhile, and returns what to say of it.
func (s *step) undo(ctx context.Context) string {
	m := &s.jobs[0].message
	if err := s.bot.options.Moderator.Lift(ctx, m.ChannelID, m.User.ID); err != nil {
		return "pardoned meanwhile, but not lifted: " + err.Error()
	}
	return "pardoned meanwhile, and lifted"
}

// skipError is why a penalty is not tried.
type skipError string

func (e skipError) Error() string { return string(e) }

// tooOld is how old a message may be for its author to be punished: everyone has read it, and they may have stopped long since. Chat that was kept back while
// this process stood still arrives so.
const tooOld = time.Minute

// keepers are those who keep order in a channel. Whatever the policy says, a bot doesn't act on them.
var keepers = chatguard.RolesOf(chatguard.Moderator, chatguard.LeadModerator, chatguard.Broadcaster)

// penalise carries out a penalty for a throttled message.
func (b *Bot) penalise(ctx context.Context, j *job, penalty chatguard.Penalty) error {
	moderator := b.options.Moderator
	if moderator == nil {
		return skipError("there is no token: chatguard only reads")
	}
	if j.message.User.Roles&keepers != 0 {
		return skipError("moderators and the broadcaster are never acted on")
	}
	if b.options.Now().Sub(j.verdict.At) > tooOld {
		return skipError("too old")
	}
	if pardon := b.reprieve(j); pardon != "" {
		return skipError(pardon)
	}
	switch penalty.Action {
	case chatguard.NoAction:
		return nil
	case chatguard.Delete:
		return moderator.Delete(ctx, j.message)
	case chatguard.Warn:
		return moderator.Warn(ctx, j.message, reason(j.verdict, 0))
	case chatguard.Timeout:
		if penalty.UntilRefill { // of which some has passed
			penalty.Duration = max(chatguard.MinTimeout, wholeSeconds(j.verdict.MaySpeakAt().Sub(b.options.Now())))
		}
		return moderator.Timeout(ctx, j.message, penalty.Duration, reason(j.verdict, penalty.Duration))
	case chatguard.Ban:
		return moderator.Ban(ctx, j.message, reason(j.verdict, 0))
	}
	return skipError("a chat bot can't " + penalty.Action.String())
}

// reprieve is why a penalty that was due when the message was judged isn't any more; empty where it is.
func (b *Bot) reprieve(j *job) string {
	if b.options.Guard.InForce(j.message.ChannelID).Mode == chatguard.Observe {
		return "the channel only observes by now"
	}
	m := j.message
	m.SentAt = b.options.Now()
	if v, err := b.options.Guard.Peek(m); err == nil && v.Exempt {
		return "the user is exempt by now"
	}
	return ""
}

// reason tells the user, and other moderators, why; and, with a timeout, when the next message is fine.
func reason(v chatguard.Verdict, silent time.Duration) string {
	if v.Never {
		return fmt.Sprintf("Too much at once (limit %s).", v.Limit)
	}
	said := fmt.Sprintf("Too many messages (limit %s).", v.Limit)
	if silent > 0 {
		said += fmt.Sprintf(" The next one is fine in %s.", chatguard.Wait(max(silent, v.RetryAfter)))
	}
	return said
}
