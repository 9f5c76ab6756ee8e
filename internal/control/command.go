package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/shared"
)

// usage is the answer to a moderator's unknown command.
const usage = "status | pause | resume | observe | enforce | raid on 30m | raid off | grant @user n | reset @user | pardon @user | exempt @user 10m | set burst 5 | set burst refill 4s"

// Commands runs the commands of chat.
type Commands struct {
	guard    *chatguard.Guard
	policies *policies.Policies
	records  *records
	controls *Controls
	// user is the Chat's.
	user func(ctx context.Context, channelID, name string) (id, login string, err error)
}

// Answer runs a chat command and returns the answer as a sentence. The chat has already checked
// that the author may use the command: "!quota" is for everyone, anything else is for moderators.
func (c *Commands) Answer(ctx context.Context, m chatguard.Message) string {
	words := hostile.TypedWords(m.Text)
	if strings.EqualFold(words[0], "!quota") {
		return c.quota(ctx, m)
	}
	words = words[1:]
	if len(words) == 0 || strings.EqualFold(words[0], "help") {
		return usage
	}
	said, saved, err := c.carryOut(ctx, m, strings.ToLower(words[0]), words[1:])
	texts := c.texts(m.ChannelID)
	var done doneError
	switch {
	case errors.As(err, &done):
		return texts.Text("half-done", language.Values{"said": said, "lack": done.lack, "cause": done.cause})
	case errors.Is(err, shared.ErrAway):
		return texts.Text("away", nil)
	case errors.Is(err, shared.ErrRefused):
		return texts.Text("store-refuses", nil)
	case errors.Is(err, shared.ErrUnconfirmed):
		return texts.Text("unconfirmed", nil)
	case err != nil:
		return texts.Text("refused", language.Values{"why": strings.ReplaceAll(journal.Sentence(err), "\n", "; ")})
	case !saved:
		return texts.Text("unsaved", language.Values{"said": said})
	}
	return said
}

// texts returns the texts in the language of a channel's chat.
func (c *Commands) texts(channelID string) *language.Texts {
	settings, _ := c.controls.Settings.Of(channelID)
	return language.Chat(settings.Notices.Language)
}

// errUsage is the error for an unknown command.
var errUsage = errors.New("the commands are " + usage)

// carryOut runs a moderator's command.
func (c *Commands) carryOut(ctx context.Context, m chatguard.Message, verb string, args []string) (said string, saved bool, err error) {
	by, texts := authorOf(m), c.texts(m.ChannelID)
	switch verb {
	case "status":
		return c.status(m.ChannelID), true, nil
	case "pause":
		saved, err = c.controls.Switches.Pause(ctx, m.ChannelID, by)
		return texts.Text("paused", nil), saved, err
	case "resume":
		saved, err = c.controls.Switches.Resume(ctx, m.ChannelID, by)
		return texts.Text("resumed", language.Values{"status": c.status(m.ChannelID)}), saved, err
	case "observe":
		saved, err = c.setMode(ctx, m.ChannelID, by, chatguard.ModeObserve)
		return texts.Text("observing", nil), saved, err
	case "enforce":
		saved, err = c.setMode(ctx, m.ChannelID, by, chatguard.ModeEnforce)
		return texts.Text("enforcing", nil), saved, err
	case "raid":
		return c.raidCommand(ctx, m.ChannelID, by, args)
	case "set":
		return c.setCommand(ctx, m.ChannelID, by, args)
	}
	if change, ok := userCommands[verb]; ok && len(args) > 0 {
		return c.userCommand(ctx, m, args, change)
	}
	return "", false, errUsage
}

// authorOf returns the name of a command's author for the audit. Logins come from Twitch, so the
// name has a prefix. The prefix distinguishes a moderator called "owner" there from the owner of
// this chatguard, and from tokens.
func authorOf(m chatguard.Message) string {
	return journal.TwitchAuthor + cmp.Or(m.User.Login, m.User.ID)
}

