package limits

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sharedRows does with rows as bytes what a world does with tables.
type sharedRows struct {
	rt    *rapid.T
	sets  map[plainGroup]*Set
	since int64
	data  map[plainKey][]byte
	seq   uint64
}

func newSharedRows(rt *rapid.T, sets map[plainGroup]*Set) *sharedRows {
	return &sharedRows{rt: rt, sets: sets, data: map[plainKey][]byte{}}
}

func (s *sharedRows) read(key plainKey) *Row {
	row, err := ReadRow(s.sets[key.plainGroup], s.since, s.data[key])
	if err != nil {
		s.rt.Fatalf("%+v: %v", key, err)
	}
	return row
}

func (s *sharedRows) draft(at int64, keys ...plainKey) (drafts []*Draft, orders []map[string]int) {
	for _, key := range keys {
		drafts = append(drafts, NewDraft(s.sets[key.plainGroup], s.read(key), at))
	}
	return drafts, make([]map[string]int, len(keys))
}

func (s *sharedRows) write(at int64, drafts []*Draft, keys ...plainKey) {
	for i, d := range drafts {
		if !d.Changed() {
			continue
		}
		s.seq++
		s.data[keys[i]] = d.Row(Stamp{Seq: s.seq, Writer: 7}, at).Bytes()
	}
}

// keys returns the rows that a message of the user uses.
func (s *sharedRows) keys(w *world, user string) (keys []plainKey) {
	for _, group := range w.oracle.groups() {
		keys = append(keys, w.oracle.key(group, user))
	}
	return keys
}

// judge judges a message, and checks that IsFrozen agrees.
func (s *sharedRows) judge(w *world, user string, q Request) (d Decision) {
	keys := s.keys(w, user)
	var known []SeenRow
	for _, key := range keys {
		known = append(known, SeenRow{Set: s.sets[key.plainGroup], Row: s.read(key)})
	}
	var frozen Decision
	until, isFrozen := IsFrozen(known, &q, &frozen, int64(time.Second))
	for _, at := range []int64{q.At + (until-q.At)/3, until} {
		if until == 0 {
			break
		}
		later, repeated := q, frozen
		later.At, repeated.At, repeated.LeaveAt = at, at, at
		var d Decision
		drafts, orders := s.draft(at, keys...)
		if JudgeDrafts(drafts, orders, &later, &d); s.describe(d) != s.describe(repeated) || slices.ContainsFunc(drafts, (*Draft).Changed) {
			s.rt.Fatalf("%s, %+v: frozen until %d as\n%s, but at %d\n%s", user, q, until, s.describe(repeated), at, s.describe(d))
		}
	}
	drafts, orders := s.draft(q.At, keys...)
	JudgeDrafts(drafts, orders, &q, &d)
	if isFrozen {
		if s.describe(frozen) != s.describe(d) {
			s.rt.Fatalf("%s, %+v: frozen\n%s, then judged\n%s", user, q, s.describe(frozen), s.describe(d))
		}
		if slices.ContainsFunc(drafts, (*Draft).Changed) {
			s.rt.Fatalf("%s, %+v: frozen, but the rows change", user, q)
		}
	}
	s.write(q.At, drafts, keys...)
	return d
}

// forget forgets the rows that the tables have dropped, because they equaled a new user's.
func (s *sharedRows) forget(tables map[plainGroup]*Table) {
	for key := range s.data {
		if !tables[key.plainGroup].has(key.user) {
			delete(s.data, key)
		}
	}
}

// describe formats all fields of a decision, except the number of its series, which may begin
// anywhere.
func (s *sharedRows) describe(d Decision) string {
	name := ""
	if d.Limit != nil {
		name = d.Limit.Name()
	}
	d.Set, d.Limit, d.Series = nil, nil, 0
	return fmt.Sprintf("%s %+v", name, d)
}

func (s *sharedRows) change(sets map[plainGroup]*Set, at int64) {
	for group, set := range sets {
		sets[group] = set.After(s.sets[group], at)
	}
	s.sets, s.since = sets, at
	for key := range s.data {
		if sets[key.plainGroup] == nil {
			delete(s.data, key)
		}
	}
	for key := range s.data { // as a table does, so that several changes in a row are the same
		drafts, _ := s.draft(at, key)
		if drafts[0].base != nil { // rows keep the usage of limits that other nodes may still have
			forgetful := *drafts[0].base
			forgetful.foreign = nil
			drafts[0].base = &forgetful
		}
		drafts[0].changed = true
		s.write(at, drafts, key)
	}
}

