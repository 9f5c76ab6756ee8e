package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/policies"
)

// Acts are what a chat does for people: it gives and lifts timeouts and bans, and switches its
// modes. The zero value does nothing. TimeOut, Ban, Lift and SetModes return when the chat has
// confirmed the act. Besides the errors named below, they may return ErrUnanswered, or an error
// that says in plain words why the chat refused.
type Acts struct {
	// Serves reports whether people can act in a channel. Nil means nowhere. The other funcs are
	// only called for channels that are served.
	Serves func(channelID string) bool
	// Silence returns a user's last timeout or ban as the chat knows it. If somebody has ended it,
	// it is a timeout that ended then. ok is false if the chat knows of none.
	Silence func(channelID, userID string) (s journal.Silence, ok bool)
	// Recall tells the chat a timeout or ban from before the start, unless the chat knows what has
	// become of it. Nil means that the chat needs no telling.
	Recall func(t journal.Target, s journal.Silence)
	// TimeOut times a user out in the name of the target's author, who may be ProgramAuthor or
	// unknown if the timeout is a restored one. It replaces another timeout. It returns ErrBanned if
	// the user is banned.
	TimeOut func(ctx context.Context, t journal.Target, length time.Duration, reason string) error
	// Ban bans a user, or returns ErrBanned if the user is already banned.
	Ban func(ctx context.Context, t journal.Target, reason string) error
	// Lift ends a timeout or ban, including one that somebody else gave. It returns ErrNotSilenced
	// if there is none.
	Lift func(ctx context.Context, t journal.Target) error
	// SetModes switches modes of a channel's chat. Nil means that the chat has none.
	SetModes func(ctx context.Context, channelID string, change journal.ChatModesChange) error
}

// Errors of acts, for errors.Is.
var (
	ErrNoActs      = errors.New("users of this channel can't be timed out or banned here: chatguard does not moderate its chat")
	ErrBanned      = errors.New("the user is banned, so a timeout changes nothing: unban them first")
	ErrNotSilenced = errors.New("the user is neither timed out nor banned")
	ErrUnanswered  = errors.New("the chat did not confirm in time: look there before you try again")
)

// SilencedError is the error of an act that does not fit the user's present timeout or ban. Its
// text says whose it is and what to do instead.
type SilencedError struct {
	journal.Silence
	text string
}

func (e SilencedError) Error() string { return e.text }

// Silences are users' timeouts and bans: those that people give and lift, and those that chatguard
// gives. They are safe for concurrent use.
type Silences struct {
	records *records
	acts    Acts  // the Chat's
	acting  turns // taken during an act, so that the next person's act knows what this one did
}

// silenced returns a SilencedError with advice.
func (c *Silences) silenced(s journal.Silence, advice string) error {
	text := "the user is banned"
	if !s.Banned {
		text = "the user is timed out for another " + chatguard.FormatWait(s.Until.Sub(c.records.now()))
	}
	if s.By != "" {
		text += ", by " + strings.TrimPrefix(s.By, journal.TwitchAuthor)
	}
	return SilencedError{s, text + ": " + advice}
}

// Acted is the result of an act.
type Acted struct {
	Silence *journal.Silence // the user's present timeout or ban; nil if there is none
	Former  *journal.Silence // the timeout or ban before; nil if none was known
	Already bool             // the user was in this state before, so nothing has changed
	Saved   bool             // false: done, but not written yet
}

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

// CanAct reports whether people can time users out and ban them in a channel.
func (c *Silences) CanAct(channelID string) bool {
	return c.acts.Serves != nil && c.acts.Serves(channelID)
}

// TimeOut times a user out, whatever the policy and the switches say. The length is from 1 s to 14
// days, and is rounded up to whole seconds. If a ban or a timeout that lasts longer is known, the
// error is a SilencedError, unless replace is true.
func (c *Silences) TimeOut(ctx context.Context, t journal.Target, length time.Duration, reason string, replace bool) (done Acted, err error) {
	if length < penalties.MinTimeout || length > penalties.MaxTimeout {
		return done, fmt.Errorf("a timeout lasts from 1 s to 14 days, not %s", length)
	}
	length = (length + time.Second - 1).Truncate(time.Second)
	end, err := c.begin(ctx, t, reason)
	if err != nil {
		return done, err
	}
	defer end()
	done.Former, _ = c.Of(ctx, t)
	if done.Former != nil && !replace && done.Former.Outlasts(c.records.now().Add(length)) {
		return done, c.silenced(*done.Former, "a timeout of "+chatguard.FormatWait(length)+" would be shorter")
	}
	return c.timeOut(ctx, t, length, journal.TimeoutDetail{Reason: reason, Former: done.Former})
}

