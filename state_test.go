package chatguard

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard/state"
)

func TestForgotten_Rows(t *testing.T) {
	limits := func(p *Policy) { p.Limits = append(p.Limits, perChannelLimit(2), everywhereLimit(2), overallLimit(2)) }
	g := newEnforcingGuard(t, limits, nil)
	for range 4 {
		mustCheck(t, g, messageFrom("7", 0)) // the third exceeds the channel's limit, which gives no strike
	}
	costly := messageFrom("7", 0)
	costly.Cost = 4
	mustCheck(t, g, costly)
	rows := dirtyRows(g)
	ends := map[string]time.Duration{
		"burst": 8 * time.Second, "daily": 36 * time.Hour, "all": 2 * time.Hour, "abroad": time.Hour, "server": time.Hour, "": 30 * time.Minute,
	}
	if len(rows) != len(ends) {
		t.Fatalf("%d rows, want %d", len(rows), len(ends))
	}
	for name, asked := range map[string]*Guard{
		"the same": g, "one that has seen nobody": newEnforcingGuard(t, limits, nil), "without those limits": newEnforcingGuard(t, func(p *Policy) { p.Limits = p.Limits[:0] }, nil),
	} {
		for _, row := range rows {
			end := monday.Add(ends[row.Limit])
			if row.Limit == "" && asked != g {
				end = end.Add(unknownStays)
			}
			for late, want := range map[time.Duration]bool{-1: false, 0: true} {
				if over, err := asked.State().Forgotten(row, end.Add(late)); over != want || err != nil {
					t.Errorf("%s: row %q, %d ns after its end: forgotten is %v, error %v", name, row.Limit, late, over, err)
				}
			}
		}
		if name == "one that has seen nobody" && asked.channels.known.find("1") != nil {
			t.Error("to ask makes a channel")
		}
	}
}

func TestForgotten_UnreadableRows(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	mustCheck(t, g, messageFrom("7", 0))
	row := dirtyRows(g)[0]
	if _, err := g.State().Forgotten(row, time.Time{}); !errors.Is(err, errTime) {
		t.Errorf("no time: error %v", err)
	}
	row.Data = row.Data[:3]
	if over, err := g.State().Forgotten(row, monday.AddDate(1, 0, 0)); over || err == nil {
		t.Errorf("half a row: forgotten is %v, error %v", over, err)
	}
	row.UserID = string(make([]byte, maxID+1))
	if _, err := g.State().Forgotten(row, monday); !errors.Is(err, errLongID) {
		t.Errorf("a long ID: error %v", err)
	}
}

func TestSetDegraded_Verdicts(t *testing.T) {
	g, ctx := newEnforcingGuard(t, nil, nil), context.Background()
	for _, degraded := range []bool{false, true, true, false} {
		g.State().SetDegraded(degraded)
		v := mustCheck(t, g, messageFrom("7", 0))
		peeked, err := g.Peek(ctx, messageFrom("7", 0))
		must(t, err)
		_, taken, err := g.CheckUpTo(ctx, messageFrom("7", 0, RoleModerator))
		must(t, err)
		all := make([]Verdict, 2)
		must(t, g.CheckAll(ctx, []Message{messageFrom("7", 0), messageFrom("8", 0)}, all))
		for name, v := range map[string]Verdict{"Check": v, "Peek": peeked, "Take": taken, "CheckAll": all[0], "CheckAll's last": all[1]} {
			if v.Degraded != degraded {
				t.Errorf("%s: degraded is %v, want %v", name, v.Degraded, degraded)
			}
		}
	}
}

