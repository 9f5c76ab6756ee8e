package limits

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// zoneHome keeps a user's row in one of the ways in which a row can be dropped.
type zoneHome interface {
	judge(q *Request) Decision
	refund(n, at int64)
	pass(rt *rapid.T, at int64) // drops what may be dropped at that time
}

// tidiedHome is a table that drops rows when new users come.
type tidiedHome struct {
	table *Table
	crowd []string
}

func (h *tidiedHome) judge(q *Request) (d Decision) {
	h.table.Judge("7", q, &d)
	return d
}

func (h *tidiedHome) refund(n, at int64) { h.table.Refund("7", Refund{At: at, N: n}, at) }

func (h *tidiedHome) pass(_ *rapid.T, at int64) {
	h.table.allDirty().Confirm()
	for range 6 {
		h.table.judge(h.crowd[0], Request{At: at, Cost: 1})
		h.crowd = h.crowd[1:]
	}
}

// restartedHome is a table whose rows are stored. After a restart, those that aren't forgotten come
// back.
type restartedHome struct {
	table  *Table
	set    *Set
	stored map[string]StateRow
}

func (h *restartedHome) judge(q *Request) (d Decision) {
	h.table.Judge("7", q, &d)
	return d
}

func (h *restartedHome) refund(n, at int64) { h.table.Refund("7", Refund{At: at, N: n}, at) }

func (h *restartedHome) pass(rt *rapid.T, at int64) {
	batch := h.table.allDirty()
	for _, row := range batch.Rows {
		row.Data = append([]byte(nil), row.Data...)
		h.stored[row.Limit] = row
	}
	batch.Confirm()
	h.table = NewTable(h.set, 1<<30, new(Dropped))
	for name, row := range h.stored {
		if h.table.forgets(rt, row, at) {
			delete(h.stored, name)
		} else if err := h.table.Restore(row, at); err != nil {
			rt.Fatal(err)
		}
	}
}

// sharedHome is a row in a store that several nodes share, which drops it when it has no effect any
// more.
type sharedHome struct {
	set  *Set
	row  *Row
	seq  uint64
	fail func(error)
}

func (h *sharedHome) edit(at int64, change func(*Draft)) {
	row, err := ReadRow(h.set, 0, h.row.Bytes())
	if err != nil {
		h.fail(err)
	}
	draft := NewDraft(h.set, row, at)
	if change(draft); draft.Changed() {
		h.seq++
		h.row = draft.Row(Stamp{Seq: h.seq}, at)
	}
}

func (h *sharedHome) judge(q *Request) (d Decision) {
	h.edit(q.At, func(draft *Draft) { JudgeDrafts([]*Draft{draft}, make([]map[string]int, 1), q, &d) })
	return d
}

func (h *sharedHome) refund(n, at int64) {
	h.edit(at, func(draft *Draft) { draft.Refund(Refund{At: at, N: n}, at) })
}

func (h *sharedHome) pass(_ *rapid.T, at int64) {
	if h.row.Until() <= at {
		h.row = nil
	}
}

// Whatever zones a user's messages give, and whenever rows without an effect are dropped, at most
// messages × (S / 24 h + 2) pass in any span S, or as much for a week. Of the messages that were
// refunded, none counts.
func TestZone_BuysNothing(t *testing.T) {
	// Clocks that are never changed: a day of 23 hours would allow more in a span.
	zones := []string{"", "", "UTC", "Asia/Tokyo", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Niue", "America/Lima", "Africa/Lagos", "America/Phoenix", "Asia/Kathmandu"}
	for name, newHome := range map[string]func(rt *rapid.T, set *Set) zoneHome{
		"tidied": func(_ *rapid.T, set *Set) zoneHome {
			table := NewTable(set, 1<<30, new(Dropped))
			return &tidiedHome{table, neighbours(table, "7", 600)}
		},
		"restarted": func(_ *rapid.T, set *Set) zoneHome {
			return &restartedHome{NewTable(set, 1<<30, new(Dropped)), set, map[string]StateRow{}}
		},
		"shared": func(rt *rapid.T, set *Set) zoneHome {
			return &sharedHome{set: set, fail: func(err error) { rt.Fatal(err) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				messages := int64(rapid.SampledFrom([]int{1, 2, 3, 7, 10, 24}).Draw(rt, "messages"))
				limit := dailyLimit(messages, rapid.SampledFrom(zones).Draw(rt, "zone of the limit"), rapid.SampledFrom([]string{"", "02:30", "18:00"}).Draw(rt, "reset_at"))
				length := aDay
				if limit.Period = rapid.SampledFrom([]string{"day", "day", "week"}).Draw(rt, "period"); limit.Period == "week" {
					length *= 7
				}
				home := newHome(rt, mustSet(t, limit))
				at := time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC).UnixNano()
				var passed []sent
				retry := int64(0)
				for range 80 {
					switch step := rapid.IntRange(0, 9).Draw(rt, "step"); {
					case step < 3:
						at = max(at, retry)
					case step < 9:
						at += rapid.Int64Range(1, 5).Draw(rt, "steps") * length / rapid.SampledFrom([]int64{1, 3, 24, 48}).Draw(rt, "of a period")
					}
					if rapid.Bool().Draw(rt, "rows are dropped") {
						home.pass(rt, at)
					}
					q := Request{At: at, Cost: 100 * messages, UpTo: true, Zone: TimezoneOf(rapid.SampledFrom(zones).Draw(rt, "zone of the user"))}
					d := home.judge(&q)
					if d.Taken > 0 && rapid.IntRange(0, 4).Draw(rt, "is refunded") == 0 {
						home.refund(d.Taken, at)
					} else if d.Taken > 0 {
						passed = append(passed, sent{at, d.Taken})
					}
					if q.Cost, q.UpTo = messages, false; rapid.Bool().Draw(rt, "waits for all") {
						d := home.judge(&q)
						if retry = d.RetryAt; d.Allowed {
							passed = append(passed, sent{at, d.Taken})
						}
					}
				}
				for i, first := range passed {
					n := int64(0)
					for _, last := range passed[i:] {
						if n += last.n; (n-2*messages)*length > messages*(last.at-first.at) {
							rt.Fatalf("%d pass in %v, from %s on: %d a %s", n, time.Duration(last.at-first.at), time.Unix(0, first.at).UTC(), messages, limit.Period)
						}
					}
				}
			})
		})
	}
}
