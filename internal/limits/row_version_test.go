package limits

import (
	"errors"
	"testing"
)

// TestReadRow_Version checks that only plausible versions are taken for those of later programs.
func TestReadRow_Version(t *testing.T) {
	for first, want := range map[byte]error{
		0: errStateBytes, rowVersion + 1: ErrRowVersion, maxRowVersion: ErrRowVersion, maxRowVersion + 1: errForeignRow, 'h': errForeignRow, '{': errForeignRow,
	} {
		if _, err := ReadRow(mustSet(t), 0, []byte{first, 'e', 'l', 'l', 'o'}); !errors.Is(err, want) {
			t.Errorf("version %d: %v, want %v", first, err, want)
		}
	}
}
