package inner

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner/hook"
	"github.com/chatguard/chatguard/internal/limits"
)

// GuardAt changes a Guard as of a certain time. A replay of old messages uses it to make a change
// at the time when it was made. It is safe for concurrent use. The methods that a Guard has too do
// the same, and return ErrInvalid if no message can be judged at that time.
type GuardAt interface {
	SetPolicy(chatguard.Policy) error
	SetChannelPolicy(channelID string, policy chatguard.Policy) error
	SetUserOverride(context.Context, chatguard.Key, chatguard.UserOverride) error
	Grant(ctx context.Context, k chatguard.Key, limit string, n int) (until time.Time, err error)
	Reset(context.Context, chatguard.Key) error
	Refund(context.Context, chatguard.Verdict) error
	Pardon(context.Context, chatguard.Verdict) (done bool, err error)

	// SetOverlay sets an overlay on the policy of a channel. The overlay receives the channel's
	// policy, as Guard.ChannelPolicy returns it, and returns the policy to judge by. The Guard
	// calls the overlay now and for each change of the channel's policy. Use it for temporary
	// states such as a pause or a raid. As with any change, recorded usage is kept. If an overlay
	// makes an enforcing policy observe, strikes stay as they are until the policy enforces again.
	// A nil overlay removes the current one. The overlay may modify the policy that it receives,
	// which is a copy. It must return the same result for the same policy, leave PerUserEverywhere
	// and PerEverywhere limits unchanged, and have no side effects. It must not call the Guard,
	// which holds a lock during the call.
	//
	// The error is ErrInvalid, or names the mistake in the overlaid policy.
	// After an error, nothing is changed.
	SetOverlay(channelID string, overlay func(chatguard.Policy) chatguard.Policy) error

	// PardonAll is Pardon for several messages of one user in one channel. The verdicts must
	// include every throttled message of the user from the first of them to the last. PardonAll
	// skips messages that are already pardoned. If one of the verdicts can't be pardoned, it
	// pardons none. It returns the same errors as Pardon, and an error if the verdicts are about
	// several users or channels.
	PardonAll(context.Context, []chatguard.Verdict) (Pardoned, error)

	// Unpardon undoes a pardon of the key's user: the strikes and the refunded usage count again.
	// It doesn't change verdicts on later messages. It returns ErrPardonStale and changes nothing
	// if the policy has changed since the pardon. It also does so if the user has since got another
	// strike, been reset, been pardoned again or spent the refund. A second Unpardon of the same
	// pardon returns an error, too. A lifted penalty is not imposed again. Other errors are those
	// of Options.Shared.
	Unpardon(context.Context, chatguard.Key, Pardoned) error
}

// At returns the methods that change a Guard, as of the time at.
func At(g *chatguard.Guard, at time.Time) GuardAt { return hook.At(g, at).(GuardAt) }

// Pardoned is the effect of GuardAt.PardonAll, which Unpardon undoes. The zero value is a pardon
// that had no effect.
type Pardoned = limits.Taken

// ErrPardonStale is the error of a pardon that can't be undone any more.
var ErrPardonStale = limits.ErrPardonStale
