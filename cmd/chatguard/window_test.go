//go:build !race

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestKeepWindow checks that the window of a double-click stays until Enter is pressed.
func TestKeepWindow(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := strings.NewReader("\nmore")
	keepWindow(in, &out)
	if !strings.Contains(out.String(), "Press Enter") {
		t.Errorf("it says %q", out.String())
	}
	if in.Len() == len("\nmore") {
		t.Error("it waits for nothing")
	}
}