func TestDirty_RowsOfAllTables(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = append(p.Limits, perChannelLimit(2), everywhereLimit(2), overallLimit(2)) }, nil)
	mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, inChannel("2", messageFrom("7", 0)))
	b := g.State().Dirty()
	rows := slices.Collect(b.Rows())
	if len(rows) != 2*3+2 { // the limits burst, daily and all in two channels, plus abroad and server
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	kept := make([]string, len(rows))
	for i, row := range rows {
		kept[i] = string(row.Data)
	}
	b.Release()
	for range 3 {
		mustCheck(t, g, messageFrom("8", 0))
		mustCheck(t, g, messageFrom("9", 0))
	}
	confirmDirty(g)
	for i, row := range rows {
		if string(row.Data) != kept[i] {
			t.Errorf("row %+v has changed under its holder", row)
		}
	}
}

func TestDirtyAll(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = append(p.Limits, perChannelLimit(9), everywhereLimit(9), overallLimit(9)) }, nil)
	mustCheck(t, g, messageFrom("7", 0))
	mustCheck(t, g, messageFrom("8", 0))
	first := g.State().Dirty()
	all := len(slices.Collect(first.Rows()))
	g.State().DirtyAll() // while a store writes
	first.Confirm()
	second := g.State().Dirty()
	if n := len(slices.Collect(second.Rows())); n != all {
		t.Errorf("%d rows, want all %d again", n, all)
	}
	second.Confirm()
	if rest := dirtyRows(g); len(rest) != 0 {
		t.Errorf("%d rows, although all were confirmed", len(rest))
	}
}

// A batch that wasn't read to its end can't be confirmed.
func TestBatch_ReadInPart(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = append(p.Limits, everywhereLimit(9)) }, nil)
	for i := range 5 {
		mustCheck(t, g, messageFrom(strconv.Itoa(i), 0))
	}
	all := g.State().Dirty().Len()
	for read := range all {
		b := g.State().Dirty()
		n := 0
		for range b.Rows() {
			if n++; n > read {
				break
			}
		}
		b.Confirm()
	}
	g.State().Dirty().Confirm() // none is read
	if rows := dirtyRows(g); len(rows) != all || all != 5*3 {
		t.Errorf("%d rows, want all %d again", len(rows), all)
	}
}

// dirtyRows returns the rows of a batch that is never confirmed.
func dirtyRows(g *Guard) []state.Row { return slices.Collect(g.State().Dirty().Rows()) }

// confirmDirty confirms all state, as a store does.
func confirmDirty(g *Guard) {
	b := g.State().Dirty()
	for range b.Rows() {
	}
	b.Confirm()
}

func TestMemory_Bounded(t *testing.T) {
	g := newEnforcingGuard(t, nil, &Options{MaxMemory: 100_000}) // about 1,000 users with such IDs
	for i := range 20_000 {
		m := messageFrom("invented"+string(rune('a'+i%26))+time.Duration(i).String(), float64(i)/1000)
		mustCheck(t, g, m)
	}
	m := g.Memory()
	if m.Users < 800 || m.Users > 1300 || m.Evicted < 18_000 || m.Held != 0 {
		t.Errorf("after 20,000 invented users: %+v", m)
	}
}

// Texts that nobody repeats are evicted and counted apart from users.
func TestMemory_Texts(t *testing.T) {
	log := SlidingLogLimit("again", 1, time.Hour)
	log.Per = PerUserText
	g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{log} }, &Options{MaxMemory: 500_000}) // about 1,000 texts
	for i := range 20_000 {
		m := messageFrom("7", float64(i)/1000)
		m.Text = "the invented text number " + strconv.Itoa(i)
		mustCheck(t, g, m)
	}
	m := g.Memory()
	if m.Users != 1 || m.Forgotten+m.Evicted+m.Held != 0 || m.Texts < 800 || m.Texts > 1300 || int64(m.Texts)+m.TextsEvicted != 20_000 {
		t.Errorf("after 20,000 texts of one user: %+v", m)
	}
	must(t, g.SetPolicy(DefaultPolicy()))
	if m := g.Memory(); m.Texts != 0 {
		t.Errorf("without limits on repeated text: %+v", m)
	}
}
