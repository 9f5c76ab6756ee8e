// Command bench compares the cost of a chatguard decision with Go's other keyed limiters, in one
// run. It is a separate module, so that the other limiters don't become dependencies of chatguard.
// It uses only chatguard's public API.
//
// go run . [-users n] [-draws n] [-rounds n] [-ids stream|scattered] [-refill d] [-procs 1,2]
// [-only regexp] [-markdown]
//
// All contestants share these conditions:
//
//   - Messages. A sequence of user IDs is drawn beforehand, uniformly or from a Zipf distribution
//     (s = 1.1). Every contestant gets it from the beginning, and one round goes through it once.
//     So all contestants make the same decisions, as the column "passed" shows.
//   - IDs in memory. With -ids stream, the default, the bytes of the IDs follow one another in
//     message order, as a connection delivers them. With -ids scattered there is one string per
//     user, allocated in random order. Reading the ID is then itself a cache miss, the same for all
//     contestants. Keys that a limiter has kept since before the measurement have other addresses.
//   - Users. All users are present before the measurement, in an order unrelated to how often they
//     write.
//   - Calls. A contestant gets 16 messages per call of an interface method and checks them one
//     after another. The call costs very little, and the same for every contestant.
//   - Memory. A round builds each contestant again, in shuffled order, with no other one on the
//     heap. The fastest round counts, because other programs disturb it least.
//
// Decisions on one user are measured apart, and so is middleware for HTTP: one request after
// another from one address, without a server. All of them pass, or all of them are refused. The
// contestants take turns in short laps, and the fastest lap counts. Each middleware sets its usual
// headers.
//
// chatguard judges whole Message values, which are built in the loop. It uses the default policy
// with enforcement on, so it handles two limits, roles and strikes, and returns a verdict. Each of
// the other limiters enforces one limit and returns only whether a message passed. The limit is 3
// messages at once and one per refill, or the nearest setting that the limiter offers.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/bench/internal/report"
	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// settings holds the command-line options.
type settings struct {
	users, draws, rounds int
	layout               layout
	refill               time.Duration
	procs                []int
	only                 *regexp.Regexp
	out                  io.Writer
	markdown             bool
}

func main() {
	log.SetFlags(log.Ltime) // progress, on standard error
	s, err := parse(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(s.out, "%s\n%d users, %d messages a round, %d rounds, refill %v; IDs in memory: %s, %s\n",
		report.Machine(), s.users, s.draws, s.rounds, s.refill, s.layout, s.layout.meaning())
	crowd := sequence.Crowd(s.users)
	// Memory comes first, while the heap is otherwise empty.
	for _, section := range []func(*settings, []uint64) error{measureMemory, measureChange, measureDecisions, measureHot, measureHTTP} {
		if err := section(s, crowd); err != nil {
			log.Fatal(err)
		}
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{out: os.Stdout}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&s.users, "users", 1_000_000, "number of users")
	flags.IntVar(&s.draws, "draws", 1<<21, "messages per round")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds; the fastest counts")
	ids := flags.String("ids", "stream", "memory layout of the messages' IDs: stream or scattered")
	flags.DurationVar(&s.refill, "refill", 4*time.Second, "time per token, for everyone, at least 1µs; short, and nearly every message passes")
	procs := flags.String("procs", "1,2", "numbers of processors")
	only := flags.String("only", "", "run only what matches this regular expression, of memory/NAME, change, decisions/NAME, hot/NAME, http/NAME")
	flags.BoolVar(&s.markdown, "markdown", false, "print tables as Markdown")
	_ = flags.Parse(args) // exits on error

	if s.users < 1 || s.draws < batch || s.rounds < 1 || s.refill <= 0 {
		return nil, fmt.Errorf("want -users, -rounds and -refill above 0, and -draws of %d or more", batch)
	}
	if s.layout = layout(*ids); s.layout != stream && s.layout != scattered {
		return nil, fmt.Errorf("-ids %q: want stream or scattered", *ids)
	}
	for text := range strings.SplitSeq(*procs, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-procs %q: want numbers such as 1,2", *procs)
		}
		s.procs = append(s.procs, n)
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	return s, nil
}
