// Package inner has the methods of a chatguard.Guard that other packages of this module need, and
// that the API doesn't promise to programs.
package inner

import (
	"context"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner/hook"
	"github.com/chatguard/chatguard/internal/limits"
)

// Guard is the part of a chatguard.Guard that its API doesn't promise.
type Guard interface {
	// Explain judges a message like Peek. It also returns the author's usage of every limit, in the
	// policy's order and even if the author is exempt, the author's strikes, and the ladder's
	// penalty for the next strike. With shared.Exact, it reads the rows in the store. It returns
	// the same errors as Check, including the context's.
	Explain(ctx context.Context, m chatguard.Message) (v chatguard.Verdict, levels []limits.Level, s limits.Standing, next chatguard.Penalty, err error)
	// CheckInto is Check without copies of the verdict. v must be the zero Verdict; after an error
	// it is zero again.
	CheckInto(ctx context.Context, m chatguard.Message, v *chatguard.Verdict) error
	// Left judges a message like Peek, but as one that costs nothing: it says how much is left to
	// the author before the message. It ignores the message's Cost, unless that is negative.
	Left(ctx context.Context, m chatguard.Message) (chatguard.Verdict, error)
	// Quotas returns the quotas that apply to the author of the message that v is about, at its
	// time. They have the author's own numbers, or else those of the author's roles. It returns no
	// quotas if the author is exempt, or if there are no limits. The caller must not change the
	// result.
	Quotas(v *chatguard.Verdict) *limits.Quotas

	// Granted returns how many of the messages in the verdict's Remaining are granted ones.
	Granted(v *chatguard.Verdict) int

	// IsExempt reports whether the message's author, or its kind, is exempt from the limits at the
	// message's time: by the policy in force, or by the author's override. It judges nothing, so it
	// costs much less than Peek. With Options.Shared, it doesn't ask the store, and uses the
	// override that the Guard remembers, if any. A message that can't be judged isn't exempt.
	IsExempt(m chatguard.Message) bool

	// ValidateChannelPolicy returns the error that SetChannelPolicy would return for the policy
	// now, and changes nothing. It returns the same errors as Policy.Validate, or ErrInvalid.
	// The error may also name a PerUserEverywhere or PerEverywhere limit, which a channel can't
	// change.
	ValidateChannelPolicy(channelID string, policy chatguard.Policy) error

	// InForce returns the policy by which the Guard judges a channel's messages. It is the result
	// of ChannelPolicy with the overlay applied.
	InForce(channelID string) chatguard.Policy

	// Mode returns the mode of the policy by which the Guard judges a channel's messages. It is
	// InForce(channelID).Mode, without a copy of the policy.
	Mode(channelID string) chatguard.Mode

	// Limit returns a limit of the policy by which the Guard judges a channel's messages. It is the
	// zero value if there is no such limit. Its Roles must not be changed.
	Limit(channelID, name string) chatguard.Limit

	// Timezone returns the name of the time zone of the policy by which the Guard judges a
	// channel's messages; empty means UTC. It is InForce(channelID).Timezone, without a copy of the
	// policy.
	Timezone(channelID string) string

	// ReadsTexts reports whether the policy in force in a channel has limits on repeated text.
	ReadsTexts(channelID string) bool

	// TextQuotas returns the policy in force in a channel, and what its limits on repeated text
	// that decide allow each text now, if a user with these roles writes it.
	TextQuotas(channelID string, roles chatguard.Roles) (chatguard.Policy, []limits.Quota)

	// Hashes returns the two keyed hashes of a print: of the text as it is, and as similar texts
	// have it. A hash is zero if nothing is left of the text in that form.
	Hashes(p chatguard.TextPrint) [2][16]byte

	// KnowsRole reports whether the policy in force in a channel names the role: in its list, as
	// exempt, or in a limit. Other roles have no effect there.
	KnowsRole(channelID string, r chatguard.Role) bool

	// KnowsKind reports whether the policy in force in a channel names the kind of messages.
	KnowsKind(channelID, kind string) bool
}

// Of returns the inner methods of a Guard.
func Of(g *chatguard.Guard) Guard { return hook.Inner(g).(Guard) }

// Compile returns the limits of a policy in the form that decisions use. It returns the same errors
// as Validate.
func Compile(p chatguard.Policy) (limits.Sets, error) { return hook.Compile(p) }
