package limits

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// past is what some users did before a restart, and what a store kept of it.
type past struct {
	rt      *rapid.T
	limits  []Limit
	strikes Strikes
	table   *Table
	now     int64
	stored  map[string]StateRow
}

func drawPast(rt *rapid.T) *past {
	// The second time is so late that no month begins before 1970, which no stored row has.
	p := &past{rt: rt, stored: map[string]StateRow{}, now: rapid.SampledFrom([]int64{
		time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC).UnixNano(), 40*aDay + int64(4*time.Hour),
	}).Draw(rt, "beginning")}
	p.limits = drawLimits(rt, rapid.SampledFrom(algorithms).Draw(rt, "algorithm").name)
	for i := range p.limits {
		p.limits[i].Scope, p.limits[i].Text, p.limits[i].Strikes = PerUser, SameText{}, false
	}
	p.strikes = Strikes{
		Every: 10 * time.Second, Forget: rapid.SampledFrom([]time.Duration{30 * time.Minute, 0}).Draw(rt, "forget"),
		Practice: rapid.IntRange(0, 3).Draw(rt, "practice") == 0, Ladder: []int64{0, 60 * nanosPerSecond, UntilRetry},
	}
	p.table = p.newTable()
	for range rapid.IntRange(1, 40).Draw(rt, "steps") {
		p.now += rapid.SampledFrom([]int64{0, 1, 1e9, 4e9, 30e9, 700e9, 3600e9, 13 * 3600e9}).Draw(rt, "step")
		p.simulate(rapid.SampledFrom([]string{"7", "anna"}).Draw(rt, "user"))
	}
	p.store(p.table)
	return p
}

// newTable returns an empty table with the present limits.
func (p *past) newTable() *Table {
	return NewTable(mustCompile(p.rt, p.limits, p.strikes)[PerUser], 1<<30, new(Dropped))
}

// simulate simulates a message or an action by a moderator.
func (p *past) simulate(user string) {
	name := rapid.SampledFrom(p.limits).Draw(p.rt, "limit").Name
	switch rapid.IntRange(0, 20).Draw(p.rt, "what happens") {
	case 0:
		p.change()
		p.table.Change(mustCompile(p.rt, p.limits, p.strikes)[PerUser], p.now)
	case 1:
		p.table.Grant(user, name, 2, p.now)
	case 2:
		p.table.Reset(user)
	case 3:
		p.table.Refund(user, Refund{At: p.now, N: 1}, p.now)
	case 4:
		p.table.Pardon(user, Offence{ID: p.now, At: p.now}, p.now)
	case 5:
		own := rapid.SampledFrom([]Own{
			{}, {}, {Timezone: "Asia/Tokyo"}, {Exemption: NotExempt}, {Exemption: Exempt, ExemptUntil: p.now + 60e9}, {Exemption: NotExempt, ExemptUntil: p.now + 26*3600e9},
		}).Draw(p.rt, "own")
		if err := p.table.SetOwn(user, own, p.now); err != nil {
			p.rt.Fatal(err)
		}
	default:
		p.table.judge(user, Request{At: p.now, Cost: p.cost(), Roles: p.roles()})
	}
}

func (p *past) cost() int64 { return int64(rapid.IntRange(1, 4).Draw(p.rt, "cost")) }

func (p *past) roles() Roles {
	return rapid.SampledFrom([]Roles{{}, rolesOf("vip")}).Draw(p.rt, "roles")
}

// change gives limits other parameters, and removes one if there are several.
func (p *past) change() {
	p.limits = slices.Clone(p.limits)
	for i := range p.limits {
		if l := &p.limits[i]; rapid.Bool().Draw(p.rt, "another") {
			drawNumbers(p.rt, l)
			l.Every = drawEvery(p.rt)
			drawEveryOf(p.rt, l)
		}
	}
	if len(p.limits) > 1 && rapid.IntRange(0, 3).Draw(p.rt, "fewer") == 0 {
		p.limits = p.limits[1:]
	}
}

