package chatguard

import (
	"errors"
	"strings"
	"testing"
)

// TestKey_Invalid checks that no method takes an empty ID for something else.
func TestKey_Invalid(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	long := strings.Repeat("x", maxID+1)
	for k, want := range map[Key]error{
		{}:                             ErrNoChannel,
		{ChannelID: "1"}:               ErrNoUser,
		{UserID: "7"}:                  ErrNoChannel,
		{ChannelID: long, UserID: "7"}: ErrLongID,
		{ChannelID: "1", UserID: long}: ErrLongID,
		{Per: PerChannel}:              ErrNoChannel,
		{Per: PerUserEverywhere}:       ErrNoUser,
		{Per: PerChannel, UserID: "7"}: ErrKey,
		{Per: PerUserEverywhere, ChannelID: "1", UserID: "7"}: ErrKey,
		{Per: 9, ChannelID: "1", UserID: "7"}:                 ErrKey,
		{Per: PerChannel, ChannelID: "1"}:                     ErrNoLimit,
		{Per: PerUserEverywhere, UserID: "7"}:                 ErrNoLimit,
	} {
		if _, err := g.Grant(k, "", 1); !errors.Is(err, want) {
			t.Errorf("Grant to %s: %v, want %v", k, err, want)
		}
		if err := g.Reset(k); !errors.Is(err, want) {
			t.Errorf("Reset of %s: %v, want %v", k, err, want)
		}
		if k.Per == PerChannel {
			want = ErrKey // a channel has no override
		}
		if err := g.SetUserOverride(k, UserOverride{}); !errors.Is(err, want) {
			t.Errorf("SetUserOverride of %s: %v, want %v", k, err, want)
		}
		if _, err := g.UserOverride(k); !errors.Is(err, want) {
			t.Errorf("UserOverride of %s: %v, want %v", k, err, want)
		}
	}
	if err := g.SetChannelPolicy("", DefaultPolicy()); !errors.Is(err, ErrNoChannel) {
		t.Errorf("SetChannelPolicy without a channel: %v", err)
	}
}
