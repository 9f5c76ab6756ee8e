package peers

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
)

// peer is another limiter.
type peer struct {
	name, version string
	// tests holds the facts in the peer's tests against chatguard.
	tests func(*facts)
}

var peers = []peer{
	{"go.uber.org/ratelimit", "0.3.1", uber},
	{"github.com/juju/ratelimit", "1.0.2", juju},
	{"github.com/clipperhouse/rate", "6020d83", clipperhouse},
	{"github.com/mennanov/limiters", "83bfe64", mennanov},
	{"bucket4j", "8.19.0", bucket4j},
	{"@upstash/ratelimit", "2.0.8", upstash},
	{"flask-limiter", "4.1.1", flask},
	{"golang.org/x/time/rate", "0.16.0", xtime},
	{"github.com/throttled/throttled/v2", "2.15.0", throttled},
	{"github.com/ulule/limiter/v3", "3.11.2", ulule},
	{"github.com/sethvargo/go-limiter", "0.7.1", golimiter},
	{"github.com/go-chi/httprate", "0.16.1", httprate},
	{"github.com/go-redis/redis_rate/v10", "10.0.1", redisrate},
	{"github.com/didip/tollbooth/v8", "8.0.1", tollbooth},
}

// TestPeers_FactsHold checks the facts in all peers' tests, and that docs/comparison.md says how
// many there are. With -v, it prints their numbers and the reasons for the differences.
func TestPeers_FactsHold(t *testing.T) {
	var table, notes strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	page, err := os.ReadFile("../../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(columns, "peer\tversion\thold\tdiffer\tnot expressible")
	var sum tally
	for _, p := range peers {
		var counted tally
		t.Run(p.name, func(t *testing.T) { p.tests(&facts{t, &counted}) })
		fmt.Fprintf(columns, "%s\t%s\t%d\t%d\t%d\n", p.name, p.version, counted.hold, counted.differ, counted.lacking)
		row := fmt.Sprintf("| %s | %s | %d | %d | %d |\n", p.name, p.version, counted.hold, counted.differ, counted.lacking)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/comparison.md lacks the row %s", row)
		}
		for _, note := range counted.notes {
			fmt.Fprintf(&notes, "%s: %d %s\n", p.name, note.n, note.reason)
		}
		sum.hold, sum.differ, sum.lacking = sum.hold+counted.hold, sum.differ+counted.differ, sum.lacking+counted.lacking
	}
	fmt.Fprintf(columns, "sum\t\t%d\t%d\t%d\n", sum.hold, sum.differ, sum.lacking)
	columns.Flush()
	t.Logf("\n%s\n%s", &table, &notes)
}