// store stores the changes of a table.
func (p *past) store(table *Table) {
	b := table.allDirty()
	for _, row := range b.Rows {
		p.stored[row.User+" "+row.Limit] = row
	}
	b.Confirm()
}

// restart returns a table as it is after a restart, without the given users.
func (p *past) restart(at int64, without map[string]bool) *Table {
	const neverBefore = -1
	table := p.newTable()
	for _, key := range slices.Sorted(maps.Keys(p.stored)) {
		if row := p.stored[key]; !without[row.User] {
			if err := table.restore(row, at, neverBefore); err != nil {
				p.rt.Fatal(err)
			}
		}
	}
	table.allDirty().Confirm()
	return table
}

// forgottenUsers returns the users whose rows are all forgotten, both by a table with these users
// and by one without them.
func (p *past) forgottenUsers(table *Table, at int64) map[string]bool {
	over := map[string]bool{}
	for _, row := range p.stored {
		before, known := over[row.User]
		over[row.User] = (before || !known) && table.forgets(p.rt, row, at)
	}
	return over
}

func TestForgotten_MakesNoDifference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPast(rt)
		if rapid.Bool().Draw(rt, "changed at the restart") {
			p.change()
		}
		at := p.now + rapid.SampledFrom([]int64{0, 1, 5e9, 60e9, 3600e9, 26 * 3600e9, 60 * 3600e9, 20 * 24 * 3600e9}).Draw(rt, "later")
		with := p.restart(at, nil)
		over := p.forgottenUsers(with, at)
		without := p.restart(at, over)
		for range 10 {
			for user, forgotten := range over {
				if !forgotten {
					continue
				}
				q := Request{At: at, Cost: p.cost(), Roles: p.roles()}
				if got, want := explanation(without, user, q), explanation(with, user, q); !reflect.DeepEqual(got, want) {
					rt.Fatalf("%s at %d: without the rows\n%+v, with them\n%+v", user, at, got, want)
				}
				if got, want := without.judge(user, q), with.judge(user, q); !equalDecisions(got, want) {
					rt.Fatalf("%s at %d: without the rows\n%+v, with them\n%+v", user, at, got, want)
				}
			}
			at += rapid.SampledFrom([]int64{0, 1, 1e9, 60e9, 7200e9, 20 * 3600e9}).Draw(rt, "gap")
		}
	})
}

// explanation returns the result of Explain in a comparable form.
func explanation(t *Table, user string, q Request) []string {
	d, levels, s := t.Explain(user, &q)
	d.Set, d.Limit, d.Series = nil, nil, 0
	told := []string{fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", s)}
	for _, l := range levels {
		name := l.Limit.name
		l.Limit = nil
		told = append(told, fmt.Sprintf("%s %+v", name, l))
	}
	return told
}

// Long after the last message, a store has been cleaned up at several restarts. Then it contains
// only rows of users with an override or with strikes that never lapse.
func TestForgotten_StoreShrinks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPast(rt)
		if rapid.Bool().Draw(rt, "changed at the restart") {
			p.change()
		}
		for range 3 {
			p.now += 40 * 24 * 3600e9
			table := p.newTable()
			for _, key := range slices.Sorted(maps.Keys(p.stored)) {
				if err := table.Restore(p.stored[key], p.now); err != nil {
					rt.Fatal(err)
				}
			}
			p.store(table)
			for key, row := range p.stored {
				if table.forgets(rt, row, p.now) {
					delete(p.stored, key)
				}
			}
		}
		table := p.restart(p.now, nil)
		for key, row := range p.stored {
			own := table.OwnOf(row.User, p.now)
			if s := table.standingOf(row.User, p.now); own.IsZero() && s.Strikes == 0 {
				rt.Errorf("%q is kept for ever: %q", key, row.Data)
			}
		}
	})
}

// standingOf returns a user's state beyond the limits.
func (t *Table) standingOf(user string, at int64) Standing {
	_, _, s := t.Explain(user, &Request{At: at, Cost: 1})
	return s
}
