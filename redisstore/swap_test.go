package redisstore

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// one returns a swap of one row of a user.
func one(user, was, is string) *shared.Swap {
	return &shared.Swap{Rows: []shared.Row{row("lobby", user, was, is)}}
}

func row(channel, user, was, is string) shared.Row {
	r := shared.Row{ChannelID: channel, UserID: user, Until: time.Now().Add(time.Hour)}
	if was != "" {
		r.Was = []byte(was)
	}
	if is != "" {
		r.Is = []byte(is)
	}
	if was == is {
		r.Is = r.Was
	}
	return r
}

// attempt makes a swap, and returns it with its outcome.
func attempt(t testing.TB, s *Store, swap *shared.Swap) *shared.Swap {
	s.Swap(t.Context(), []*shared.Swap{swap})
	return swap
}

// check swaps, and checks the outcome: done, or the rows that are stored.
func check(t *testing.T, s *Store, swap *shared.Swap, done bool, now ...string) {
	t.Helper()
	attempt(t, s, swap)
	if swap.Err != nil || swap.Done != done {
		t.Fatalf("done %t, error %v, now %q; want done %t", swap.Done, swap.Err, swap.Rows[0].Now, done)
	}
	for i, row := range swap.Rows {
		want := ""
		if i < len(now) {
			want = now[i]
		}
		if string(row.Now) != want {
			t.Errorf("row %d is %q, want %q", i, row.Now, want)
		}
	}
}

// each runs a test on each server, and on the stand-in for servers with IFEQ.
func each(t *testing.T, test func(t *testing.T, r *redisServer, s *Store)) {
	for _, binary := range binaries(t) {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			t.Parallel()
			r := startServer(t, binary, "--save", "", "--appendonly", "no")
			s := open(t, r.URL(), Options{})
			if h := s.Health(); strings.HasPrefix(h.Server, "valkey") && !h.IfEqual {
				t.Errorf("IFEQ isn't used: %+v", h)
			}
			test(t, r, s)
		})
	}
	t.Run("stand-in with IFEQ", func(t *testing.T) {
		t.Parallel()
		r := startRedis(t)
		s := open(t, "redis://"+withIfEqual(t, r), Options{})
		if !s.Health().IfEqual {
			t.Fatal("IFEQ isn't used")
		}
		test(t, r, s)
	})
}

func TestSwap(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		check(t, s, one("a", "", "1"), true)
		check(t, s, one("a", "", "2"), false, "1")
		check(t, s, one("a", "1", "2"), true)
		check(t, s, one("a", "1", "3"), false, "2")
		check(t, s, one("b", "1", "2"), false)      // none is stored
		check(t, s, one("a", "1", "2"), true)       // asked again: it was us
		check(t, s, one("a", "2", "2"), true)       // only compares
		check(t, s, one("a", "1", "1"), false, "2") // compares with another row
		check(t, s, one("b", "", ""), true)         // compares with none
		check(t, s, one("a", "2", ""), true)        // deleted
		check(t, s, one("a", "2", ""), false)
		check(t, s, one("a\x00 \xff{}%", "", "\x00\r\n\xff"), true)
		check(t, s, one("a\x00 \xff{}%", "", "x"), false, "\x00\r\n\xff")
	})
}

func TestSwap_SeveralRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		both := func(was1, is1, was2, is2 string) *shared.Swap {
			return &shared.Swap{Rows: []shared.Row{row("lobby", "a", was1, is1), row("", "a", was2, is2)}}
		}
		check(t, s, both("", "1", "", "2"), true)
		check(t, s, both("1", "3", "x", "4"), false, "1", "2")
		check(t, s, both("1", "1", "2", "4"), true) // the first is only compared
		check(t, s, both("1", "3", "4", "5"), true)
		check(t, s, both("1", "3", "4", "5"), true) // it was us
		check(t, s, both("1", "3", "5", "6"), false, "3", "5")
		check(t, s, both("3", "7", "5", ""), true)
		check(t, s, both("7", "7", "", ""), true)
		check(t, s, &shared.Swap{Rows: []shared.Row{row("lobby", "a", "7", "8"), row("lobby", "", "", "9"), row("", "", "", "10")}}, true)
	})
}

