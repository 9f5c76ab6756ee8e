package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/policies"
)

// Users changes single users' state in the Guard. It is safe for concurrent use.
type Users struct {
	guard   *chatguard.Guard
	records *records
	pardons *lastPardons

	overriding turns // taken while a user's override is changed and stored
}

// Grant gives a user n extra messages in a limit and returns when they expire. An empty limit means
// the first daily limit per user. If there is none, it means the first limit per user.
func (u *Users) Grant(ctx context.Context, t journal.Target, limit string, n int) (until time.Time, saved bool, err error) {
	l, err := toGrant(inner.Of(u.guard).InForce(t.ChannelID).Limits, limit)
	if err != nil {
		return until, false, err
	}
	key := t.Key()
	if l.Per == chatguard.PerUserEverywhere {
		key = chatguard.Key{UserID: t.UserID, Per: l.Per}
	}
	if until, err = inner.At(u.guard, u.records.now()).Grant(whole(ctx), key, l.Name, n); err != nil {
		return until, false, u.records.notAmended(ctx, t, journal.UserGranted, journal.GrantDetail{Limit: l.Name, Messages: n}, err)
	}
	saved, err = u.records.amended(ctx, t, journal.UserGranted, journal.GrantDetail{Limit: l.Name, Messages: n, Until: until.UTC()})
	return until, saved, err
}

// GrantsEverywhere reports whether a Grant in this limit counts in all channels.
func (u *Users) GrantsEverywhere(channelID, limit string) bool {
	l, err := toGrant(inner.Of(u.guard).InForce(channelID).Limits, limit)
	return err == nil && inner.InAllChannels(l.Per)
}

// toGrant returns the limit in which to grant extra messages, given the name in the request.
func toGrant(all []chatguard.Limit, name string) (chatguard.Limit, error) {
	own := slices.DeleteFunc(slices.Clone(all), func(l chatguard.Limit) bool { return !inner.IsPersonal(l.Per) })
	wanted := func(l chatguard.Limit) bool { return l.Name == name }
	if name == "" {
		wanted = func(l chatguard.Limit) bool { return l.Algorithm == chatguard.DailyWindow }
	}
	switch i := slices.IndexFunc(own, wanted); {
	case i >= 0:
		return own[i], nil
	case name == "" && len(own) > 0:
		return own[0], nil
	case name == "":
		return chatguard.Limit{}, fmt.Errorf("%w: no limit is per user", chatguard.ErrNoLimit)
	case slices.ContainsFunc(all, func(l chatguard.Limit) bool { return wanted(l) && inner.IsText(l.Per) }):
		return chatguard.Limit{}, limits.NotPersonal(name)
	case len(own) < len(all) && slices.ContainsFunc(all, wanted):
		return chatguard.Limit{}, fmt.Errorf("the limit %q is shared by everyone: choose a limit per user", name)
	}
	return chatguard.Limit{}, fmt.Errorf("%w: %q", chatguard.ErrNoLimit, name)
}

// Reset returns a user to the state of a user never seen in the channel.
func (u *Users) Reset(ctx context.Context, t journal.Target) (saved bool, err error) {
	if err := inner.At(u.guard, u.records.now()).Reset(whole(ctx), t.Key()); err != nil {
		return false, u.records.notAmended(ctx, t, journal.UserReset, nil, err)
	}
	u.pardons.forget(t) // undoing it would restore what was reset
	return u.records.amended(ctx, t, journal.UserReset, nil)
}

// Overridden is the result of a change of a user's override.
type Overridden struct {
	Former, Now chatguard.UserOverride
	Saved       bool // false: in force, but not written yet
}

// mostExempt is the maximum duration of a temporary exemption.
const mostExempt = 365 * 24 * time.Hour

