package access

import (
	"fmt"
	"testing"
)

func TestRejectedSecrets_Bounded(t *testing.T) {
	var s rejectedSecrets
	for i := range maxRejected + 1 {
		s.remember("192.0.2.1", fmt.Sprint(i), noon)
	}
	if len(s.until) != maxRejected || !s.has("192.0.2.1", "0", noon) || s.has("192.0.2.2", "0", noon) {
		t.Errorf("%d are remembered", len(s.until))
	}
	later := noon.Add(RejectedTime)
	s.remember("192.0.2.1", "later", later)
	if len(s.until) != 1 || !s.has("192.0.2.1", "later", later) {
		t.Errorf("later %d are remembered", len(s.until))
	}
}
