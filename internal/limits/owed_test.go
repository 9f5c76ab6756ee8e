package limits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// joined returns a row with a user's messages at a time, and the changes by hand.
func joined(t *testing.T, set *Set, writer uint32, at, messages int64, edits ...func(d *Draft, at int64)) *Row {
	t.Helper()
	d := NewDraft(set, nil, at)
	for range messages {
		d.judge(at, 1)
	}
	row := d.Row(Stamp{Seq: 1, Writer: writer}, at)
	for i, edit := range edits {
		d := NewDraft(set, row, at)
		edit(d, at)
		row = d.Row(Stamp{Seq: uint64(i + 2), Writer: writer}, at)
	}
	return mustRead(t, set, row.Bytes())
}

// What was changed by hand in a row that another node has begun stays in force, when the lost row
// comes back.
func TestJoin_ChangesByHand(t *testing.T) {
	sets, err := Compile([]Limit{dailyLimit(3, "UTC", "")}, testRoles, Strikes{Every: time.Second, Forget: time.Hour})
	must(t, err)
	set := sets[PerUser]
	name := set.rules[0].name
	own := func(n int64) func(*Draft, int64) {
		return func(d *Draft, at int64) {
			must(t, d.SetOwn(Own{Numbers: map[string]Numbers{name: {Messages: n}}}, at))
		}
	}
	grant := func(d *Draft, at int64) {
		_, err := d.Grant(name, 2, at)
		must(t, err)
	}
	exempt := func(d *Draft, at int64) { must(t, d.SetOwn(Own{Exemption: Exempt}, at)) }
	struck := func(d *Draft, at int64) { d.judge(at, 9) }
	type edits = []func(*Draft, int64)
	for _, c := range []struct {
		name               string
		lost, begun        edits
		apart              time.Duration
		used, limit, extra int64
		strikes            int
		exempt             bool
	}{
		{name: "nothing", used: 2, limit: 3},
		{name: "an override of the lost row", lost: edits{own(8)}, used: 2, limit: 8},
		{name: "an override of the begun row", begun: edits{own(8)}, used: 2, limit: 8},
		{name: "an override of each", lost: edits{own(8)}, begun: edits{own(9)}, used: 2, limit: 9},
		{name: "an exemption", begun: edits{exempt}, used: 2, limit: 3, exempt: true},
		{name: "a grant of the lost row", lost: edits{grant}, used: 2, limit: 3, extra: 2},
		{name: "a grant of the begun row", begun: edits{grant}, used: 2, limit: 3, extra: 2},
		{name: "a grant of each", lost: edits{grant}, begun: edits{grant}, used: 2, limit: 3, extra: 4},
		{name: "a strike of the lost row", lost: edits{struck}, used: 2, limit: 3, strikes: 1},
		{name: "a strike of the begun row", begun: edits{struck}, used: 2, limit: 3, strikes: 1},
		{name: "a strike of each", lost: edits{struck}, begun: edits{struck}, used: 2, limit: 3, strikes: 2},
		{name: "the first strike has lapsed", lost: edits{struck}, begun: edits{struck}, apart: 2 * time.Hour, used: 2, limit: 3, strikes: 1},
	} {
		begunAt := nanos(60) + int64(c.apart)
		now := begunAt + 60e9
		d := NewDraft(set, joined(t, set, 7, nanos(0), 1, c.lost...), now)
		d.Join(joined(t, set, 9, begunAt, 1, c.begun...), now)
		row := mustRead(t, set, d.Row(Stamp{Seq: 9, Writer: 7}, now).Bytes())
		var extra int64
		if row.personal != nil {
			extra, _ = row.personal.extraMessages(name, now)
		}
		r := &row.set.rulesOf(row.personal, nil, 0)[0]
		l := r.level(r, r.state(row.words), now)
		strikes, _ := set.countStrikes(row.words, now)
		own := row.OwnAt(now)
		if l.used != c.used || l.capacity != c.limit || extra != c.extra || strikes != c.strikes || own.IsExempt(false, now) != c.exempt {
			t.Errorf("%s: %d of %d used, %d extra, %d strikes, %+v", c.name, l.used, l.capacity, extra, strikes, own)
		}
	}
}

// A node has paid, in the row that was begun, for messages from before the lost row's last use. A
// third node doesn't count them as if they had come after that use.
func TestJoin_LateMessages(t *testing.T) {
	set := mustSet(t, bucket(10, 4*time.Second))
	lost := joined(t, set, 7, nanos(100), 6)
	begun := joined(t, set, 9, nanos(130), 1, func(d *Draft, at int64) {
		d.Owe(Owed{Spent: []Spent{{At: nanos(10), N: 3}}}, at)
	})
	d := NewDraft(set, lost, nanos(131))
	d.Join(begun, nanos(131))
	row := mustRead(t, set, d.Row(Stamp{Seq: 3, Writer: 7}, nanos(131)).Bytes())
	d = NewDraft(set, row, nanos(131))
	d.Owe(Owed{Since: lost, Spent: []Spent{{At: nanos(131), N: 1}}}, nanos(131))
	if got := d.levels(nanos(131))[0].used; got != 2 {
		t.Errorf("%d messages count, want the two that haven't been regained", got)
	}
}

