package persist

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/state"
)

func TestRestore_UnreadableRowKept(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	for _, user := range []string{"1", "2", "3"} {
		say(t, g, user, start)
	}
	s.mustFlush(t, g)
	s.exec(t, "UPDATE state SET data = x'FF' WHERE user_id = '2' AND limit_name = 'daily'")
	rows := s.count(t, "SELECT count(*) FROM state")
	must(t, s.Close())

	s = open(t, path, nil)
	fresh, stats := restoreGuard(t, s, policy())
	if stats.Unreadable != 1 || stats.Rows != rows-1 {
		t.Errorf("%+v of %d rows", stats, rows)
	}
	say(t, fresh, "1", start)
	s.runTurn(ctx, fresh)
	s.wantCount(t, 1, "SELECT count(*) FROM state WHERE data = x'FF'")
}

// The policy in force decides which rows count; rows of other limits are kept in case these limits
// return.
func TestRestore_UnknownLimitsKept(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "1", start)
	s.mustFlush(t, g)
	must(t, s.Close())

	s = open(t, path, nil)
	other := policy()
	other.Limits = other.Limits[:1]
	changed := guardOf(t, s, other)
	say(t, changed, "1", start)
	s.mustFlush(t, changed)
	must(t, s.Close())

	back := guardOf(t, open(t, path, nil), policy())
	if n := remaining(t, back, "1", start.Add(time.Hour)); n != 3 {
		t.Errorf("burst leaves %d", n)
	}
	p := policy()
	p.Limits = p.Limits[1:]
	must(t, inner.At(back, start).SetChannelPolicy("c1", p))
	if n := remaining(t, back, "1", start.Add(time.Hour)); n != 299 {
		t.Errorf("daily leaves %d, want what the first day left", n)
	}
}

// Rows are written in the order of the table's key, whatever their IDs are.
func TestState_WrittenInTableOrder(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte("\x00\x0109a\xff")), 0, 12).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) state.Row {
			channel := rapid.SampledFrom([]string{"", "1", "10", "2", "a"}).Draw(t, "channel")
			return state.Row{ChannelID: channel, UserID: text.Draw(t, "user"), Limit: rapid.SampledFrom([]string{"", "+", "burst", "daily"}).Draw(t, "limit")}
		}), 0, 50).Draw(t, "rows")
		var got []state.Row
		for _, p := range orderOf(rows) {
			got = append(got, rows[p.row])
		}
		if len(got) != len(rows) || !slices.IsSortedFunc(got, compareKeys) {
			t.Fatalf("%q becomes %q", rows, got)
		}
	})
}
