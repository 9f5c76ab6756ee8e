package persist

import (
	"testing"
	"time"
)

func TestOldEntriesGoInSteps(t *testing.T) {
	now := start
	s := open(t, databasePath(t), &Options{Retention: 24 * time.Hour, Now: func() time.Time { return now }})
	g := guardOf(t, s, policy())
	const old = 2*sweepStep + 1
	for id := 1; id <= old; id++ {
		s.Observe(throttled(id, "c1", "u", time.Second))
	}
	m, v := throttled(old+1, "c1", "u", time.Second)
	v.At = start.Add(time.Hour)
	s.Observe(m, v)
	for _, now = range []time.Time{start, start.Add(24 * time.Hour)} {
		s.turn(ctx, g)
		if n := s.count(t, "SELECT count(*) FROM journal"); n != old+1 {
			t.Fatalf("%d entries at %v", n, now)
		}
	}

	now = start.Add(24*time.Hour + sweepInterval)
	for _, want := range []int{sweepStep + 2, 2, 1, 1} {
		s.turn(ctx, g)
		if n := s.count(t, "SELECT count(*) FROM journal"); n != want {
			t.Errorf("%d entries left, want %d", n, want)
		}
	}
	now = start.Add(25*time.Hour + sweepInterval)
	s.turn(ctx, g)
	entries, err := s.Entries(ctx, "c1", 10)
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("%+v", entries)
	}
}

func TestSweepWaitsForItsTime(t *testing.T) {
	now := start
	s := open(t, databasePath(t), &Options{Retention: time.Hour, Now: func() time.Time { return now }})
	g := guardOf(t, s, policy())
	s.turn(ctx, g)
	s.Observe(throttled(1, "c1", "u", time.Second))
	now = start.Add(sweepInterval - time.Nanosecond)
	s.mustFlush(t, g)
	s.exec(t, "UPDATE journal SET at = 0")
	s.turn(ctx, g)
	if n := s.count(t, "SELECT count(*) FROM journal"); n != 1 {
		t.Fatal("swept before its time")
	}
	now = start.Add(sweepInterval)
	s.turn(ctx, g)
	if n := s.count(t, "SELECT count(*) FROM journal"); n != 0 {
		t.Fatal("not swept at its time")
	}
}

func TestExpiredSignInsGo(t *testing.T) {
	now := start
	s := open(t, databasePath(t), &Options{Now: func() time.Time { return now }})
	g := guardOf(t, s, policy())
	session := signedIn(t, s.Tokens)
	_, err := s.NewSignInCode(ctx, "Ada", 0)
	must(t, err)
	now = start.Add(SignInTime)
	s.turn(ctx, g)
	wantSession(t, s.Tokens, session, "Ada")
	if n := s.count(t, "SELECT count(*) FROM token"); n != 1 {
		t.Errorf("%d tokens, want the session", n)
	}
	now = start.Add(SessionTime)
	s.turn(ctx, g)
	if n := s.count(t, "SELECT count(*) FROM token"); n != 0 {
		t.Errorf("%d tokens", n)
	}
}
