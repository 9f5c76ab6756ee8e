package control

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// awayStore is a shared store that never makes a change.
type awayStore struct{ err error }

func (awayStore) Timeout() time.Duration                                { return time.Second }
func (awayStore) Number() (int, bool)                                   { return 0, true }
func (awayStore) Clock() (time.Time, time.Duration)                     { return time.Now(), 0 }
func (a awayStore) Overrides(context.Context, string) ([]string, error) { return nil, a.err }

func (a awayStore) Swap(_ context.Context, swaps []*shared.Swap) {
	for _, s := range swaps {
		s.Err = fmt.Errorf("redisstore: dial tcp 10.0.0.9:6379: %w", a.err)
	}
}

// The chat sees neither addresses nor names of packages. Nothing is recorded in the audit.
func TestCommand_SharedStoreAway(t *testing.T) {
	for want, cause := range map[string]error{
		"Not done: the shared store doesn't answer. Try again when it is back.":       shared.ErrAway,
		"Not done: the shared store refuses changes. Try again when it accepts them.": shared.ErrRefused,
	} {
		d := newHarness(t, Raid{})
		var err error
		if d.guard, err = chatguard.New(d.guard.Policy(), &chatguard.Options{Shared: awayStore{cause}}); err != nil {
			t.Fatal(err)
		}
		d.start(Raid{})
		for _, command := range []string{"grant anna 5", "reset anna", "exempt anna 10m"} {
			d.command("!chatguard "+command, want)
		}
		d.wantAudits()
	}
}