// edit changes a single row.
func (s *sharedRows) edit(key plainKey, at int64, change func(d *Draft)) {
	drafts, _ := s.draft(at, key)
	change(drafts[0])
	s.write(at, drafts, key)
}

// seriesOf returns the offences as if they belonged to the present series in the shared row.
func (s *sharedRows) seriesOf(user string, offences []Offence) []Offence {
	offences = slices.Clone(offences)
	drafts, _ := s.draft(0, plainKey{perUser, user})
	for i := range offences {
		offences[i].Series = seriesOf(drafts[0].row)
	}
	return offences
}

func (s *sharedRows) pardonAndUndo(w *world, user string, offences []Offence, at int64) bool {
	keys := s.keys(w, user)
	drafts, _ := s.draft(at, keys...)
	taken := PardonDrafts(drafts, offences, at)
	s.write(at, drafts, keys...)
	if taken == nil {
		return false
	}
	drafts, _ = s.draft(at, keys...)
	done := UnpardonDrafts(drafts, taken, at)
	s.write(at, drafts, keys...)
	return done
}

// A row that is read and written again is the same, and Until is when it equals no row.
func TestRow_ReadsWhatWasWritten(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				l := drawSingleLimit(rt, a.name)
				set := mustCompile(rt, []Limit{l}, Strikes{Every: time.Second, Forget: time.Minute})[PerUser]
				at := epoch.UnixNano()
				var row *Row
				for seq := range rapid.Uint64Range(1, 12).Draw(rt, "messages") {
					d := NewDraft(set, row, at)
					q := Request{At: at, Cost: rapid.Int64Range(1, 3).Draw(rt, "cost")}
					if rapid.IntRange(0, 3).Draw(rt, "spent elsewhere") == 0 {
						d.Spend(Spent{At: at, N: q.Cost})
					} else {
						JudgeDrafts([]*Draft{d}, make([]map[string]int, 1), &q, new(Decision))
					}
					row = d.Row(Stamp{Seq: seq + 1, Writer: 1}, at)
					again, err := ReadRow(set, 0, row.Bytes())
					if err != nil {
						rt.Fatal(err)
					}
					if !reflect.DeepEqual(again.words, row.words) || again.writes != row.writes || again.until != row.until {
						rt.Fatalf("wrote %v %+v until %d, read %v %+v until %d", row.words, row.writes, row.until, again.words, again.writes, again.until)
					}
					at += rapid.SampledFrom(lengths).Draw(rt, "pause")
				}
				until := max(row.Until(), at)
				fresh, spent := NewDraft(set, nil, until), NewDraft(set, row, until)
				for _, n := range []int64{1, set.rules[0].capacity, 1} {
					var want, got Decision
					q := Request{At: until, Cost: n}
					JudgeDrafts([]*Draft{fresh}, make([]map[string]int, 1), &q, &want)
					JudgeDrafts([]*Draft{spent}, make([]map[string]int, 1), &q, &got)
					if want.Allowed != got.Allowed || want.Remaining != got.Remaining || want.RetryAt != got.RetryAt || want.Strikes != got.Strikes {
						rt.Fatalf("at Until, %d: got %+v, want %+v", n, got, want)
					}
				}
			})
		})
	}
}

// A limit that only another node has keeps its usage.
func TestRow_KeepsForeignLimits(t *testing.T) {
	at := epoch.UnixNano()
	both := mustSet(t, bucket(3, time.Minute), window("fixed-window", 2, time.Hour))
	one := mustSet(t, bucket(3, time.Minute))
	d := NewDraft(both, nil, at)
	d.Spend(Spent{At: at, N: 2})
	row := mustRead(t, one, d.Row(Stamp{Seq: 1}, at).Bytes())
	d = NewDraft(one, row, at)
	d.Spend(Spent{At: at, N: 1})
	row = mustRead(t, both, d.Row(Stamp{Seq: 2}, at).Bytes())
	got := NewDraft(both, row, at).judge(at+int64(3*time.Minute), 1)
	if got.Allowed || got.Limit.Name() != "fixed-window" {
		t.Errorf("after a node without the limit has written: %+v, want it throttled by fixed-window", got)
	}
}

