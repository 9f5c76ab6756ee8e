package persist

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

func revision(channelID string, burst int) journal.Revision {
	p := policy()
	p.Limits[0].Burst = burst
	p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{roles.Subscriber: {Burst: 9, Refill: 2 * time.Second}}
	return journal.Revision{
		ChannelID: channelID, Author: strings.Repeat("Ada", 2000), At: start.Add(time.Duration(burst)), Policy: p,
		Changes: []journal.Change{{Key: "limit.burst.burst", From: 3.0, To: float64(burst)}, {Key: "limit.burst.roles", To: "subscriber"}},
	}
}

// startRun lets the store write until the test ends, or stop is called.
func startRun(t testing.TB, s *Store, g *chatguard.Guard) (stop func()) {
	t.Helper()
	end, cancel := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- s.Run(end, g) }()
	stop = sync.OnceFunc(func() {
		t.Helper()
		cancel()
		must(t, <-ran)
	})
	t.Cleanup(stop)
	return stop
}

// wantSaved returns a check for the results of a change: whether it is saved.
func wantSaved(t *testing.T, want bool) func(saved bool, err error) {
	return func(saved bool, err error) {
		t.Helper()
		if saved != want || err != nil {
			t.Errorf("saved %v, %v; want %v", saved, err, want)
		}
	}
}

// saveRevision saves a revision, which must then be stored, and returns it with its number.
func saveRevision(t *testing.T, s *Store, r journal.Revision) journal.Revision {
	t.Helper()
	numbered, saved, err := s.SaveRevision(ctx, r)
	must(t, err)
	if r.Number = numbered.Number; !saved || !reflect.DeepEqual(numbered, r) {
		t.Errorf("saved %v as %+v", saved, numbered)
	}
	return numbered
}

var wantRevisions = wantList[journal.Revision]

// newest returns the result of Revisions for wantRevisions.
func newest(revisions []journal.Revision, _ bool, err error) ([]journal.Revision, error) {
	return revisions, err
}

func TestRevisions_ConcurrentNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), &Options{FlushInterval: time.Hour, Now: at(start)})
	startRun(t, s, guardOf(t, s, policy()))
	var authors sync.WaitGroup
	for i := range 10 {
		authors.Go(func() {
			if _, saved, err := s.SaveRevision(ctx, revision("c1", i+1)); !saved || err != nil {
				t.Errorf("saved %v, %v", saved, err)
			}
		})
	}
	authors.Wait()
	s.wantCount(t, 10, "SELECT count(*) FROM revision WHERE number BETWEEN 1 AND 10")
	if other, _, err := s.SaveRevision(ctx, revision("c2", 1)); err != nil || other.Number != 1 {
		t.Errorf("another channel begins with %+v, %v", other, err)
	}
}

func TestDiscardRevisions_KeepsHistory(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	startRun(t, s, guardOf(t, s, policy()))
	first := saveRevision(t, s, revision("c1", 5))
	discard, saved, err := s.DiscardRevisions(ctx, "c1", "Grace")
	must(t, err)
	if want := (journal.Revision{ChannelID: "c1", Number: 2, Author: "Grace", At: start}); !saved || !reflect.DeepEqual(discard, want) {
		t.Errorf("got %+v, want %+v", discard, want)
	}
	wantRevisions(t, discard, first)(newest(s.Revisions(ctx, "c1", 0, 50)))
	wantRevisions(t)(s.CurrentRevisions(ctx))
	third := saveRevision(t, s, revision("c1", 6))
	wantRevisions(t, third)(s.CurrentRevisions(ctx))
	s.wantCount(t, 2, `SELECT count(*) FROM audit WHERE action = 'policy' AND channel_id = 'c1' AND user_id = '' AND detail LIKE '{"revision":_}'`)
}