// status describes a channel's state in a sentence.
func (c *Commands) status(channelID string) string {
	p, s, texts := inner.Of(c.guard).InForce(channelID), c.controls.Switches.Of(channelID), c.texts(channelID)
	var limits []string
	for _, l := range p.Limits {
		limits = append(limits, describe(texts, l))
	}
	name, values := "status-enforce", language.Values{"limits": strings.Join(limits, texts.Text("limits-separator", nil))}
	switch {
	case s.PausedBy != "":
		name, values["who"] = "status-paused", s.PausedBy
	case s.Held != "":
		name, values["why"] = "status-held", s.Held
	case p.Mode == chatguard.ModeObserve:
		name = "status-observe"
	}
	said := texts.Text(name, values)
	if !s.RaidUntil.IsZero() {
		said = texts.Text("status-raid", language.Values{"said": said, "wait": texts.Wait(s.RaidUntil.Sub(c.records.now()))})
	}
	return said
}

// describe describes what a limit allows.
func describe(texts *language.Texts, l chatguard.Limit) string {
	if inner.IsText(l.Per) {
		l.Name = texts.Text("limit-same", language.Values{"limit": l.Name})
	}
	switch l.Algorithm {
	case chatguard.TokenBucket:
		return texts.Text("limit-token-bucket", language.Values{"limit": l.Name, "burst": l.Burst, "refill": durations.Format(l.Refill)})
	case chatguard.Cascade:
		return texts.Text("limit-cascade", language.Values{
			"limit": l.Name, "burst": l.Burst, "refill": durations.Format(l.Refill), "extra": l.ExtraBurst, "extraRefill": durations.Format(l.ExtraRefill),
		})
	case chatguard.LeakyBucket:
		return texts.Text("limit-leaky-bucket", language.Values{"limit": l.Name, "every": durations.Format(l.Every)})
	case chatguard.DailyWindow:
		text := map[chatguard.Period]string{chatguard.PeriodWeek: "limit-weekly-window", chatguard.PeriodMonth: "limit-monthly-window"}[l.Period]
		return texts.Text(cmp.Or(text, "limit-daily-window"), language.Values{"limit": l.Name, "messages": l.Messages})
	}
	return texts.Text("limit-window", language.Values{"limit": l.Name, "messages": l.Messages, "every": durations.Format(l.Every)})
}

func (c *Commands) raidCommand(ctx context.Context, channelID, by string, args []string) (said string, saved bool, err error) {
	for i := range args {
		args[i] = strings.ToLower(args[i])
	}
	switch {
	case len(args) == 1 && args[0] == "off":
		saved, err = c.controls.Raids.End(ctx, channelID, by)
		return c.texts(channelID).Text("raid-off", nil), saved, err
	case len(args) == 0 || len(args) > 2 || args[0] != "on":
		return "", false, errors.New("use raid on, raid on 10m, or raid off")
	}
	var length time.Duration
	if len(args) == 2 {
		if length, err = lengthOf(args[1]); err != nil {
			return "", false, err
		}
	}
	until, saved, err := c.controls.Raids.Start(ctx, channelID, by, length)
	texts := c.texts(channelID)
	return texts.Text("raid-on", language.Values{"wait": texts.Wait(until.Sub(c.records.now()))}), saved, err
}

func (c *Commands) setCommand(ctx context.Context, channelID, by string, args []string) (said string, saved bool, err error) {
	key := ""
	switch len(args) {
	case 2:
	case 3:
		key = strings.ToLower(args[1])
	default:
		return "", false, errors.New("use set burst 5, or set burst refill 4s")
	}
	saved, err = c.setLimit(ctx, channelID, by, args[0], key, args[len(args)-1])
	return c.texts(channelID).Text("set", language.Values{"status": c.status(channelID)}), saved, err
}

// userCommand is a command about one user. It makes the change and returns the answer for the chat.
type userCommand func(c *Commands, ctx context.Context, t journal.Target, name string, args []string) (said string, saved bool, err error)