func mustSet(t *testing.T, limits ...Limit) *Set {
	t.Helper()
	return compileSets(t, Strikes{}, limits...)[PerUser]
}

func mustRead(t *testing.T, set *Set, data []byte) *Row {
	t.Helper()
	row, err := ReadRow(set, 0, data)
	must(t, err)
	return row
}

// judge judges a message that uses only this row.
func (d *Draft) judge(at, cost int64) (got Decision) {
	JudgeDrafts([]*Draft{d}, make([]map[string]int, 1), &Request{At: at, Cost: cost}, &got)
	return got
}

// What was spent elsewhere in excess is paid back in later windows.
func TestSpend_PaidBack(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		after []float64 // seconds after which one message fits, for 1, 2, ... messages too many
	}{
		{bucket(3, 4*time.Second), []float64{4 + 4, 4 + 8}},
		{leakyLimit(4*time.Second, 2), []float64{4 + 4, 4 + 8}},
		{window("fixed-window", 3, time.Minute), []float64{60, 60, 120, 120, 120, 180}},
		{window("user-window", 3, time.Minute), []float64{60, 60, 120, 120, 120, 180}},
		{dailyLimit(3, "UTC", ""), []float64{day, day, 2 * day, 2 * day, 2 * day, 3 * day}},
		{window("sliding-log", 3, time.Minute), []float64{60, 60, 60}}, // a log keeps its newest
	} {
		set := mustSet(t, c.limit)
		for i, after := range c.after {
			d := NewDraft(set, nil, nanos(0))
			d.Spend(Spent{At: nanos(0), N: 3 + int64(i) + 1})
			row := mustRead(t, set, d.Row(Stamp{}, nanos(0)).Bytes())
			got := NewDraft(set, row, nanos(0)).judge(nanos(0), 1)
			if got.Allowed || got.RetryAt != nanos(after) || got.Remaining != 0 {
				t.Errorf("%s, %d too many: allowed %v, retry after %v s, want %v", c.limit.Name, i+1, got.Allowed, float64(got.RetryAt-nanos(0))/1e9, after)
			}
			for at, want := range map[int64]bool{nanos(after) - 1: false, nanos(after): true} {
				got := NewDraft(set, row, at).judge(at, 1)
				if got.Allowed != want {
					t.Errorf("%s, %d too many: allowed %v at %d ns after its turn", c.limit.Name, i+1, got.Allowed, at-nanos(after))
				}
			}
		}
	}
}

// A lowered capacity isn't an overdraft.
func TestSpend_LoweredLimitOwesNothing(t *testing.T) {
	for _, l := range []Limit{window("fixed-window", 6, time.Minute), window("user-window", 6, time.Minute), dailyLimit(6, "UTC", "")} {
		set := mustSet(t, l)
		d := NewDraft(set, nil, nanos(0))
		d.Spend(Spent{At: nanos(0), N: 6})
		l.Messages = 2
		row := mustRead(t, mustSet(t, l), d.Row(Stamp{}, nanos(0)).Bytes())
		got := NewDraft(row.set, row, nanos(day)).judge(nanos(day), 2)
		if !got.Allowed {
			t.Errorf("%s: throttled in the window after the limit was lowered", l.Name)
		}
	}
}

// A message that another node tells of hours later counts, and leaves everything else as it is.
func TestSpend_Late(t *testing.T) {
	set := compileSets(t, Strikes{Every: time.Second, Forget: day * time.Second}, sevenLimits()...)[PerUser]
	for _, late := range []float64{59, 61, 3 * 3600, 30 * 3600} {
		d := NewDraft(set, nil, nanos(0))
		for d.judge(nanos(0), 1).Allowed {
		}
		before := append([]uint64(nil), d.row...)
		over := d.Spend(Spent{At: nanos(-late), N: 2})
		row, err := ReadRow(set, 0, d.Row(Stamp{Seq: 1}, nanos(0)).Bytes())
		if err != nil {
			t.Fatalf("a message of %v s before makes the row unreadable: %v", late, err)
		}
		if over != 2 || row.words[wordLast] != before[wordLast] || strikeCount(row.words) != 1 {
			t.Errorf("%v s late: overdrawn by %d, want 2; %d strikes, want 1", late, over, strikeCount(row.words))
		}
	}
}

