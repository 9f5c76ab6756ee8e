package limits

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Up to seven roles have their place in the header. More take a word in each row.
func TestRoles_RowWidth(t *testing.T) {
	for n, more := range map[int]int{0: 0, 7: 0, 8: 1, 32: 1, 64: 1} {
		sets, err := Compile([]Limit{bucket(3, time.Second), dailyLimit(300, "", "")}, NewRoleList(manyRoles(n), ""), Strikes{})
		must(t, err)
		if got := sets[PerUser].width; got != 8+more {
			t.Errorf("%d roles: a row has %d words, want %d", n, got, 8+more)
		}
	}
}

// A role keeps its meaning by its name: in a table whose policy changes, in rows that are restored,
// and in rows that another node reads with another list.
func TestRoles_ChangeByName(t *testing.T) {
	limit := bucket(10, time.Hour)
	limit.Roles = map[string]Numbers{"role3": {Burst: 20}, "role60": {Burst: 30}}
	setOf := func(names []string) *Set {
		sets, err := Compile([]Limit{limit}, NewRoleList(names, "role5"), Strikes{})
		must(t, err)
		return sets[PerUser]
	}
	reversed := manyRoles(64)
	slices.Reverse(reversed)
	lists := [][]string{manyRoles(64), reversed, {"role60", "role3"}, {"role5", "role60", "other", "role3"}}
	rapid.Check(t, func(rt *rapid.T) {
		drawSet := func() *Set { return setOf(rapid.SampledFrom(lists).Draw(rt, "list")) }
		set := drawSet()
		role := rapid.SampledFrom([]string{"role3", "role60"}).Draw(rt, "role")
		roles := NewRoleList([]string{"unknown", role}, "").Of([]string{"unknown", role})
		table := NewTable(set, 1<<30, new(Dropped))
		table.judge("7", Request{At: nanos(0), Cost: 1, Roles: roles})
		draft := NewDraft(set, nil, nanos(0))
		JudgeDrafts([]*Draft{draft}, make([]map[string]int, 1), &Request{At: nanos(0), Cost: 1, Roles: roles}, new(Decision))
		row := draft.Row(Stamp{Seq: 1}, nanos(0))
		var stored []StateRow
		for range 3 {
			next := drawSet()
			if changed := table.allDirty().Rows; len(changed) > 0 {
				stored = changed
			}
			switch rapid.IntRange(0, 2).Draw(rt, "step") {
			case 0:
				table.Change(next, nanos(1))
			case 1:
				restored := NewTable(next, 1<<30, new(Dropped))
				for _, r := range stored {
					must(t, restored.Restore(r, nanos(1)))
				}
				table = restored
			case 2:
				read, err := ReadRow(next, nanos(1), row.Bytes())
				must(t, err)
				row = NewDraft(next, read, nanos(1)).Row(Stamp{Seq: 2}, nanos(1))
			}
		}
		var p place
		table.lock("7", &p)
		p.find()
		rules := p.shard.rulesOf(p.shard.row(p.slot))
		p.shard.mu.Unlock()
		want := limit.Roles[role].Burst
		if got := row.set.rulesOf(nil, nil, row.set.rolesOf(row.words)); rules[0].capacity != want || got[0].capacity != want {
			rt.Fatalf("%s has %d and %d, want %d", role, rules[0].capacity, got[0].capacity, want)
		}
	})
}

// The numbers of the highest role with numbers apply in each limit, however many roles and
// combinations of them there are.
func TestRoles_Precedence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := manyRoles(rapid.IntRange(0, MaxRoles).Draw(rt, "roles"))
		anyOf := func(label string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(append(names, "unknown")), 0, 20).Draw(rt, label)
		}
		var limits []Limit
		for i := range 3 {
			l := bucket(1000, time.Hour).withName("limit" + strconv.Itoa(i))
			l.Roles = map[string]Numbers{}
			for _, name := range anyOf("own numbers") {
				if name != "unknown" {
					l.Roles[name] = Numbers{Burst: int64(1 + slices.Index(names, name))}
				}
			}
			limits = append(limits, l)
		}
		list := NewRoleList(names, "role2")
		sets, err := Compile(limits, list, Strikes{})
		must(t, err)
		for range 20 {
			held := anyOf("held")
			roles := list.Everyone()
			for _, name := range held {
				roles = roles.With(name)
			}
			rules := sets[PerUser].rulesFor(roles.in(list))
			for i, l := range limits {
				want, role := int64(1000), ""
				for _, name := range names {
					if own, ok := l.Roles[name]; ok && (name == "role2" || slices.Contains(held, name)) {
						want, role = own.Burst, name
						break
					}
				}
				if got := sets[PerUser].RoleOf(l.Name, roles); rules[i].capacity != want || got != role {
					rt.Fatalf("limit %d for %v: %d by %q, want %d by %q", i, held, rules[i].capacity, got, want, role)
				}
			}
		}
	})
}

// A Set keeps a bounded number of variants, and is right beyond them.
func TestRoles_ManyVariants(t *testing.T) {
	var limits []Limit
	for i := range 10 { // each with a role of its own: 1024 combinations
		limits = append(limits, bucket(10, time.Hour).withName("limit"+strconv.Itoa(i)).withRole("role"+strconv.Itoa(i), Numbers{Burst: 20}))
	}
	sets, err := Compile(limits, NewRoleList(manyRoles(10), ""), Strikes{})
	must(t, err)
	for roles := range uint64(1 << 10) {
		for i, r := range sets[PerUser].rulesFor(roles) {
			if want := int64(10 + 10*(roles>>i&1)); r.capacity != want {
				t.Fatalf("roles %b: limit %d has %d, want %d", roles, i, r.capacity, want)
			}
		}
	}
	if n := len(*sets[PerUser].variants.known.Load()); n != maxVariants {
		t.Errorf("%d variants are kept", n)
	}
}

func TestIsRoleName(t *testing.T) {
	for name, want := range map[string]bool{
		"vip": true, "chat:write": true, "A-1_b": true, "50": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a.b": false, "a,b": false, `"`: false, "ü": false, "a\n": false, "\xff": false,
	} {
		if got := IsRoleName(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// Roles that can't be read are refused, whatever the list knows.
func TestSpending_InvalidRoles(t *testing.T) {
	set := mustSet(t, bucket(3, time.Second))
	for name, data := range map[string][]byte{
		"too many":  {2, 1, 0, MaxRoles + 1},
		"too long":  append([]byte{2, 1, 0, 1, MaxRoleName + 1}, make([]byte, 80)...),
		"cut off":   {2, 1, 0, 1, 5, 'a'},
		"no number": {2, 1, 0, 0x80},
	} {
		if _, err := set.Forgotten(StateRow{User: "7", Limit: "burst", Data: data}, nanos(0)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
