package twitchbot

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
)

// TestPermissions_HoldRetried checks that a failed hold is retried.
func TestPermissions_HoldRetried(t *testing.T) {
	t.Parallel()
	var told []string
	trouble := errors.New("trouble")
	p := newPermissions(slog.New(slog.DiscardHandler), func(channelID, reason string) error {
		told = append(told, channelID+": "+reason)
		return trouble
	})
	p.add("gardenhour", "100")
	trouble = nil
	p.applyAll()
	p.applyAll()
	if want := "100: chatguard only reads"; !slices.Equal(told, []string{want, want}) {
		t.Errorf("%q", told)
	}
}

// TestPermissions_AnotherAccount checks that rights are looked up again for another account, and
// that a token whose owner is unknown for a while changes nothing.
func TestPermissions_AnotherAccount(t *testing.T) {
	t.Parallel()
	p := newPermissions(slog.New(slog.DiscardHandler), nil)
	others := 0
	p.accountChanged = func() { others++ }
	p.setAccount("1")
	p.add("gardenhour", "100")
	p.set("100", true)
	for _, account := range []string{"1", "", "1"} {
		p.setAccount(account)
	}
	if !p.moderates("100") || others != 0 {
		t.Errorf("of the same account it isn't known any more; told %d times", others)
	}
	p.setAccount("2")
	if p.moderates("100") || !p.isIncomplete() || others != 1 {
		t.Errorf("another account has the rights of the first; told %d times", others)
	}
}
