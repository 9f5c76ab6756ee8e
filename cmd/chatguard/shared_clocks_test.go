//go:build clocksteps && unix

package main

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/redistest"
)

// Nodes whose own clocks are wrong allow together what one would, also after a clock has jumped.
func TestShared_NodeClocks(t *testing.T) {
	t.Parallel()
	binary := buildStepped(t)
	shapes := []struct{ users, each int }{{100, 6}, {20, 200}}
	if *whole {
		shapes = append(shapes, struct{ users, each int }{3_000, 4})
	}
	for _, off := range []time.Duration{5 * time.Second, -5 * time.Second, 90 * time.Second, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			server := redistest.Start(t)
			clocks := []*evening{{scene: &scene{T: t}}, {scene: &scene{T: t}}}
			tables := []string{sharedTable(server, "node-0"), sharedTable(server, "node-1")}
			daily := "[[limit]]\nname = \"daily\"\nalgorithm = \"daily-window\"\nmessages = 300\n"
			nodes := startRooms(t, roomsWith(3, "1000h", daily), tables, func(i int, configuration string) *process {
				clocks[i].clock = filepath.Join(t.TempDir(), "clock")
				clocks[i].set(time.Duration(i) * off)
				return startBinary(t, binary, configuration, steppedBy+"="+clocks[i].clock, "CHATGUARD_WEB_TOKEN="+webToken)
			})
			for i, n := range nodes {
				metrics := n.metrics()
				seconds, bound := findMetric(t, metrics, "chatguard_shared_clock_offset_seconds"), findMetric(t, metrics, "chatguard_shared_clock_error_seconds")
				if want := -float64(i) * off.Seconds(); math.Abs(seconds-want) > bound+0.001 {
					t.Fatalf("the server's clock is %.3f s ahead of node-%d's, with an error of %.3f s; want %.3f s", seconds, i, bound, want)
				}
			}
			for at, shape := range shapes {
				prefix := fmt.Sprint("shape-", at, "-")
				if allowed := hammer(t, nodes, prefix, shape.users, shape.each); allowed != 3*shape.users {
					t.Errorf("%d users × %d: %d are allowed, want %d", shape.users, shape.each, allowed, 3*shape.users)
				}
			}
			// Both clocks jump, while users write.
			clocks[0].set(off)
			clocks[1].set(-off)
			if allowed := hammer(t, nodes, "shape-0-", 100, 20); allowed != 0 {
				t.Errorf("after the jump, %d more are allowed", allowed)
			}
			if allowed := hammer(t, nodes, "later-", 100, 6); allowed != 300 {
				t.Errorf("after the jump, %d are allowed, want 300", allowed)
			}
			stopAll(t, nodes)
		})
	}
}
