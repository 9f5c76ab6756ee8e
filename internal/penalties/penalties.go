// Package penalties has the penalties that the bot carries out in Twitch's chat, and Twitch's
// bounds for them. The library knows neither: a chat server has other actions and bounds.
package penalties

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
)

// Warn is the action of removing a message, whose author must then acknowledge a warning.
const Warn chatguard.Action = "warn"

// The bounds of a timeout's duration on Twitch.
const (
	MinTimeout = time.Second
	MaxTimeout = 14 * 24 * time.Hour
)

// Actions are the actions that the bot carries out, from the mildest to the hardest.
var Actions = []chatguard.Action{chatguard.ActionDelete, Warn, chatguard.ActionTimeout, chatguard.ActionBan}

// Rank returns how hard an action is: 1 for the mildest of Actions, and 0 for every other action.
func Rank(a chatguard.Action) int { return slices.Index(Actions, a) + 1 }

// Silences reports whether an action keeps its user from writing.
func Silences(a chatguard.Action) bool {
	return a == chatguard.ActionTimeout || a == chatguard.ActionBan
}

// Check returns why the bot can't use a ladder, as the end of a sentence that begins with its key,
// and the index of the wrong penalty; -1 if the ladder is empty. It returns nil if the bot can
// carry out all its penalties.
func Check(ladder []chatguard.Penalty) (rung int, err error) {
	if len(ladder) == 0 {
		return -1, errors.New(`is empty: name at least one penalty, such as "delete"`)
	}
	for i, rung := range ladder {
		if rung.Action == chatguard.ActionDrop {
			return i, errors.New(`has "drop", which only a chat server can: use "delete"`)
		}
		if err := CheckRung(rung); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// CheckRung does the same as Check for a penalty on a ladder, except that it accepts "drop".
func CheckRung(p chatguard.Penalty) error {
	switch {
	case p.Duration > MaxTimeout:
		return fmt.Errorf("has %q: want whole seconds from 1s to 14d, or refill", p.String())
	case p.Action == "", p.Action == chatguard.ActionDrop, Rank(p.Action) > 0:
		return nil
	}
	return fmt.Errorf("has an unknown penalty %q (known: delete, warn, timeout 30s, timeout refill, ban, drop)", p.Action)
}
