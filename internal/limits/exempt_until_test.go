package limits

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func ownExemption(e Exemption, until float64) Own {
	return Own{Exemption: e, ExemptUntil: nanos(until)}
}

func TestExemption_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		own    Own
		byRole bool
		exempt map[float64]bool // by the message's time
	}{
		"always":                     {ownExemption(Exempt, 600), false, map[float64]bool{0: true, 600 - 1e-9: true, 600: false, 6000: false}},
		"always, of a moderator":     {ownExemption(Exempt, 600), true, map[float64]bool{0: true, 600: true}},
		"always, with numbers":       {Own{Exemption: Exempt, ExemptUntil: nanos(600), Numbers: ownBurst(3).Numbers}, true, map[float64]bool{0: true, 600: false}},
		"never":                      {ownExemption(NotExempt, 600), false, map[float64]bool{0: false, 600: false}},
		"never, of a moderator":      {ownExemption(NotExempt, 600), true, map[float64]bool{0: false, 600 - 1e-9: false, 600: true}},
		"always, for good":           {Own{Exemption: Exempt}, false, map[float64]bool{0: true, 1e6: true}},
		"always, the clock put back": {ownExemption(Exempt, 600), false, map[float64]bool{-3600: true}},
	} {
		for at, want := range test.exempt {
			table := newTable(t, bucket(3, time.Hour))
			table.mustSetOwn(t, 0, test.own)
			if d := table.judge("7", Request{At: nanos(at), Cost: 1, Exempt: test.byRole}); d.Exempt != want {
				t.Errorf("%s, at %v s: exempt is %v", name, at, d.Exempt)
			}
		}
	}
}

// A late message counts at the time of its author's last message. An exemption that had ended by
// that time doesn't apply to the late message.
func TestExemption_LateMessage(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	table.mustSetOwn(t, 0, ownExemption(Exempt, 10))
	for _, step := range []struct {
		at     float64
		exempt bool
	}{{9, true}, {10, false}, {9, false}, {-51, true}} { // so early that the clock must have jumped back
		if d := table.judge("7", Request{At: nanos(step.at), Cost: 1}); d.Exempt != step.exempt {
			t.Errorf("at %v s: exempt is %v", step.at, d.Exempt)
		}
	}
}

func TestExemption_RetryWhenItReturns(t *testing.T) {
	for _, test := range []struct {
		own    Own
		byRole bool
		cost   int64
		retry  float64
	}{
		{ownExemption(NotExempt, 600), true, 3, 600},
		{ownExemption(NotExempt, 600), true, 9, 600}, // waiting would never help
		{ownExemption(NotExempt, 6000), true, 3, 3600},
		{ownExemption(NotExempt, 600), false, 3, 3600},
		{Own{Exemption: NotExempt}, true, 3, 3600},
		{Own{Exemption: NotExempt, ExemptUntil: nanos(600), Numbers: ownBurst(3).Numbers}, true, 3, 3600},
	} {
		table := newTable(t, bucket(3, time.Hour))
		table.mustSetOwn(t, 0, test.own)
		q := Request{At: nanos(0), Cost: 1, Exempt: test.byRole}
		table.judge("7", q)
		q.Cost = test.cost
		if d := table.judge("7", q); d.Allowed || d.RetryAt != nanos(test.retry) {
			t.Errorf("%+v, cost %d: retry at %v, want %v s", test, test.cost, d.RetryAt-nanos(0), test.retry)
		}
		for at, want := range map[int64]bool{nanos(test.retry) - 1: false, nanos(test.retry): true} {
			if q.At = at; table.Peek("7", &q).Allowed != want {
				t.Errorf("%+v, cost %d: allowed is %v at %d", test, test.cost, !want, at)
			}
		}
	}
}

func TestExemption_ShownAsInForce(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	own := Own{Exemption: Exempt, ExemptUntil: nanos(600), Timezone: "Asia/Tokyo"}
	table.mustSetOwn(t, 0, own)
	for at, want := range map[float64]Own{0: own, 600 - 1e-9: own, 600: {Timezone: "Asia/Tokyo"}} {
		if got := table.standing(at).Own; !reflect.DeepEqual(got, want) {
			t.Errorf("at %v s: explained as %+v", at, got)
		}
		if got := table.OwnOf("7", nanos(at)); !reflect.DeepEqual(got, want) {
			t.Errorf("at %v s: %+v", at, got)
		}
	}
}

func TestExemption_EndedIsForgotten(t *testing.T) {
	table := newTable(t, bucket(3, time.Second))
	table.mustSetOwn(t, 0, ownExemption(Exempt, 600))
	row := table.storedRow(t, givenRow)
	table.allDirty().Confirm()
	if table.forgets(t, row, nanos(600)-1) || !table.forgets(t, row, nanos(600)) {
		t.Error("not forgotten just when it ends")
	}
	for at, users := range map[float64]int{659.9: 1, 660: 0} {
		restored := newTable(t, bucket(3, time.Second))
		if err := restored.Restore(row, nanos(at)); err != nil || restored.Users() != users {
			t.Errorf("%d users are taken back at %v s, %v", restored.Users(), at, err)
		}
	}
	for i := range 10_000 { // new users come, and the row is dropped
		table.judge(fmt.Sprint("new", i), Request{At: nanos(661), Cost: 1})
	}
	if table.HasOwn() {
		t.Error("a row is kept for an exemption that is over")
	}
}

// Rows written before exemptions could end are read as exemptions without an end.
func TestExemption_Stored(t *testing.T) {
	for data, want := range map[string]Own{
		`{"exemption":1}`:                                    {Exemption: Exempt},
		`{"exemption":2,"timezone":"Asia/Tokyo"}`:            {Exemption: NotExempt, Timezone: "Asia/Tokyo"},
		`{"exemption":1,"exempt_until":1767225600000000005}`: {Exemption: Exempt, ExemptUntil: 1767225600000000005},
		// it has ended
		`{"exemption":2,"exempt_until":1,"timezone":"Etc/UTC"}`: {Timezone: "Etc/UTC"},
	} {
		table := newTable(t, bucket(3, time.Hour))
		at := time.Unix(1767225600, 0).UnixNano()
		must(t, table.Restore(StateRow{User: "7", Limit: givenRow, Data: append([]byte{stateVersion, givenCode}, data...)}, at))
		if got := table.OwnOf("7", at); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
		if row := table.storedRow(t, givenRow); want.ExemptUntil == at+5 && string(row.Data[2:]) != data {
			t.Errorf("%s is stored as %s", data, row.Data[2:])
		}
	}
}
