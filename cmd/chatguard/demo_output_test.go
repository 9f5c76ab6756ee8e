//go:build !race

package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestDemo_OtherMachines checks that the demo offers no sign-in with the simulated Twitch to
// machines that can't reach it, and says that they reach the dashboard.
func TestDemo_OtherMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the demo for seconds")
	}
	t.Parallel()
	for listen, open := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &demoOutput{begun: func(string) { cancel() }}
		if err := runDemo(ctx, demoOptions{listen: listen, seed: 3, raidEvery: duration(time.Hour)}, strings.NewReader(""), out); err != nil {
			t.Fatalf("%s: %v\n%s", listen, err, out.String())
		}
		for text, want := range map[string]bool{
			"Dashboard: http://127.0.0.1:":                    true,
			"Other machines can reach it without encryption.": open,
			"sign in with Twitch":                             !open,
			"/viewer/":                                        !open,
		} {
			if strings.Contains(out.String(), text) != want {
				t.Errorf("%s: %q is in the output: %v, want %v\n%s", listen, text, !want, want, out.String())
			}
		}
	}
}
