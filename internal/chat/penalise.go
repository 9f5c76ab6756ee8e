package chat

import (
	"context"
	"errors"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
)

// task is an action on a user, for one message or several.
type task struct {
	bot     *Bot
	channel *channelQueue
	queue   *userQueue
	jobs    []job             // at least one
	penalty chatguard.Penalty // applies to all jobs
	// doneReason is the journal's reason for messages that share a penalty. It is empty for a
	// message with its own penalty.
	doneReason string

	began time.Time
	// pardoned means that the task must be undone once it is complete. It and waitsFor are guarded
	// by the backlog's mu.
	pardoned bool
	waitsFor string // why the last try failed, while the task waits before another one
}

// carryOut carries out the penalty and reports the outcome. If the penalty fails, but a weaker one
// may succeed, the messages are deleted.
func (s *task) carryOut(ctx context.Context) {
	inTime, cancel := context.WithTimeout(ctx, s.bot.options.Patience)
	defer cancel()
	inTime = withRequestNote(inTime, func() { s.bot.durations.noteRequest(s.jobs, s.bot.steady()) })
	inTime = WithIdle(inTime, s.idle)
	var err error = skipError("chatguard stopped") // used if chatguard has stopped meanwhile
	if ctx.Err() == nil {
		err = s.bot.penalise(inTime, &s.jobs[len(s.jobs)-1], s.penalty)
	}
	s.noteHold(err)
	if _, deleted := errors.AsType[deletedError](err); deleted {
		s.deleteInstead(ctx, inTime, err)
		return
	}
	result, reason := journal.Done, s.doneReason
	if err != nil {
		result, reason = failureOf(err, ctx.Err() != nil, inTime.Err() != nil)
	}
	switch {
	case s.isToUndo(result):
		reason = s.undo(ctx)
	case (result == journal.Failed || result == journal.Unknown) && inTime.Err() == nil && s.hasWeaker(err):
		s.deleteInstead(ctx, inTime, err)
		return
	}
	for i := range s.jobs {
		s.report(&s.jobs[i], s.penalty.Action, result, reason)
	}
}

// report reports the outcome of a message.
func (s *task) report(j *job, action chatguard.Action, result journal.Result, reason string) {
	s.bot.report(j, action, result, reason)
	if result == journal.Done && action == chatguard.ActionDelete {
		s.bot.notify(&j.message, &j.verdict)
	}
}

// failureOf returns what the journal says of an error. stopped reports whether chatguard has
// stopped, and late whether the penalty's time is over.
func failureOf(err error, stopped, late bool) (result journal.Result, reason string) {
	var skip skipError
	isUnknown := errors.Is(err, ErrUnanswered)
	switch {
	case errors.As(err, &skip):
		return journal.Skipped, err.Error()
	case errors.Is(err, ErrStandby) && !isUnknown:
		return journal.Skipped, ErrStandby.Error()
	case stopped && isUnknown:
		reason = "chatguard stopped before it was answered"
	case stopped:
		reason = "chatguard stopped: " + err.Error()
	case late:
		reason = "too late: " + err.Error()
	default:
		reason = err.Error()
	}
	if isUnknown {
		return journal.Unknown, reason
	}
	return journal.Failed, reason
}

// isToUndo reports whether the penalty must be lifted: it was, or may have been, carried out, and
// its user was pardoned meanwhile.
func (s *task) isToUndo(result journal.Result) bool {
	return (result == journal.Done || result == journal.Unknown) && penalties.Silences(s.penalty.Action) && s.bot.backlog.isPardoned(s)
}

// undo lifts a penalty whose user was pardoned while it was carried out. It returns the reason for
// the journal.
func (s *task) undo(ctx context.Context) string {
	m := &s.jobs[0].message
	if err := s.bot.options.Moderator.Lift(ctx, m.ChannelID, m.User.ID); err != nil && !errors.Is(err, ErrNotSilenced) {
		return "pardoned meanwhile, but not lifted: " + err.Error()
	}
	return "pardoned meanwhile, and lifted"
}

