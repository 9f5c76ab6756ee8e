package main

import (
	"strings"
	"testing"
	"time"
)

func TestProgress_OutsideTerminal(t *testing.T) {
	for ticks, want := range map[int]string{0: "", 9: "", 10: "7 rows so far\n", 19: "7 rows so far\n", 20: "7 rows so far\n7 rows so far\n", 39: "7 rows so far\n7 rows so far\n"} {
		var out strings.Builder
		clock, done, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			showProgress(&out, func() string { return "7 rows" }, clock, done)
		}()
		for range ticks {
			clock <- time.Time{}
		}
		close(done)
		<-ended
		if out.String() != want {
			t.Errorf("after %d ticks: %q, want %q", ticks, out.String(), want)
		}
	}
}

func TestByteCount(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1250: "1.2 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 3_200_000_000: "3.2 GB", 5e15: "5000.0 TB",
	} {
		if got := byteCount(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
