package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// Moderator carries out penalties on a platform. Each call tries until it succeeds, until trying again can't help, or until the
// context ends. It is safe for concurrent use. What is already so (the message is gone, the user is banned) counts as success.
type Moderator interface {
	Delete(ctx context.Context, m chatguard.Message) error
	Warn(ctx context.Context, m chatguard.Message, reason string) error // and delete
	Timeout(ctx context.Context, m chatguard.Message, length time.Duration, reason string) error
	Ban(ctx context.Context, m chatguard.Message, reason string) error
}

// skipError is why a penalty is not tried.
type skipError string

func (e skipError) Error() string { return string(e) }

// keepers are those who keep order in a channel. Whatever the policy says, a bot doesn't act on them.
var keepers = chatguard.RolesOf(chatguard.Moderator, chatguard.LeadModerator, chatguard.Broadcaster)

// penalise carries out the penalty that a verdict names.
func (b *Bot) penalise(ctx context.Context, j job) error {
	moderator, penalty := b.options.Moderator, j.verdict.Penalty
	if moderator == nil {
		return skipError("there is no token: chatguard only reads")
	}
	if j.message.User.Roles&keepers != 0 {
		return skipError("moderators and the broadcaster are never acted on")
	}
	switch penalty.Action {
	case chatguard.NoAction:
		return nil
	case chatguard.Delete:
		return moderator.Delete(ctx, j.message)
	case chatguard.Warn:
		return moderator.Warn(ctx, j.message, reason(j.verdict))
	case chatguard.Timeout:
		return moderator.Timeout(ctx, j.message, penalty.Duration, reason(j.verdict))
	case chatguard.Ban:
		return moderator.Ban(ctx, j.message, reason(j.verdict))
	}
	return skipError("a chat bot can't " + penalty.Action.String())
}

// reason tells the user, and other moderators, why.
func reason(v chatguard.Verdict) string {
	if v.Never {
		return fmt.Sprintf("Too much at once (limit %s).", v.Limit)
	}
	wait := (v.RetryAfter + time.Second - 1) / time.Second * time.Second
	return fmt.Sprintf("Too many messages (limit %s). The next one is fine in %s.", v.Limit, wait)
}
