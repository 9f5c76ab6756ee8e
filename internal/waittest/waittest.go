// Package waittest waits in tests for what other goroutines and programs do.
package waittest

import (
	"context"
	"testing"
	"time"
)

// patience is how long a condition may take. It only matters if the program is broken.
const patience = 30 * time.Second

// Until waits until holds returns true. It calls holds about every millisecond. If that takes more
// than half a minute, or the test ends, Until fails the test.
func Until(t testing.TB, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("timed out")
		}
	}
}