// TestSwap_Independent checks that swaps of one call don't depend on each other.
func TestSwap_Independent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		check(t, s, one("b", "", "1"), true)
		r.must("SADD", "cg1:{u:c}:c:lobby", "x")
		swaps := []*shared.Swap{one("a", "", "1"), one("b", "", "2"), one("c", "", "1"), {}, {Rows: make([]shared.Row, 1)}, one("d", "", "1")}
		s.Swap(t.Context(), swaps)
		for i, want := range []struct{ done, failed bool }{{true, false}, {false, false}, {false, true}, {false, true}, {true, false}, {true, false}} {
			if swaps[i].Done != want.done || (swaps[i].Err != nil) != want.failed || errors.Is(swaps[i].Err, shared.ErrAway) {
				t.Errorf("swap %d: done %t, error %v", i, swaps[i].Done, swaps[i].Err)
			}
		}
		if string(swaps[1].Rows[0].Now) != "1" {
			t.Errorf("now %q", swaps[1].Rows[0].Now)
		}
	})
}

func TestSwap_Expiry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		now, _ := s.Clock()
		// expires returns how long after the beginning a key expires, in ms.
		expires := func(key string) int64 {
			ms := r.integer("PEXPIRETIME", key)
			if ms < 0 { // never
				return ms
			}
			return ms - now.UnixMilli()
		}
		for i, was := range []string{"", "1"} {
			swap := one("a", was, was+"1")
			swap.Rows[0].Until = now.Add(time.Hour)
			check(t, s, swap, true)
			if ms := expires("cg1:{u:a}:c:lobby"); ms > 61*60_000+1000 || ms < 60*60_000 {
				t.Errorf("%d: expires in %d ms", i, ms)
			}
		}
		swap := one("a", "11", "12")
		swap.Rows[0].Until = time.Time{}
		check(t, s, swap, true)
		if ms := expires("cg1:{u:a}:c:lobby"); ms != -1 {
			t.Errorf("expires in %d ms, want never", ms)
		}
		swap = one("a", "12", "13")
		swap.Rows[0].Until = time.Unix(-100, 0)
		check(t, s, swap, true)
		check(t, s, one("a", "", ""), true) // it has expired
		two := &shared.Swap{Rows: []shared.Row{row("lobby", "b", "", "1"), row("", "b", "", "2")}}
		two.Rows[1].Until = time.Time{}
		check(t, s, two, true)
		if a, b := expires("cg1:{u:b}:c:lobby"), expires("cg1:{u:b}"); a < 60*60_000 || b != -1 {
			t.Errorf("expire in %d and %d ms", a, b)
		}
	})
}

// TestSwap_ContextEnded checks that a call whose context has ended isn't sent.
func TestSwap_ContextEnded(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	swap := one("a", "", "1")
	s.Swap(ctx, []*shared.Swap{swap})
	if swap.Done || !errors.Is(swap.Err, shared.ErrAway) || !errors.Is(swap.Err, context.Canceled) {
		t.Errorf("done %t, error %v", swap.Done, swap.Err)
	}
	check(t, s, one("a", "", "2"), true)
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		swap := one("a b", "", "1")
		swap.Rows[0].HasOverride = true
		swap.Notify = true
		everywhere := &shared.Swap{Rows: []shared.Row{{UserID: "c", Is: []byte("1"), HasOverride: true}}}
		s.Swap(t.Context(), []*shared.Swap{swap, one("b", "", "1"), everywhere})
		if !swap.Done || !everywhere.Done {
			t.Fatal(swap.Err, everywhere.Err)
		}
		for channel, want := range map[string]string{"lobby": "a b", "": "c"} {
			users, err := s.Overrides(t.Context(), channel)
			if err != nil || len(users) != 1 || users[0] != want {
				t.Errorf("channel %q: %q, %v", channel, users, err)
			}
		}
		if users, err := s.Overrides(t.Context(), "empty"); err != nil || len(users) != 0 {
			t.Errorf("%q, %v", users, err)
		}
		r.must("SET", "cg1:own:lobby", "no set")
		swap = one("d", "", "1")
		swap.Rows[0].HasOverride = true
		if attempt(t, s, swap); swap.Done || swap.Err == nil {
			t.Error("a row was stored that Overrides doesn't list")
		}
	})
}