// Rows that were written before version 5 have no era. A user who stays below the limit isn't
// refused after an outage during which such a row was known. With a user window, such a user sends
// at most as much in any period of its length.
func TestOwe_RowsWithoutEra(t *testing.T) {
	withoutEra := func(row *Row) *Row {
		row.era = era{}
		row = mustRead(t, row.set, row.append(nil, row.until))
		if row.era != (era{}) {
			t.Fatalf("a row without an era has %+v", row.era)
		}
		return row
	}
	for _, limit := range append(sevenLimits(), cascadeLimit(3, 4*time.Second, 2, 20*time.Second)) {
		set := mustSet(t, limit)
		refused := 0
		for seed := range uint64(200) {
			random := rand.New(rand.NewPCG(seed, 38))
			ideal := NewDraft(set, nil, nanos(0))
			ideal.judge(nanos(0), 1)
			first := NewDraft(set, nil, nanos(0))
			first.judge(nanos(0), 1)
			since := withoutEra(first.Row(Stamp{Seq: 1, Writer: 7}, nanos(0)))
			stored, now := since, int64(nanos(0))
			var spent []Spent
			sent := []int64{now}
			allowed := func(at int64) bool {
				if n := int(ideal.set.rules[0].capacity); limit.Algorithm == "user-window" && len(sent) >= n && at-sent[len(sent)-n] < int64(limit.Every) {
					return false
				}
				ok := ideal.judge(at, 1).Allowed
				if ok {
					sent = append(sent, at)
				}
				return ok
			}
			for seq := uint64(2); seq < 30; seq++ {
				now += 1 + random.Int64N(40e9)
				if !allowed(now) {
					continue
				}
				if random.IntN(2) == 0 {
					spent = append(spent, Spent{At: now, N: 1})
					continue
				}
				d := NewDraft(set, stored, now)
				d.Spend(Spent{At: now, N: 1})
				stored = mustRead(t, set, d.Row(Stamp{Seq: seq, Writer: 9}, now).Bytes())
			}
			if len(spent) == 0 {
				continue
			}
			d := NewDraft(set, stored, now)
			d.Owe(Owed{Since: since, Spent: spent}, now)
			for range 4 {
				if now += 1 + random.Int64N(10e9); allowed(now) {
					if !d.Copy().judge(now, 1).Allowed {
						refused++
					}
					d.Spend(Spent{At: now, N: 1})
				}
			}
		}
		if refused > 0 {
			t.Errorf("%s: %d messages of users below the limit are refused", limit.Algorithm, refused)
		}
	}
}

func FuzzOwed(f *testing.F) {
	set := fuzzedSet(f)
	var seeds [][]byte
	for i := range 3 {
		at := nanos(float64(i) * 100)
		d := NewDraft(set, nil, at)
		d.Spend(Spent{At: at, N: int64(i + 1)})
		if i == 1 {
			if _, err := d.Grant("daily", 3, at); err != nil {
				f.Fatal(err)
			}
		}
		row := d.Row(Stamp{Seq: uint64(i + 1), Writer: uint32(i)}, at)
		seeds = append(seeds, row.Bytes())
	}
	f.Add(seeds[0], seeds[1], seeds[2], int64(0), int64(5e9), int64(1), int64(2))
	f.Add(seeds[2], seeds[1], seeds[0], int64(60e9), int64(1), int64(40), int64(0))
	f.Add(seeds[0], []byte(nil), seeds[0], int64(0), int64(0), int64(3), int64(3))
	f.Fuzz(func(t *testing.T, stored, since, other []byte, from, step, n, charged int64) {
		var rows [3]*Row
		for i, data := range [][]byte{stored, since, other} {
			var err error
			if rows[i], err = ReadRow(set, nanos(5), data); err != nil {
				return
			}
		}
		from, step = min(max(0, from), nanos(day)), min(max(0, step), nanos(day))
		n, charged = min(max(1, n), MaxMessages), min(max(0, charged), MaxMessages)
		spent := []Spent{{At: from, N: n, Charged: charged}, {At: from + step, N: n}}
		for _, at := range []int64{from + step, max(rows[0].lastUse(), from)} {
			check := func(what string, raises bool, change func(d *Draft)) {
				d := NewDraft(set, rows[0], at)
				before := d.Copy()
				change(d)
				then := max(int64(before.row[wordLast]), int64(d.row[wordLast]), at)
				was, is := before.levels(then), d.levels(then)
				for i := range is {
					if is[i].used < 0 || is[i].capacity != was[i].capacity && raises {
						t.Fatalf("%s: %+v, before %+v", what, is[i], was[i])
					}
					if raises && is[i].used < was[i].used {
						t.Fatalf("%s: limit %d: %d used, before %d", what, i, is[i].used, was[i].used)
					}
				}
				seq := min(max(rows[0].Writes().Seq, rows[2].Writes().Seq)+1, maxSeq)
				if _, err := ReadRow(set, 0, d.Row(Stamp{Seq: seq, Writer: 5}, at).Bytes()); err != nil {
					t.Fatalf("%s: the row can't be read any more: %v", what, err)
				}
			}
			// The roles may change with the last message, so what may be used may change too.
			sameRoles := rows[0] == nil || set.rolesOf(rows[0].words) == 0
			check("Owe", sameRoles, func(d *Draft) {
				if over := d.Owe(Owed{Since: rows[1], Spent: slices.Clone(spent)}, at); over < 0 {
					t.Fatalf("overdrawn by %d", over)
				}
			})
			check("Owe after some was paid", sameRoles, func(d *Draft) { d.Owe(Owed{Since: rows[1], Paid: spent[:1], Spent: spent[1:]}, at) })
			if rows[2] == nil {
				continue
			}
			check("Adopt", false, func(d *Draft) { d.Adopt(rows[2], spent, at) })
			if rows[0] != nil {
				check("Join", false, func(d *Draft) { d.Join(rows[2], at) })
			}
		}
	})
}

// levels returns the levels of the row's limits.
func (d *Draft) levels(at int64) (all []level) {
	rules := d.spentRules()
	for i := range rules {
		all = append(all, rules[i].level(&rules[i], rules[i].state(d.row), at))
	}
	return all
}
