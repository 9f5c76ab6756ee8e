package redisstore

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestOpen_Bounds checks that values out of bounds are refused with the bound.
func TestOpen_Bounds(t *testing.T) {
	for _, test := range []struct {
		opts Options
		want string // empty if it is allowed
	}{
		{Options{Timeout: 1}, "Timeout is 1ns: set it from 1ms to 10s"},
		{Options{Timeout: -1}, "Timeout is -1ns: set it from 1ms to 10s"},
		{Options{Timeout: 10*time.Second + 1}, "from 1ms to 10s"},
		{Options{Timeout: time.Millisecond}, ""},
		{Options{Timeout: 10 * time.Second}, ""},
		{Options{Interval: 20*time.Millisecond - 1}, "Interval is 19.999999ms: set it from 20ms to 1m0s"},
		{Options{Interval: time.Minute + 1}, "from 20ms to 1m0s"},
		{Options{Interval: 20 * time.Millisecond}, ""},
		{Options{Interval: time.Minute}, ""},
		{Options{Node: "a b"}, `Options.Node "a b" may only have letters, digits, '_', '.' and '-'`},
		{Options{Node: "a\n\x1b[31m"}, `Options.Node "a\n\x1b[31m" may only`},
		{Options{Node: "ä"}, "may only have letters"},
		{Options{Node: strings.Repeat("n", 101)}, "Options.Node has 101 bytes: use up to 100"},
		{Options{Node: strings.Repeat("n", 100)}, ""},
		{Options{Node: "A-1_b.c"}, ""},
		{Options{Namespace: strings.Repeat("n", 101)}, "the namespace has 101 bytes"},
	} {
		test.opts.Logger = quiet()
		s, err := Open(context.Background(), "redis://127.0.0.1:1", &test.opts)
		if err == nil {
			s.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.opts, err, test.want)
		}
	}
	if name := defaultNode(); checkName("node", name) != nil {
		t.Error(name)
	}
}
