package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// usage is the answer to a moderator's unknown command.
const usage = "status | pause | resume | observe | enforce | raid on 30m | raid off | grant @user n | reset @user | pardon @user | exempt @user 10m | set burst 5 | set burst refill 4s"

// Command runs a chat command and returns the answer as a sentence. The chat has already checked
// that the author may use the command: "!quota" is for everyone, anything else is for moderators.
func (c *Controls) Command(ctx context.Context, m chatguard.Message) string {
	words := wordsOf(m.Text)
	if strings.EqualFold(words[0], "!quota") {
		return c.quota(m)
	}
	words = words[1:]
	if len(words) == 0 {
		return usage
	}
	said, saved, err := c.carryOut(ctx, m, strings.ToLower(words[0]), words[1:])
	var done doneError
	switch {
	case errors.As(err, &done):
		return fmt.Sprintf("%s But %s: %v.", said, done.lack, done.cause)
	case errors.Is(err, chatguard.ErrAway):
		return "Not done: the shared store doesn't answer. Try again when it is back."
	case errors.Is(err, chatguard.ErrUnconfirmed):
		return "Not confirmed: the shared store's reply was lost. Look before you repeat it."
	case err != nil:
		return "Not done: " + strings.ReplaceAll(journal.Sentence(err), "\n", "; ")
	case !saved:
		return said + " Not saved yet: the database is failing."
	}
	return said
}

// wordsOf returns the words of a command. It removes the invisible character that some clients
// append so that Twitch does not drop a repeated message.
func wordsOf(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(word string) bool { return !strings.ContainsFunc(word, unicode.IsGraphic) })
}

// errUsage is the error for an unknown command.
var errUsage = errors.New("I know " + usage)