// timeOut gives a timeout, and records it with the detail.
func (c *Silences) timeOut(ctx context.Context, t journal.Target, length time.Duration, detail journal.TimeoutDetail) (done Acted, err error) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	done.Former = detail.Former
	giver := t
	if detail.Restored {
		giver.Author = detail.By
	}
	err = c.acts.TimeOut(ctx, giver, length, detail.Reason)
	now := c.records.now().UTC()
	detail.Length, detail.Until = length.String(), now.Add(length)
	if err != nil {
		return done, c.records.notAmended(ctx, t, journal.UserTimedOut, detail, err)
	}
	done.Silence = &journal.Silence{Until: detail.Until, At: now, By: giver.Author}
	done.Saved, err = c.records.amended(ctx, t, journal.UserTimedOut, detail)
	return done, err
}

// Ban bans a user permanently, whatever the policy and the switches say. Banning a banned user
// succeeds and changes nothing.
func (c *Silences) Ban(ctx context.Context, t journal.Target, reason string) (done Acted, err error) {
	end, err := c.begin(ctx, t, reason)
	if err != nil {
		return done, err
	}
	defer end()
	done.Former, _ = c.Of(ctx, t)
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	done.Silence = &journal.Silence{Banned: true, At: c.records.now().UTC(), By: t.Author}
	detail := journal.BanDetail{Reason: reason, Former: done.Former}
	switch err = c.acts.Ban(ctx, t, reason); {
	case errors.Is(err, ErrBanned):
		if done.Already, done.Silence.By = true, ""; done.Former != nil && done.Former.Banned {
			done.Silence = done.Former
		}
		done.Saved = c.records.commit(ctx)
		return done, nil
	case err != nil:
		return Acted{}, c.records.notAmended(ctx, t, journal.UserBanned, detail, err)
	}
	done.Saved, err = c.records.amended(ctx, t, journal.UserBanned, detail)
	return done, err
}

// LiftTimeout ends a user's timeout, including one that somebody else gave. The result says who
// gave it. If a ban is known, the error is a SilencedError. If there is nothing to lift, it
// succeeds and changes nothing.
func (c *Silences) LiftTimeout(ctx context.Context, t journal.Target) (Acted, error) {
	return c.lift(ctx, t, false, "unban them instead")
}

// LiftBan ends a user's ban, as LiftTimeout ends a timeout.
func (c *Silences) LiftBan(ctx context.Context, t journal.Target) (Acted, error) {
	return c.lift(ctx, t, true, "end the timeout instead")
}

// lift ends a ban or a timeout. If the other one is known, it returns an error with the advice.
func (c *Silences) lift(ctx context.Context, t journal.Target, ban bool, advice string) (done Acted, err error) {
	end, err := c.begin(ctx, t, "")
	if err != nil {
		return done, err
	}
	defer end()
	if done.Former, _ = c.Of(ctx, t); done.Former != nil && done.Former.Banned != ban {
		return done, c.silenced(*done.Former, advice)
	}
	return c.end(ctx, t, ban, done.Former)
}

// end ends the timeout or ban in force. former is the one that is known.
func (c *Silences) end(ctx context.Context, t journal.Target, ban bool, former *journal.Silence) (done Acted, err error) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	done.Former = former
	err = c.acts.Lift(ctx, t)
	detail := journal.LiftDetail{Banned: ban, Former: done.Former}
	if done.Already = errors.Is(err, ErrNotSilenced); err != nil && !done.Already {
		return done, c.records.notAmended(ctx, t, journal.UserLifted, detail, err)
	}
	if done.Already && done.Former == nil {
		done.Saved = c.records.commit(ctx)
		return done, nil
	}
	done.Saved, err = c.records.amended(ctx, t, journal.UserLifted, detail)
	return done, err
}

// begin checks that a person can act on a user, and waits until nobody else does. The caller must
// call end after the act.
func (c *Silences) begin(ctx context.Context, t journal.Target, reason string) (end func(), err error) {
	if !c.CanAct(t.ChannelID) {
		return nil, ErrNoActs
	}
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	return c.acting.take(ctx, t.Key())
}

// checkReason returns an error for a text that can't be the reason of an act.
func checkReason(reason string) error {
	if !utf8.ValidString(reason) || utf8.RuneCountInString(reason) > maxReason || strings.ContainsFunc(reason, unicode.IsControl) {
		return fmt.Errorf("a reason is one line of at most %d characters", maxReason)
	}
	return nil
}
