// Command bench measures what a decision of chatguard costs, side by side with Go's other keyed limiters, in one run. It is a module of
// its own so that they don't become chatguard's dependencies. It knows chatguard's public API only.
//
//	go run . [-users n] [-draws n] [-rounds n] [-ids stream|scattered] [-refill d] [-procs 1,2] [-only regexp] [-markdown]
//
// What is the same for everyone:
//
//   - Messages. A sequence of user IDs is drawn beforehand, uniformly or after Zipf (s = 1.1), and everyone gets it from its beginning; one
//     round goes through it once. So all make the same decisions, and the column "passed" shows it.
//   - IDs in memory. With -ids stream, the default, the bytes of the messages' IDs follow one another in the order of the messages, as a
//     connection delivers them. With -ids scattered there is one string per user, allocated in random order: then reading the ID is itself
//     a cache miss, the same for all. Keys that limiters keep from the time before measuring lie elsewhere.
//   - Users. All of them are present before measuring, in an order that has nothing to do with how often they write.
//   - Calls. A contestant gets 16 messages per call of an interface's method and asks its limiter about one after the other; so the
//     call costs everyone the same, next to nothing.
//   - Memory. A round builds each contestant anew, in shuffled order, with no other one on the heap. The figure is the median of the rounds.
//
// chatguard judges whole Message values, built in the loop, by the default policy, enforcing: two limits, roles, strikes, verdict. The
// others enforce one limit, of 3 messages at once and one per refill or the nearest they have, and say how many passed.
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
)

// settings are what the command line chooses.
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
		machine(), s.users, s.draws, s.rounds, s.refill, s.layout, s.layout.meaning())
	crowd := newCrowd(s.users)
	// Memory comes first, while nothing else is on the heap.
	for _, section := range []func(*settings, []uint64) error{memory, change, decisions} {
		if err := section(s, crowd); err != nil {
			log.Fatal(err)
		}
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{out: os.Stdout}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&s.users, "users", 1_000_000, "users that are present")
	flags.IntVar(&s.draws, "draws", 1<<21, "messages of a round")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds; the median counts")
	ids := flags.String("ids", "stream", "how the IDs of the messages lie in memory: stream or scattered")
	flags.DurationVar(&s.refill, "refill", 4*time.Second, "time per token, for everyone; short, and every message passes")
	procs := flags.String("procs", "1,2", "numbers of processors")
	only := flags.String("only", "", "measure what matches this regular expression, of memory/NAME, change, decisions/NAME")
	flags.BoolVar(&s.markdown, "markdown", false, "print tables as Markdown")
	_ = flags.Parse(args) // it exits

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
