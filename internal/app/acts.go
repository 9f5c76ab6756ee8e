package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// acts are what people do on Twitch: timeouts, bans, lifting these, and switching chat modes.
type acts struct {
	twitch    *twitchbot.Connection
	bot       *chat.Bot
	directory *directory
	log       *slog.Logger
}

// given returns what people can do on Twitch. In rooms of other chats, they can do nothing.
func (a *acts) given() control.Acts {
	if !a.twitch.Acts() {
		return control.Acts{}
	}
	return control.Acts{
		Serves: func(channelID string) bool {
			_, isRoom := roomName(channelID)
			return !isRoom
		},
		Silence: a.twitch.Silence,
		Recall:  a.twitch.Recall,
		TimeOut: func(ctx context.Context, t journal.Target, length time.Duration, reason string) error {
			return a.explainRefusal(t.ChannelID, a.twitch.TimeOut(ctx, t, length, reason))
		},
		Ban: func(ctx context.Context, t journal.Target, reason string) error {
			return a.explainRefusal(t.ChannelID, a.twitch.Ban(ctx, t, reason))
		},
		Lift: func(ctx context.Context, t journal.Target) error {
			return a.explainRefusal(t.ChannelID, a.twitch.Unban(ctx, t))
		},
		SetModes: a.setModes,
	}
}

// setModes switches modes of a channel's chat.
func (a *acts) setModes(ctx context.Context, channelID string, change journal.ChatModesChange) error {
	set := func() error { return a.twitch.Modes().Set(ctx, channelID, change) }
	var err error
	if change.SlowMode != nil {
		err = a.bot.ChangeSlowMode(ctx, channelID, set)
	} else {
		err = set()
	}
	if errors.Is(err, twitch.ErrScope) {
		return errors.New("the bot's token may not change chat settings: run `chatguard login` again")
	}
	return a.explainRefusal(channelID, err)
}

// lift returns the function that lifts timeouts and bans, or nil if chatguard only reads. Rooms of
// other chats have nothing to lift.
func (a *acts) lift() func(ctx context.Context, channelID, userID string) error {
	lift := a.twitch.Lift()
	if lift == nil {
		return nil
	}
	return func(ctx context.Context, channelID, userID string) error {
		if _, isRoom := roomName(channelID); isRoom {
			return control.ErrNotSilenced
		}
		err := lift(ctx, channelID, userID)
		if errors.Is(err, chat.ErrNotSilenced) {
			return control.ErrNotSilenced
		}
		return err
	}
}

// explainRefusal converts an error of Twitch to an error for the moderator who wants to act.
func (a *acts) explainRefusal(channelID string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, helix.ErrBanned):
		return control.ErrBanned
	case errors.Is(err, chat.ErrNotSilenced):
		return control.ErrNotSilenced
	case errors.Is(err, helix.ErrProtected):
		return errors.New("Twitch lets nobody time out or ban moderators and the broadcaster")
	case errors.Is(err, twitch.ErrNotModerator):
		return errors.New("the bot isn't a moderator here: " + a.twitch.ModCommand(a.directory.name(channelID)))
	case errors.Is(err, twitch.ErrScope):
		return errors.New("the bot's token may not time out or ban: run `chatguard login` again")
	case errors.Is(err, twitch.ErrToken):
		return errors.New(cmp.Or(a.twitch.Tokens().Status().Detail, "the bot has no token: run `chatguard login`"))
	}
	a.log.Warn("a moderator's change on Twitch failed", "channel", channelID, "error", err)
	if errors.Is(err, chat.ErrUnanswered) {
		return control.ErrUnanswered
	}
	if held, ok := errors.AsType[*chat.HeldError](err); ok {
		return held
	}
	for _, kind := range []error{twitch.ErrRejected, twitch.ErrUnsafe, twitch.ErrBusy, twitch.ErrLimited, twitch.ErrConflict, chat.ErrSlowModeBusy} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return control.ErrUnanswered
}