func TestReadRow_Refused(t *testing.T) {
	set := mustSet(t, sevenLimits()...)
	d := NewDraft(set, nil, nanos(0))
	d.Spend(Spent{At: nanos(0), N: 2})
	good := d.Row(Stamp{Seq: 1}, nanos(0)).Bytes()
	if _, err := ReadRow(set, 0, append([]byte{9}, good[1:]...)); !errors.Is(err, ErrRowVersion) {
		t.Errorf("a row of version 9: %v, want ErrRowVersion", err)
	}
	for name, data := range map[string][]byte{
		"one byte":                         good[:1],
		"cut short":                        good[:len(good)-1],
		"with rest":                        append(slices.Clone(good), 0),
		"version 0":                        append([]byte{0}, good[1:]...),
		"text":                             []byte("hello"),
		"very large":                       make([]byte, MaxRowBytes+1),
		"a number that writes can't reach": NewDraft(set, mustRead(t, set, good), nanos(0)).Row(Stamp{Seq: maxSeq + 1}, nanos(0)).Bytes(),
	} {
		if _, err := ReadRow(set, 0, data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// fuzzedSet returns a set with all algorithms.
func fuzzedSet(f *testing.F) *Set {
	limits := append(sevenLimits(), cascadeLimit(3, 4*time.Second, 2, 20*time.Second), window("sliding-window", 5, time.Minute).withSlices(6).withName("sliced"))
	sets, err := Compile(limits, testRoles, Strikes{Every: time.Second, Forget: time.Minute})
	if err != nil {
		f.Fatal(err)
	}
	return sets[PerUser]
}

func FuzzReadRow(f *testing.F) {
	set := fuzzedSet(f)
	d := NewDraft(set, nil, nanos(0))
	d.Spend(Spent{At: nanos(0), N: 4})
	f.Add(d.Row(Stamp{Seq: 1}, nanos(0)).Bytes())
	d = NewDraft(set, nil, nanos(0))
	if _, err := d.Grant("daily", 3, nanos(0)); err != nil {
		f.Fatal(err)
	}
	if err := d.SetOwn(Own{Exemption: NotExempt, Timezone: "Asia/Tokyo", Numbers: map[string]Numbers{"burst": {Burst: 2}}}, nanos(1)); err != nil {
		f.Fatal(err)
	}
	f.Add(d.Row(Stamp{Seq: 2, Writer: 1}, nanos(1)).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		row, err := ReadRow(set, nanos(5), data)
		if err != nil || row == nil {
			return
		}
		last := int64(row.words[wordLast])
		for _, at := range []int64{last, last + 1e9, max(nanos(day), last)} {
			d := NewDraft(set, row, at)
			d.judge(at, 1)
			d.Spend(Spent{At: at, N: 5})
			d.Reset()
			if _, err := ReadRow(set, 0, d.Row(Stamp{Seq: row.writes.Seq}, at).Bytes()); err != nil {
				t.Fatalf("the row can't be read any more: %v", err)
			}
		}
	})
}

// A log stays whole under a smaller limit, also with messages of the first moment of 1970, whose
// times are zero.
func TestRow_LogUnderSmallerLimit(t *testing.T) {
	for _, at := range []int64{0, nanos(0)} {
		data := NewDraft(mustSet(t, window("sliding-log", 2, time.Hour)), nil, at)
		data.Spend(Spent{At: at, N: 2})
		bytes := data.Row(Stamp{Seq: 1}, at).Bytes()
		for _, messages := range []int64{1, 2} {
			row := mustRead(t, mustSet(t, window("sliding-log", messages, time.Hour)), bytes)
			bytes = NewDraft(row.set, row, at).Row(Stamp{Seq: 2}, at).Bytes()
			if got := row.set.rules[0].state(row.words)[0]; got != 2 {
				t.Errorf("at %d, %d messages allowed: %d in the log, want 2", at, messages, got)
			}
		}
	}
}
