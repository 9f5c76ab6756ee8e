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

func TestExemption_ShownAsInForce(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	own := Own{Exemption: Exempt, ExemptUntil: nanos(600), Timezone: "Asia/Tokyo"}
	table.mustSetOwn(t, 0, own)
	for at, want := range map[float64]Own{0: own, 600 - 1e-9: own, 600: {Timezone: "Asia/Tokyo"}} {
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