// Exempt lets a user write without limits for the given length; 0 means permanently. It keeps the
// rest of the user's override, and it keeps an existing exemption that lasts longer. It returns an
// error if the override forbids an exemption, and ErrExemption if the length is negative or more
// than a year. match is as in SetOverride.
func (u *Users) Exempt(ctx context.Context, t journal.Target, match []string, length time.Duration) (Overridden, error) {
	if length < 0 || length > mostExempt {
		return Overridden{}, ErrExemption
	}
	return u.override(ctx, t, match, journal.UserExempted, func(own chatguard.UserOverride) (chatguard.UserOverride, journal.Detail, error) {
		var until time.Time
		var detail journal.Detail // none if the exemption is permanent
		if length > 0 {
			until = u.records.now().Add(length)
			detail = journal.ExemptDetail{Until: until.UTC()}
		}
		switch {
		case own.Exempt == chatguard.ExemptNever:
			return own, nil, errors.New("the user is set to never exempt: change their custom limits first")
		case own.Exempt == chatguard.ExemptAlways && (own.ExemptUntil.IsZero() || !until.IsZero() && own.ExemptUntil.After(until)):
			return own, nil, nil
		}
		own.Exempt, own.ExemptUntil = chatguard.ExemptAlways, until
		return own, detail, nil
	})
}

// SetOverride replaces a user's override: their numbers, time zone or exemption. The zero override
// removes it. If the new override equals the present one, nothing changes. match has the tags of
// overrides that may be replaced; nil means any. For another override, the error is ErrStale.
func (u *Users) SetOverride(ctx context.Context, t journal.Target, match []string, own chatguard.UserOverride) (Overridden, error) {
	return u.override(ctx, t, match, journal.UserOverridden, func(before chatguard.UserOverride) (chatguard.UserOverride, journal.Detail, error) {
		return own, journal.Replaced[chatguard.UserOverride]{From: before, To: own}, nil
	})
}

// SetExemption is SetOverride for a person who may only exempt users and end exemptions. If own
// would also change numbers or the time zone, or make limits apply to an exempt role, the error is
// ErrMoreThanExemption.
func (u *Users) SetExemption(ctx context.Context, t journal.Target, match []string, own chatguard.UserOverride) (Overridden, error) {
	return u.override(ctx, t, match, journal.UserOverridden, func(before chatguard.UserOverride) (chatguard.UserOverride, journal.Detail, error) {
		allowed := before
		allowed.Exempt, allowed.ExemptUntil = own.Exempt, own.ExemptUntil
		if !sameOverride(allowed, own) || own.Exempt == chatguard.ExemptNever && before.Exempt != chatguard.ExemptNever {
			return before, nil, ErrMoreThanExemption
		}
		return own, journal.Replaced[chatguard.UserOverride]{From: before, To: own}, nil
	})
}

// override replaces a user's override by the result of edit on the present one, and records the
// action with edit's detail.
func (u *Users) override(
	ctx context.Context, t journal.Target, match []string, action journal.AuditAction,
	edit func(chatguard.UserOverride) (own chatguard.UserOverride, detail journal.Detail, err error),
) (done Overridden, err error) {
	end, err := u.overriding.take(ctx, t.Key())
	if err != nil {
		return done, err
	}
	defer end()
	if done.Former, err = u.guard.UserOverride(ctx, t.Key()); err != nil {
		return done, err
	}
	if match != nil && !slices.Contains(match, policies.Tag(done.Former)) {
		return done, policies.ErrStale
	}
	own, detail, err := edit(done.Former)
	if err != nil {
		return done, err
	}
	if sameOverride(done.Former, own) {
		done.Now, done.Saved = done.Former, u.records.commit(ctx) // an earlier change may still be pending
		return done, nil
	}
	if err := inner.At(u.guard, u.records.now()).SetUserOverride(whole(ctx), t.Key(), own); err != nil {
		return done, u.records.notAmended(ctx, t, action, detail, err)
	}
	// If the store goes away now, the change is made, and the Guard knows it.
	done.Now, _ = u.guard.UserOverride(whole(ctx), t.Key())
	done.Saved, err = u.records.amended(ctx, t, action, detail)
	return done, err
}

func sameOverride(a, b chatguard.UserOverride) bool {
	return a.Exempt == b.Exempt && a.ExemptUntil.Equal(b.ExemptUntil) && a.Timezone == b.Timezone && maps.Equal(a.Limits, b.Limits)
}
