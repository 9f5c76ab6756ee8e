//go:build !race

package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// demoOutput calls begun with the last line of the demo's introduction.
type demoOutput struct {
	strings.Builder
	begun func(line string)
}

func (o *demoOutput) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "  curl ") {
		o.begun(string(p))
	}
	return o.Builder.Write(p)
}

// introduction matches the example with which the demo's introduction ends: a token, and the
// address of the dashboard.
var introduction = regexp.MustCompile(`"Authorization: (Bearer \w+)" "(\S+/)api/`)

// TestDemo_AddsUp checks the whole demo with its summary. The input requests a raid. The demo ends
// once a throttled message has been deleted.
func TestDemo_AddsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the demo for seconds")
	}
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ending sync.WaitGroup
	out := &demoOutput{begun: func(line string) {
		shown := introduction.FindStringSubmatch(line)
		ending.Go(func() {
			defer cancel()
			waittest.Until(t, func() bool {
				_, metrics := sendRequest(t, "GET", shown[2]+"metrics", "", "Authorization", shown[1])
				return strings.Contains(metrics, `chatguard_outcomes_total{action="delete",result="done"}`)
			})
		})
	}}
	o := demoOptions{listen: "127.0.0.1:0", seed: 3, raidEvery: duration(time.Hour)}
	err := runDemo(ctx, o, strings.NewReader("\n\n"), out)
	ending.Wait()
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var throttled, deleted, failed int
	for _, line := range strings.Split(out.String(), "\n") {
		fmt.Sscanf(line, "throttled %d", &throttled)
		fmt.Sscanf(line, "deleted %d", &deleted)
		fmt.Sscanf(line, "failed %d", &failed)
	}
	if throttled == 0 || deleted == 0 || failed > throttled/2 || !strings.Contains(out.String(), "record agrees") {
		t.Errorf("the demo ended with\n%s", out.String())
	}
}

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
