package fileaccess

import (
	"testing"
)

func TestAccess_Verb(t *testing.T) {
	t.Parallel()
	for access, want := range map[Access]string{
		{Read: true}: "read", {Write: true}: "changed", {Read: true, Write: true}: "read and changed",
	} {
		if got := access.Verb(); got != want || !access.Any() {
			t.Errorf("%v: %q, %v", access, got, access.Any())
		}
	}
	if (Access{}).Any() {
		t.Error("no access counts as some")
	}
}
