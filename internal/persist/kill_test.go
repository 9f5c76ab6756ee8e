package persist

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

// livesEach is how often the child is killed per database.
const livesEach = 6

var kills = flag.Int("kills", 18, "how often the test of killed processes kills one; with -short at most 3 times")

// record is what a child printed until it was killed.
type record struct {
	checked, accepted map[string]int // messages by user: maximum and minimum stored
	judged, throttled int            // throttled messages: maximum and minimum stored
	entries           []string       // those that were certainly written
	did               [][2]string    // kind, and which user
}

// readRecord summarizes the lines. Everything done before the last completed flush began must be
// stored. Anything that had only begun may be stored.
func readRecord(lines []string) *record {
	r := &record{checked: map[string]int{}, accepted: map[string]int{}}
	certain, flushed := len(lines), ""
	for certain > 0 && flushed == "" {
		certain--
		flushed, _ = strings.CutPrefix(lines[certain], "flushed ")
		if flushed == lines[certain] {
			flushed = ""
		}
	}
	for certain > 0 && lines[certain] != "flush "+flushed {
		certain--
	}
	for i, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch written := i < certain; {
		case kind == "check":
			r.checked[rest]++
		case kind == "accepted" && written:
			r.accepted[rest]++
		case kind == "judging":
			r.judged++
		case kind == "entry" && written:
			r.throttled++
			r.entries = append(r.entries, rest)
		case kind == "did":
			what, whom, _ := strings.Cut(rest, " ")
			r.did = append(r.did, [2]string{what, whom})
		}
	}
	return r
}

// totals are the database's contents from all lives so far.
type totals struct {
	spent    map[string][]int // by user, in each limit
	entries  int
	timeline int
}

// A process killed at any moment leaves a database that opens. The database contains everything up
// to the start of the last completed flush, and every acknowledged change. It contains nothing that
// didn't happen.
func TestKill_LosesLittleInventsNothing(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	changes, messages := 0, 0
	planned := *kills
	if testing.Short() {
		planned = min(planned, 3)
	}
	for left := planned; left > 0; left -= livesEach {
		path := databasePath(t)
		var before totals
		var did [][2]string
		for run := range min(left, livesEach) {
			c := startChild(t, "live", path, fmt.Sprint(killRun, "=", run))
			lines := c.Until(t, "flushed", random.IntN(12), 1+random.IntN(300))
			r := readRecord(append(lines, c.Kill(t)...))
			did = append(did, r.did...)
			before = examineDatabase(t, path, run, r, before, did)
		}
		changes, messages = changes+len(did), messages+before.timeline
	}
	t.Logf("%d acknowledged changes, %d messages", changes, messages)
	if changes < planned && !testing.Short() {
		t.Error("too few changes for a test")
	}
}

// examineDatabase compares the database with the record of the life that has just ended, and
// returns its contents.
func examineDatabase(t *testing.T, path string, run int, r *record, before totals, did [][2]string) totals {
	t.Helper()
	s := open(t, path, &Options{Now: at(killTime(run))})
	g := guardOf(t, s, killPolicy())
	after := totals{spent: map[string][]int{}, entries: s.count(t, "SELECT count(*) FROM journal"), timeline: s.count(t, "SELECT count(*) FROM timeline")}
	for user := range killUsers {
		after.spent[fmt.Sprint("u", user)] = spentOf(t, g, fmt.Sprint("u", user), run)
	}
	before.check(t, run, r, after)
	for _, id := range r.entries {
		if s.count(t, "SELECT count(*) FROM journal WHERE id = ?", id) != 1 {
			t.Errorf("run %d: entry %s is missing", run, id)
		}
	}
	for i, d := range did {
		if d[0] != "code" || i >= len(did)-len(r.did) { // a code can be used only once
			assertStored(t, s, g, d[0], d[1], run)
		}
	}
	wantRolledUp(t, s)
	must(t, s.Close())
	return after
}

// check compares the data that a life added with the record of that life.
func (before totals) check(t *testing.T, run int, r *record, after totals) {
	t.Helper()
	accepted, checked := 0, 0
	for user, inLimits := range after.spent {
		for i, spent := range inLimits {
			if before.spent != nil {
				spent -= before.spent[user][i]
			}
			if spent < r.accepted[user] || spent > r.checked[user] {
				t.Errorf("run %d: user %s spent %d in limit %d; %d were accepted before the last flush, %d sent", run, user, spent, i, r.accepted[user], r.checked[user])
			}
		}
		accepted, checked = accepted+r.accepted[user], checked+r.checked[user]
	}
	// Every pardon also has an entry, and every reset a message; one change may be in progress.
	changes := len(r.did) + 4
	if n := after.entries - before.entries; n < r.throttled || n > r.judged+changes {
		t.Errorf("run %d: %d entries; %d were made before the last flush, %d at most", run, n, r.throttled, r.judged+changes)
	}
	if n := after.timeline - before.timeline; n < accepted+r.throttled || n > checked+r.judged+changes {
		t.Errorf("run %d: the timeline has %d messages more; %d were sent before the last flush, %d at most", run, n, accepted+r.throttled, checked+r.judged+changes)
	}
}

func mustExplain(t *testing.T, g *chatguard.Guard, user string, run int) limitinfo.Explanation {
	t.Helper()
	e, err := limitinfo.Explain(t.Context(), g, message(user, killTime(run)))
	must(t, err)
	return e
}

// spentOf returns the user's usage of each limit.
func spentOf(t *testing.T, g *chatguard.Guard, user string, run int) (spent []int) {
	t.Helper()
	for _, l := range mustExplain(t, g, user, run).Limits {
		spent = append(spent, l.Used)
	}
	return spent
}

// assertStored checks that an acknowledged change is stored.
func assertStored(t *testing.T, s *Store, g *chatguard.Guard, kind, whom string, run int) {
	t.Helper()
	var held bool
	switch kind {
	case "policy":
		held = s.count(t, "SELECT count(*) FROM revision WHERE channel_id = 'c2' AND number = ?", whom) == 1
	case "setting":
		held = s.count(t, "SELECT count(*) FROM setting WHERE channel_id = 'c2' AND name = ? AND ? LIKE value || '-%'", whom, whom) == 1
	case "code":
		_, _, err := s.Tokens.RedeemCode(ctx, whom)
		held = err == nil
	default:
		e := mustExplain(t, g, whom, run)
		daily := e.Limits[0]
		own, err := g.UserOverride(t.Context(), e.Verdict.Key())
		must(t, err)
		held = s.count(t, "SELECT count(*) FROM audit WHERE action = ? AND user_id = ?", kind, whom) == 1 && map[string]bool{
			"grant":    daily.Granted == 5,
			"override": daily.Own && own.Timezone == "Asia/Tokyo",
			"reset":    daily.Used == 0,
			"pardon":   e.Strikes == 0,
		}[kind]
	}
	if !held {
		t.Errorf("run %d: the %s of %s was acknowledged and is gone", run, kind, whom)
	}
}