// skipError is the reason why a penalty is not tried.
type skipError string

func (e skipError) Error() string { return string(e) }

// tooOld is the maximum age of a message for which its author is punished. By the time a message is
// older, everyone has read it, and its author may have stopped long ago. Such messages arrive when
// this process resumes after it was suspended.
const tooOld = time.Minute

// penalise carries out a penalty for a throttled message.
func (b *Bot) penalise(ctx context.Context, j *job, penalty chatguard.Penalty) error {
	moderator := b.options.Moderator
	if moderator == nil {
		return skipError("there is no token: chatguard only reads")
	}
	if roles.Moderate(j.message.User.Roles) { // whatever the policy says
		return skipError("moderators and the broadcaster are never acted on")
	}
	if b.options.Now().Sub(j.verdict.At) > tooOld {
		return skipError("too old")
	}
	if pardon := b.outdatedReason(j); pardon != "" {
		return skipError(pardon)
	}
	switch penalty.Action {
	case "":
		return nil
	case chatguard.ActionDelete:
		return moderator.Delete(ctx, j.message)
	case penalties.Warn:
		if err := moderator.Delete(ctx, j.message); err != nil {
			return err
		}
		if err := moderator.Warn(ctx, j.message, b.reason(j, 0)); err != nil {
			return deletedError{err}
		}
		return nil
	case chatguard.ActionTimeout:
		if penalty.UntilRefill { // part of the wait may already be over
			penalty.Duration = max(penalties.MinTimeout, wholeSeconds(journal.MaySpeakAt(j.verdict).Sub(b.options.Now())))
		}
		return moderator.Timeout(ctx, j.message, penalty.Duration, b.reason(j, penalty.Duration))
	case chatguard.ActionBan:
		b.commit(ctx)
		return moderator.Ban(ctx, j.message, b.reason(j, 0))
	}
	return skipError("a chat bot can't " + string(penalty.Action))
}

// commitTime is the maximum time that a ban waits until its journal entry is stored.
const commitTime = time.Second

// commit waits until the journal entry of a ban is stored: a ban never ends, so it needs a record
// even if this process is killed. A failing database delays a ban, but doesn't prevent it.
func (b *Bot) commit(ctx context.Context) {
	if b.options.Commit == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, commitTime)
	defer stop()
	b.options.Commit(ctx)
}

// outdatedReason returns why a penalty that was due when the message was judged is no longer due.
// It returns "" if the penalty is still due.
func (b *Bot) outdatedReason(j *job) string {
	if inner.Of(b.options.Guard).Mode(j.message.ChannelID) == chatguard.ModeObserve {
		return "the channel now only observes"
	}
	m := j.message
	m.SentAt = b.options.Now()
	if inner.Of(b.options.Guard).IsExempt(m) {
		return "the user is now exempt"
	}
	return ""
}

// reason returns the text that tells the user and other moderators why the user was penalised, in
// the language of the chat. For a timeout, it also says when the next message, or the same one, is
// allowed.
func (b *Bot) reason(j *job, silent time.Duration) string {
	v, texts := j.verdict, language.Chat(b.options.Notices(j.message.ChannelID).Language)
	limit := inner.Of(b.options.Guard).Limit(j.message.ChannelID, v.Limit)
	values := language.Values{"limit": texts.LimitTitle(v.Limit, limit.Title)}
	plain, waits := "reason", "reason-wait"
	if inner.IsText(limit.Per) {
		plain, waits = "reason-same", "reason-same-wait" // another message may be allowed earlier
	}
	switch {
	case v.Never:
		return texts.Text("reason-never", values)
	case silent > 0:
		values["wait"] = texts.Wait(max(silent, v.RetryAfter))
		return texts.Text(waits, values)
	}
	return texts.Text(plain, values)
}
