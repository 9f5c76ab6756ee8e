package limits

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWorkedExamples plays the examples of docs/limits.md. At each wait, the throttled message
// would pass, and not 1 ns sooner. TestSequences_MatchOracle tests everything else.
func TestWorkedExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/limits.md")
	must(t, err)
	message := regexp.MustCompile(`(?:(\d+) )?(?:(●|◐)(?: in (\d+))?(?: × (\d+))?|⊖ (\d+))`)
	for _, limit := range []Limit{
		bucket(3, 4*time.Second),
		leakyLimit(time.Second, 2),
		window("fixed-window", 50, time.Minute),
		window("sliding-window", 5, 10*time.Second),
		window("sliding-log", 2, 10*time.Second),
		window("user-window", 2, 10*time.Second),
		cascadeLimit(3, 4*time.Second, 2, 20*time.Second),
	} {
		t.Run(limit.Algorithm, func(t *testing.T) {
			example := regexp.MustCompile(`(?m)^    ` + limit.Algorithm + `, .*?  +(\d.*)$`).FindSubmatch(page)
			if example == nil {
				t.Fatal("the page has no example")
			}
			messages := regexp.MustCompile(`\([^)]*\)`).ReplaceAll(example[1], nil)
			if unknown := strings.TrimSpace(message.ReplaceAllString(string(messages), "")); unknown != "" {
				t.Fatalf("the test doesn't know %q", unknown)
			}
			table, at := newTable(t, limit), 0.0
			for _, m := range message.FindAllStringSubmatch(string(messages), -1) {
				number := func(group int, otherwise float64) float64 {
					if n, err := strconv.ParseFloat(m[group], 64); err == nil {
						return n
					}
					return otherwise
				}
				at = number(1, at)
				if m[5] != "" {
					run(t, table, []step{{at: at, retry: number(5, 0)}})
					continue
				}
				for range int(number(4, 1)) {
					d := table.send(at, 1)
					if leaves := nanos(at + number(3, 0)); !d.Allowed || d.Low != (m[2] == "◐") || d.LeaveAt != leaves {
						t.Errorf("%s: %+v", m[0], d)
					}
				}
			}
		})
	}
}