var userCommands = map[string]userCommand{
	"grant": func(c *Commands, ctx context.Context, t journal.Target, name string, args []string) (string, bool, error) {
		if len(args) != 1 {
			return "", false, errors.New("use grant @user 10")
		}
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return "", false, fmt.Errorf("%q is not a number of messages", args[0])
		}
		until, saved, err := c.controls.Users.Grant(ctx, t, "", n)
		texts := c.texts(t.ChannelID)
		return texts.Text("granted", language.Values{"user": name, "n": n, "wait": texts.Wait(until.Sub(c.records.now()))}), saved, err
	},
	"reset": func(c *Commands, ctx context.Context, t journal.Target, name string, _ []string) (string, bool, error) {
		saved, err := c.controls.Users.Reset(ctx, t)
		return c.texts(t.ChannelID).Text("reset", language.Values{"user": name}), saved, err
	},
	"pardon": func(c *Commands, ctx context.Context, t journal.Target, name string, _ []string) (string, bool, error) {
		done, saved, err := c.controls.Pardons.PardonUser(ctx, t)
		return pardonSaid(c.texts(t.ChannelID), done, name), saved, err
	},
	"exempt": func(c *Commands, ctx context.Context, t journal.Target, name string, args []string) (string, bool, error) {
		if len(args) != 1 {
			return "", false, errors.New("use exempt @user 10m")
		}
		length, err := lengthOf(args[0])
		if err != nil {
			return "", false, err
		}
		done, err := c.controls.Users.Exempt(ctx, t, nil, length)
		if errors.Is(err, ErrExemption) {
			err = errLength(args[0])
		}
		texts := c.texts(t.ChannelID)
		return texts.Text("exempt", language.Values{"user": name, "wait": texts.Wait(length)}), done.Saved, err
	},
}

// pardonSaid returns the answer to a pardon, including what the pardon couldn't undo.
func pardonSaid(texts *language.Texts, done journal.Pardon, name string) string {
	said := texts.Text("pardoned", language.Values{"user": name})
	if done.HasOlder {
		said = texts.Text("pardoned-last", language.Values{"user": name, "n": maxRun})
	}
	if done.Silence == journal.SilenceKept {
		said = texts.Text("pardoned-kept", language.Values{"said": said, "why": done.Kept})
	}
	if done.StrikesLeft > 0 {
		said = texts.Text("pardoned-strikes", language.Values{"said": said, "n": done.StrikesLeft})
	}
	return said
}

// userCommand finds the user that a command is about, and runs it.
func (c *Commands) userCommand(ctx context.Context, m chatguard.Message, args []string, do userCommand) (said string, saved bool, err error) {
	name := mentioned(args[0])
	id, login, err := c.user(ctx, m.ChannelID, name)
	switch {
	case errors.Is(err, ErrNoUser):
		return "", false, fmt.Errorf("there is no user %s", args[0])
	case errors.Is(err, ErrNoName), errors.Is(err, ErrNamesakes):
		return "", false, fmt.Errorf("%w, %s: write the login, as in the address of the user's channel", err, args[0])
	case err != nil:
		return "", false, err
	}
	shown := "@" + login
	if !strings.EqualFold(login, name) {
		shown = fmt.Sprintf("@%s (%s)", name, login)
	}
	return do(c, ctx, journal.Target{ChannelID: m.ChannelID, UserID: id, Author: authorOf(m)}, shown, args[1:])
}

// mentioned returns the name in a word of a command. Phones and chat clients write a comma or a
// colon behind a name that they complete.
func mentioned(word string) string {
	return strings.TrimRight(hostile.TypedName(word), ",:\uff0c\uff1a\u3001")
}

// lengthOf parses a duration of at least a second: "10m", "2d".
func lengthOf(text string) (time.Duration, error) {
	d, err := durations.Parse(text)
	if err != nil || d < time.Second {
		return 0, errLength(text)
	}
	return d, nil
}

func errLength(text string) error { return fmt.Errorf(`%q is not a duration such as "10m"`, text) }