// Changes made while the database is failing take effect, stay pending, and are written in order
// once it works again.
func TestChanges_PendingWhileFailing(t *testing.T) {
	t.Parallel()
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			path := newFilledDatabase(t)
			s := open(t, path, nil)
			g := guardOf(t, s, policy())
			for _, name := range []string{"raid", "slow"} {
				_, err := s.SaveSetting(endedContext, "c9", name, "old")
				must(t, err)
			}
			s.runTurn(ctx, g)
			repair := failure.harm(t, s)
			s.Observe(throttledMessage(1, "c1", "x", time.Second)) // something to write, so a flush fails
			s.runTurn(ctx, g)
			for _, set := range [][2]string{{"paused", "on"}, {"paused", "off"}, {"slow", ""}} { // the last one counts
				wantSaved(t, false)(s.SaveSetting(ctx, "c9", set[0], set[1]))
			}
			const settings = "map[c9:map[paused:off raid:old]]"
			var want []journal.Revision
			for burst := 1; burst <= 3; burst++ {
				r, saved, err := s.SaveRevision(ctx, revision("c9", burst))
				wantSaved(t, false)(saved, err)
				want = append([]journal.Revision{r}, want...)
			}
			wantSaved(t, false)(s.Record(ctx, journal.Audit{At: start, Author: "Grace", Action: journal.UserGranted, ChannelID: "c9", UserID: "7", Detail: journal.StoredDetail("5")}))
			s.NoteChannel("c9", "gardenhour")
			s.runTurn(ctx, g)
			if failure.problem != damaged { // a damaged database can't be read
				wantRevisions(t, want...)(newest(s.Revisions(ctx, "c9", 0, 50)))
				wantSettings(t, s, settings)
			}
			repair()
			s.runTurn(ctx, g)
			wantRevisions(t, want...)(newest(s.Revisions(ctx, "c9", 0, 50)))
			must(t, s.Close())

			s = open(t, path, nil)
			wantRevisions(t, want...)(newest(s.Revisions(ctx, "c9", 0, 50)))
			wantSettings(t, s, settings)
			s.wantCount(t, 1, "SELECT count(*) FROM audit WHERE id = 4 AND action = 'grant' AND user_id = '7' AND detail = '5'")
			if logins, err := s.Channels(ctx); err != nil || logins["c9"] != "gardenhour" {
				t.Errorf("channels %v, %v", logins, err)
			}
		})
	}
}

func TestChanges_TooManyRefused(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	small := journal.Revision{ChannelID: "c1", Author: "Ada", At: start, Policy: policy()}
	repair := failures["disk full"].harm(t, s)
	s.Observe(throttledMessage(1, "c1", "x", time.Second))
	s.runTurn(ctx, g)
	for range maxChanges {
		_, _, err := s.SaveRevision(ctx, small)
		must(t, err)
	}
	if _, _, err := s.SaveRevision(ctx, small); !errors.Is(err, ErrTooMany) {
		t.Errorf("a revision too many: %v", err)
	}
	if _, err := s.Record(ctx, journal.Audit{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("an audit too many: %v", err)
	}
	repair()
	s.runTurn(ctx, g)
	s.wantCount(t, maxChanges, "SELECT max(number) FROM revision")
	startRun(t, s, g)
	saveRevision(t, s, revision("c1", 1))
}

// No caller waits for a flush that never comes.
func TestCommit_AfterEnd(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	startRun(t, s, guardOf(t, s, policy()))()
	wantSaved(t, false)(s.SaveSetting(ctx, "c1", "paused", "yes"))
	late := open(t, newDatabase(t), nil)
	wantSaved(t, false)(late.Record(endedContext, journal.Audit{})) // before Run
}

func TestChannels_LastLogin(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	for _, step := range []struct{ id, login, want string }{
		{"1", "gardenhour", "map[1:gardenhour]"},
		{"2", "other", "map[1:gardenhour 2:other]"},
		{"1", "renamed", "map[1:renamed 2:other]"},
		{"3", "renamed", "map[2:other 3:renamed]"}, // 1 has lost the name
	} {
		s.NoteChannel(step.id, step.login)
		s.mustFlush(t, g)
		if got, err := s.Channels(ctx); err != nil || fmt.Sprint(got) != step.want {
			t.Errorf("%v, %v, want %s", got, err, step.want)
		}
	}
}

// A revision isn't kept without its audit, and its number is free again.
func TestSaveRevision_WithoutAudit(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	for range maxChanges {
		must(t, s.addAudit(journal.Audit{At: start, Action: journal.PolicyChanged}))
	}
	for range 2 {
		if _, _, err := s.SaveRevision(ctx, journal.Revision{ChannelID: "7", At: start}); !errors.Is(err, ErrTooMany) {
			t.Errorf("got %v", err)
		}
	}
	if rows, last := s.revisions.peek(), s.lastRevision["7"]; len(rows) != 0 || last != 0 {
		t.Errorf("pending are %d revisions, the last is %d", len(rows), last)
	}
}
