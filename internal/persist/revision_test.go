package persist

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

func revision(channelID string, number, burst int) journal.Revision {
	p := policy()
	p.Limits[0].Burst = burst
	p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 9, Refill: 2 * time.Second}}
	return journal.Revision{
		ChannelID: channelID, Number: number, Author: strings.Repeat("Ada", 2000), At: start.Add(time.Duration(number)), Policy: p,
		Changes: []journal.Change{{Key: "limit.burst.burst", From: 3.0, To: float64(burst)}, {Key: "limit.burst.roles", To: "subscriber"}},
	}
}

func TestRevisionsComeBackAsSaved(t *testing.T) {
	path := databasePath(t)
	s := open(t, path, nil)
	first, second, other := revision("c1", 1, 5), revision("c1", 2, 7), revision("c2", 1, 4)
	for _, r := range []journal.Revision{first, other, second} {
		must(t, s.SaveRevision(ctx, r))
	}
	must(t, s.Close())

	s = open(t, path, nil)
	wantRevisions(t, second, first)(s.Revisions(ctx, "c1"))
	wantRevisions(t, second, other)(s.CurrentRevisions(ctx))
	wantRevisions(t)(s.Revisions(ctx, "c3"))
}

func wantRevisions(t *testing.T, want ...journal.Revision) func([]journal.Revision, error) {
	return func(got []journal.Revision, err error) {
		t.Helper()
		must(t, err)
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestRevisionMustFollowTheLast(t *testing.T) {
	s := open(t, databasePath(t), nil)
	for _, number := range []int{0, 2, -1} {
		wantConflict(t, s.SaveRevision(ctx, revision("c1", number, 5)), 0)
	}
	must(t, s.SaveRevision(ctx, revision("c1", 1, 5)))
	wantConflict(t, s.SaveRevision(ctx, revision("c1", 1, 6)), 1)
	wantConflict(t, s.SaveRevision(ctx, revision("c1", 3, 6)), 1)
}

func wantConflict(t *testing.T, err error, last int) {
	t.Helper()
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Last != last {
		t.Errorf("got %v, want a conflict with revision %d", err, last)
	}
}

func TestOfManyWhoChangeAPolicyOneWins(t *testing.T) {
	s := open(t, databasePath(t), nil)
	var won atomic.Int32
	var authors sync.WaitGroup
	for i := range 10 {
		authors.Go(func() {
			if s.SaveRevision(ctx, revision("c1", 1, i+1)) == nil {
				won.Add(1)
			}
		})
	}
	authors.Wait()
	if won.Load() != 1 {
		t.Errorf("%d won", won.Load())
	}
}

func TestDiscardKeepsTheHistory(t *testing.T) {
	s := open(t, databasePath(t), nil)
	first := revision("c1", 1, 5)
	must(t, s.SaveRevision(ctx, first))
	discard, err := s.DiscardRevisions(ctx, "c1", "Grace")
	must(t, err)
	if want := (journal.Revision{ChannelID: "c1", Number: 2, Author: "Grace", At: start}); !reflect.DeepEqual(discard, want) {
		t.Errorf("got %+v, want %+v", discard, want)
	}
	wantRevisions(t, discard, first)(s.Revisions(ctx, "c1"))
	wantRevisions(t)(s.CurrentRevisions(ctx))
	third := revision("c1", 3, 6)
	must(t, s.SaveRevision(ctx, third))
	wantRevisions(t, third)(s.CurrentRevisions(ctx))
}

func TestUnsavedRevisionIsAnError(t *testing.T) {
	for name, failure := range failures {
		if failure.problem == damaged {
			continue // revisions lie in pages that this leaves whole
		}
		t.Run(name, func(t *testing.T) {
			s := open(t, databasePath(t), nil)
			mend := failure.harm(t, s)
			wantError(t, s.SaveRevision(ctx, revision("c1", 1, 5)), s.db.path, failure.problem)
			mend()
			wantRevisions(t)(s.Revisions(ctx, "c1"))
			must(t, s.SaveRevision(ctx, revision("c1", 1, 5)))
		})
	}
}
