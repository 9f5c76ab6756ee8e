package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// follower records its notifications as text. If amended is set, Amended calls it instead.
type follower struct {
	told    []string
	amended func(channelID, userID string)
}

func (f *follower) Revised(r journal.Revision) {
	f.told = append(f.told, fmt.Sprintf("revised %s %d by %s", r.ChannelID, r.Number, r.Author))
}
func (f *follower) Reloaded()                { f.told = append(f.told, "reloaded") }
func (f *follower) Saved(channelID string)   { f.told = append(f.told, "saved "+channelID) }
func (f *follower) Changed(channelID string) { f.told = append(f.told, "changed "+channelID) }

func (f *follower) Silenced(channelID, userID, _ string) {
	f.told = append(f.told, "silenced "+channelID+" "+userID)
}

func (f *follower) Amended(channelID, userID string) {
	if f.amended != nil {
		f.amended(channelID, userID)
		return
	}
	f.told = append(f.told, "amended "+channelID+" "+userID)
}

// wantTold fails the test unless these are the notifications that followers got.
func (d *harness) wantTold(want ...string) {
	d.Helper()
	if !slices.Equal(d.follower.told, want) {
		d.Errorf("told %q, want %q", d.follower.told, want)
	}
}

// TestOverlay_LiesOverARevisedPolicy checks that the overlay applies on top of a revised policy and
// isn't stored with it.
func TestOverlay_LiesOverARevisedPolicy(t *testing.T) {
	d := newHarness(t, Raid{})
	if saved, err := d.Switches.Pause(t.Context(), channel, "anna"); !saved || err != nil {
		t.Fatalf("saved %v, %v", saved, err)
	}
	done, err := d.policies.Revise(t.Context(), policies.Request{ChannelID: channel, Author: "berta"}, func(p chatguard.Policy) (chatguard.Policy, error) {
		p.Limits[0].Burst = 5
		return p, nil
	})
	if err != nil || fmt.Sprint(done.Changes) != "[{limit.burst.burst 1 5}]" {
		t.Errorf("revised as %+v, %v", done, err)
	}
	if stated, inForce := d.guard.ChannelPolicy(channel), inner.Of(d.guard).InForce(channel); stated.Mode != chatguard.ModeEnforce || inForce.Mode != chatguard.ModeObserve || inForce.Limits[0].Burst != 5 {
		t.Errorf("stated %+v, in force %+v", stated, inForce)
	}
	must(t, d.Switches.Hold(channel, "")) // changes nothing
	d.wantTold("changed 1", "revised 1 1 by berta")
	if saved, err := d.Commands.setMode(context.Background(), channel, "anna", chatguard.ModeObserve); !saved || err != nil {
		t.Errorf("saved %v, %v", saved, err)
	}
	if _, err := d.Switches.Resume(t.Context(), channel, "anna"); err != nil || inner.Of(d.guard).InForce(channel).Mode != chatguard.ModeObserve {
		t.Errorf("%v; in force %+v", err, inner.Of(d.guard).InForce(channel))
	}
}

// TestPause_Log checks that the log names only the switches that are on.
func TestPause_Log(t *testing.T) {
	d := newHarness(t, Raid{})
	for _, c := range []struct {
		turn func(context.Context, string, string) (bool, error)
		want string
	}{
		{d.Switches.Pause, `msg="channel switches" channel=` + channel + " paused_by=anna author=anna\n"},
		{d.Switches.Resume, `msg="channel switches" channel=` + channel + " author=anna\n"},
	} {
		d.log.Reset()
		if _, err := c.turn(t.Context(), channel, "anna"); err != nil || !strings.HasSuffix(d.log.String(), c.want) {
			t.Errorf("%v, %q, want %q", err, d.log.String(), c.want)
		}
	}
}

// TestPause_DuringPolicyChange checks that a switch and its followers don't wait for a policy
// change in progress.
func TestPause_DuringPolicyChange(t *testing.T) {
	d := newHarness(t, Raid{})
	_, err := d.policies.Revise(t.Context(), policies.Request{ChannelID: channel, Author: "berta"}, func(p chatguard.Policy) (chatguard.Policy, error) {
		p.Limits[0].Burst = 5
		_, err := d.Switches.Pause(t.Context(), channel, "anna")
		return p, err
	})
	must(t, err)
	d.wantTold("changed 1", "revised 1 1 by berta")
}
