// Command shared compares limits that several nodes share over Valkey or Redis with Go's other
// limiters that do so, in one run. It prints the ratios that the project demands, and whether they
// hold.
//
//	go run ./shared [-rounds n] [-seconds s] [-only regexp] [-short] [-check] [-markdown]
//	    [-json file] [-profile dir]
//
// It starts redis-server, which must be in PATH. If it also finds a server with SET IFEQ, which
// needs no script for a swap, it measures some loads on that one too. It looks for valkey-server in
// PATH, or for the program that CHATGUARD_VALKEY_SERVER names. The servers listen on the loopback
// interface.
//
// All contestants share these conditions:
//
//   - Nodes. Each node is a process of its own, which this program starts. The nodes, the server
//     and this program use the same processors, so only ratios from one run can be compared.
//   - Load. 64 goroutines in all check one message after another. Each waits for the verdict before
//     it sends the next message. Every node gets messages of every user.
//   - Users. A sequence of users is drawn beforehand, uniformly or from a Zipf distribution
//     (s = 1.1).
//   - Limits. chatguard enforces two limits, all or nothing, and gives strikes: 3 messages at once
//     and one per 4 s, and 300 per day in Europe/Berlin. The script "Lua, two limits" does the same
//     with days of UTC. The other limiters enforce the first limit or the nearest that they offer.
//     "redis_rate × 2" makes two calls, which aren't atomic together.
//   - Clients. redis_rate, throttled and ulule use go-redis, with a connection for each goroutine:
//     64 of all nodes together. chatguard and "Lua, two limits" use rueidis, with one connection
//     for each node, which sends the commands of many goroutines in one write. So a part of each
//     ratio is the client's. "redis_rate, rueidis" shows which part: it is redis_rate with its own
//     script, over the same rueidis client.
//   - HTTP. Each node starts a process "chatguard run", and asks it over HTTP. The load's own time
//     counts, so the ratio to nodes that share nothing is nearer to 1 than that of the servers.
//   - Synchronised nodes. Checks run while the node exchanges rows, every 500 ms. Known users are
//     users whose first messages were exchanged before the measurement. An exchange alone is
//     measured with as many rows as there are users, each of which has sent one message since the
//     last exchange.
//   - Rounds. A round runs everything once, in random order, each on an empty server. The figure is
//     the median of the rounds.
//   - Correctness. A user may not have more messages allowed than the limit permits. No message may
//     be refused before the user has written 3, or at all if the limits are large. A limiter that
//     breaks this has no figure. Checks that return an error don't count.
//   - Missing measurements. If a node fails, or doesn't end within two minutes, that measurement is
//     missing. The program goes on, and the last table says why. Interrupted, it prints what it has.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// settings holds the command-line options.
type settings struct {
	rounds          int
	seconds, warmup time.Duration
	longest         time.Duration // of a measurement
	only            *regexp.Regexp
	short           bool // few users, for tests
	check           bool
	markdown        bool
	json, profile   string
	out             io.Writer
}

func main() {
	if isNode() {
		runNode()
		return
	}
	log.SetFlags(log.Ltime) // progress, on standard error
	s, err := parse(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = compare(ctx, s)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{out: os.Stdout, longest: 2 * time.Minute}
	flags := flag.NewFlagSet("shared", flag.ExitOnError)
	flags.IntVar(&s.rounds, "rounds", 5, "rounds; the median counts")
	seconds := flags.Float64("seconds", 1.5, "duration of a run")
	only := flags.String("only", "", "measure only the demands whose name matches this regular expression")
	flags.BoolVar(&s.short, "short", false, "one short round with few users: shows that all works, measures nothing")
	flags.BoolVar(&s.check, "check", false, "exit with status 1 if a demand isn't met")
	flags.BoolVar(&s.markdown, "markdown", false, "print tables as Markdown")
	flags.StringVar(&s.json, "json", "", "write all figures to this file")
	flags.StringVar(&s.profile, "profile", "", "write processor profiles of chatguard's nodes to this directory")
	_ = flags.Parse(args) // exits on error

	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	s.seconds, s.warmup = time.Duration(*seconds*float64(time.Second)), 300*time.Millisecond
	if s.short {
		s.rounds, s.seconds, s.warmup = 1, 100*time.Millisecond, 20*time.Millisecond
	}
	if s.rounds < 1 || s.seconds < 50*time.Millisecond {
		return nil, errors.New("want -rounds above 0, and -seconds of 0.05 or more")
	}
	return s, nil
}

var (
	errNotMet      = errors.New("not all demands are met")
	errInterrupted = errors.New("interrupted: the tables are without the measurements that are missing")
)

// compare measures and reports.
func compare(ctx context.Context, s *settings) error {
	servers, err := startServers(ctx)
	if err != nil {
		return err
	}
	defer servers.stop()
	r := newRace(s, servers)
	if err := r.run(ctx, r.measure); err != nil {
		return err
	}
	r.print()
	if err := r.writeJSON(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	if s.check && !r.met() {
		return errNotMet
	}
	return nil
}