// carryOut runs a moderator's command.
func (c *Controls) carryOut(ctx context.Context, m chatguard.Message, verb string, args []string) (said string, saved bool, err error) {
	by := authorOf(m)
	switch verb {
	case "status":
		return c.status(m.ChannelID), true, nil
	case "pause":
		saved, err = c.Pause(ctx, m.ChannelID, by)
		return "Paused: I only watch until !chatguard resume.", saved, err
	case "resume":
		saved, err = c.Resume(ctx, m.ChannelID, by)
		return "Resumed. " + c.status(m.ChannelID), saved, err
	case "observe":
		saved, err = c.SetMode(ctx, m.ChannelID, by, chatguard.Observe)
		return "I only watch from now on.", saved, err
	case "enforce":
		saved, err = c.SetMode(ctx, m.ChannelID, by, chatguard.Enforce)
		return "I enforce the limits from now on.", saved, err
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
func (c *Controls) status(channelID string) string {
	p, s := c.guard.InForce(channelID), c.Switches(channelID)
	said := "I enforce"
	switch {
	case s.PausedBy != "":
		said = "Paused by " + s.PausedBy + ": I only watch"
	case s.Held != "":
		said = "I can only watch: " + s.Held + ". I watch"
	case p.Mode == chatguard.Observe:
		said = "I only watch"
	}
	var limits []string
	for _, l := range p.Limits {
		limits = append(limits, describe(l))
	}
	said += " " + strings.Join(limits, ", ") + "."
	if !s.RaidUntil.IsZero() {
		said += fmt.Sprintf(" Raid mode lasts %s more.", chatguard.FormatWait(s.RaidUntil.Sub(c.now())))
	}
	return said
}

// describe describes what a limit allows.
func describe(l chatguard.Limit) string {
	switch l.Algorithm {
	case chatguard.TokenBucket:
		return fmt.Sprintf("%s (%d, one more every %s)", l.Name, l.Burst, l.Refill)
	case chatguard.Cascade:
		return fmt.Sprintf("%s (%d, one more every %s; then %d at low priority, one more every %s)", l.Name, l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill)
	case chatguard.LeakyBucket:
		return fmt.Sprintf("%s (one every %s)", l.Name, l.Every)
	case chatguard.DailyWindow:
		return fmt.Sprintf("%s (%d a day)", l.Name, l.Messages)
	}
	return fmt.Sprintf("%s (%d in %s)", l.Name, l.Messages, l.Every)
}

func (c *Controls) raidCommand(ctx context.Context, channelID, by string, args []string) (said string, saved bool, err error) {
	for i := range args {
		args[i] = strings.ToLower(args[i])
	}
	switch {
	case len(args) == 1 && args[0] == "off":
		saved, err = c.EndRaid(ctx, channelID, by)
		return "Raid mode is off.", saved, err
	case len(args) == 0 || len(args) > 2 || args[0] != "on":
		return "", false, errors.New("use raid on, raid on 10m, or raid off")
	}
	var length time.Duration
	if len(args) == 2 {
		if length, err = lengthOf(args[1]); err != nil {
			return "", false, err
		}
	}
	until, saved, err := c.StartRaid(ctx, channelID, by, length)
	return fmt.Sprintf("Raid mode is on for %s.", chatguard.FormatWait(until.Sub(c.now()))), saved, err
}

func (c *Controls) setCommand(ctx context.Context, channelID, by string, args []string) (said string, saved bool, err error) {
	key := ""
	switch len(args) {
	case 2:
	case 3:
		key = strings.ToLower(args[1])
	default:
		return "", false, errors.New("use set burst 5, or set burst refill 4s")
	}
	saved, err = c.SetLimit(ctx, channelID, by, args[0], key, args[len(args)-1])
	return "Set. " + c.status(channelID), saved, err
}

// userCommand is a command about one user. It makes the change and returns the answer for the chat.
type userCommand func(c *Controls, ctx context.Context, t journal.Target, name string, args []string) (said string, saved bool, err error)

var userCommands = map[string]userCommand{
	"grant": func(c *Controls, ctx context.Context, t journal.Target, name string, args []string) (string, bool, error) {
		if len(args) != 1 {
			return "", false, errors.New("use grant @user 10")
		}
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return "", false, fmt.Errorf("%q is not a number of messages", args[0])
		}
		until, saved, err := c.Grant(ctx, t, "", n)
		return fmt.Sprintf("%s has %d more messages for %s.", name, n, chatguard.FormatWait(until.Sub(c.now()))), saved, err
	},
	"reset": func(c *Controls, ctx context.Context, t journal.Target, name string, _ []string) (string, bool, error) {
		saved, err := c.Reset(ctx, t)
		return name + " has been reset.", saved, err
	},
	"pardon": func(c *Controls, ctx context.Context, t journal.Target, name string, _ []string) (string, bool, error) {
		done, saved, err := c.PardonUser(ctx, t)
		return pardonSaid(done, name), saved, err
	},
	"exempt": func(c *Controls, ctx context.Context, t journal.Target, name string, args []string) (string, bool, error) {
		if len(args) != 1 {
			return "", false, errors.New("use exempt @user 10m")
		}
		length, err := lengthOf(args[0])
		if err != nil {
			return "", false, err
		}
		done, err := c.Exempt(ctx, t, nil, length)
		if errors.Is(err, ErrExemption) {
			err = errLength(args[0])
		}
		return fmt.Sprintf("%s has no limits for %s.", name, chatguard.FormatWait(length)), done.Saved, err
	},
}

// pardonSaid returns the answer to a pardon, including what the pardon couldn't undo.
func pardonSaid(done journal.Pardon, name string) string {
	said := name + " is pardoned."
	if done.HasOlder {
		said = fmt.Sprintf("%s is pardoned for the last %d messages; there are older ones.", name, maxRun)
	}
	if done.Silence == journal.SilenceKept {
		said += " But the timeout or ban stays: " + done.Kept + "."
	}
	if n := done.StrikesLeft; n > 0 {
		said += fmt.Sprintf(" Of earlier messages %d %s: reset forgets them.", n, plural(n, "strike counts", "strikes count"))
	}
	return said
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// userCommand finds the user that a command is about, and runs it.
func (c *Controls) userCommand(ctx context.Context, m chatguard.Message, args []string, do userCommand) (said string, saved bool, err error) {
	login := strings.ToLower(strings.TrimPrefix(args[0], "@"))
	id, err := c.chat.UserID(ctx, m.ChannelID, login)
	if errors.Is(err, ErrNoUser) {
		return "", false, fmt.Errorf("there is no user %s", args[0])
	}
	if err != nil {
		return "", false, err
	}
	return do(c, ctx, journal.Target{ChannelID: m.ChannelID, UserID: id, Author: authorOf(m)}, "@"+login, args[1:])
}

// lengthOf parses a duration of at least a second: "10m", "2d".
func lengthOf(text string) (time.Duration, error) {
	d, err := chatguard.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, errLength(text)
	}
	return d, nil
}

func errLength(text string) error { return fmt.Errorf(`%q is not a duration such as "10m"`, text) }
