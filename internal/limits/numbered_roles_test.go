package limits

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"
)

// usedBucket returns a token bucket's stored usage without its roles, which are given: 2 of 5.
func usedBucket(version byte, roles []byte) []byte {
	data := append([]byte{version, 1, 0}, roles...)
	return appendNumbers(data, 5, uint64(4*time.Second), uint64(nanos(10)), uint64(nanos(18)))
}

// TestRestore_NumberedRoles checks that usage from before roles had names is restored, with the
// numbers of the user's role.
func TestRestore_NumberedRoles(t *testing.T) {
	limit := bucket(3, 4*time.Second).withRole("subscriber", Numbers{Burst: 5}).withRole("vip", Numbers{Burst: 9})
	for _, test := range []struct {
		bits  uint64
		roles Roles
	}{{0, rolesOf()}, {1 << 1, rolesOf()}, {1 << 2, rolesOf("subscriber")}, {1<<2 | 1<<1 | 1<<0, rolesOf("subscriber")}, {1<<3 | 1<<2, rolesOf("vip", "subscriber")}} {
		old, named := newTable(t, limit), newTable(t, limit)
		must(t, old.Restore(StateRow{User: "7", Limit: limit.Name, Data: usedBucket(bitsVersion, appendNumbers(nil, test.bits))}, nanos(10)))
		must(t, named.Restore(StateRow{User: "7", Limit: limit.Name, Data: usedBucket(stateVersion, test.roles.append(nil))}, nanos(10)))
		q := Request{At: nanos(11), Cost: 1, Roles: test.roles}
		if got, want := old.judge("7", q), named.judge("7", q); old.usage(t, 11, limit.Name) < 2 || got.Allowed != want.Allowed || got.Remaining != want.Remaining {
			t.Errorf("roles %b: allowed %v with %d left, want %v with %d", test.bits, got.Allowed, got.Remaining, want.Allowed, want.Remaining)
		}
	}
	table := newTable(t, limit)
	if err := table.Restore(StateRow{User: "7", Limit: limit.Name, Data: usedBucket(bitsVersion, appendNumbers(nil, maxRoles+1))}, nanos(10)); err == nil {
		t.Error("roles beyond the seventh bit are restored")
	}
}

// TestReadRow_NumberedRoles checks that a row in the shared store from before roles had names is
// read, and is written with names.
func TestReadRow_NumberedRoles(t *testing.T) {
	set := mustSet(t, bucket(3, 4*time.Second).withRole("vip", Numbers{Burst: 6}))
	d := NewDraft(set, nil, nanos(0))
	d.Spend(Spent{At: nanos(0), N: 2, Roles: rolesOf("vip")})
	want := d.Row(Stamp{Seq: 1}, nanos(0))
	named := want.Bytes()
	in := rowReader{data: named}
	h, err := in.header(set.roles)
	must(t, err)
	rest := named[in.at:]
	old := binary.LittleEndian.AppendUint32(appendNumbers([]byte{1}, h.writes.Seq), h.writes.Writer)
	old = appendNumbers(old, 1, 0, uint64(h.kept), uint64(h.last), uint64(h.series)<<rolesInMeta|1<<3) // one write, no turns before
	old = append(old, h.flags)
	got, err := ReadRow(set, 0, append(old, rest...))
	must(t, err)
	if !reflect.DeepEqual(got.words, want.words) {
		t.Errorf("got  %x\nwant %x", got.words, want.words)
	}
	if WritesOf(got.data) != want.Writes() {
		t.Errorf("writes %v, want %v", WritesOf(got.data), want.Writes())
	}
}
