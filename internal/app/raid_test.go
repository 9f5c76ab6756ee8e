//go:build !race

package app_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/turntest"
)

var raidFigures = flag.Bool("raid-figures", false, "TestRaid runs every raid, and logs the rows of the table in docs/twitch.md")

// raidCase is a case of TestRaid.
type raidCase struct {
	raiders  int
	ladder   string
	slowMode time.Duration // 0 means that the bot never turns it on
}

func raidCases() (cases []raidCase) {
	for _, slowMode := range []time.Duration{30 * time.Second, 0} {
		for _, raiders := range []int{250, 2000} {
			for _, ladder := range []string{"delete, delete, warn, timeout 30s, timeout 10m", "timeout 10m", "ban", "warn", "delete", "delete, timeout 1m"} {
				cases = append(cases, raidCase{raiders, ladder, slowMode})
			}
		}
	}
	return cases
}

// TestRaid checks raids of 250 and of 2,000 accounts against a fake Twitch with all of Twitch's
// limits. The bot acts on as many raiders as the limits allow, on nobody else, and does nothing
// twice. Twitch has to refuse nothing, and the journal's reasons are true.
func TestRaid(t *testing.T) {
	turntest.Expensive(t)
	cases := raidCases()
	if !*raidFigures {
		cases = turntest.Sample(t, 12, cases)
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d accounts, %s, slow mode %s", c.raiders, c.ladder, c.slowMode), func(t *testing.T) {
			if !*raidFigures { // the rows are in order
				t.Parallel()
			}
			synctest.Test(t, func(t *testing.T) { newRaid(t, c).run() })
		})
	}
}

// raid is a minute of chat in which many accounts write at once.
type raid struct {
	*simulation
	raidCase
	rng     *rand.Rand
	logins  map[string]string // by user ID
	entries []journal.Entry
	excess  map[string]time.Time     // when a user first wrote too much, by user ID
	acted   map[string]time.Duration // from then until the first request about the user
}

const (
	raidLines  = 6                      // of each raider
	raidGap    = 700 * time.Millisecond // between two lines of a raider
	raidComing = 10 * time.Second       // within which the raiders come
	raidAnswer = 60 * time.Millisecond  // that Twitch takes to answer
	regulars   = 30                     // users who write calmly
)

func newRaid(t *testing.T, rc raidCase) *raid {
	c := config.Default()
	c.Twitch.Channels, c.Twitch.SlowMode = []string{"gardenhour"}, rc.slowMode
	c.Policy.Mode, c.Policy.Penalties.Ladder = chatguard.ModeEnforce, nil
	for text := range strings.SplitSeq(rc.ladder, ", ") {
		var p chatguard.Penalty
		must(t, p.UnmarshalText([]byte(text)))
		c.Policy.Penalties.Ladder = append(c.Policy.Penalties.Ladder, p)
	}
	r := &raid{
		simulation: newSimulation(t, c, faketwitch.Options{Channels: c.Twitch.Channels}), raidCase: rc, rng: rand.New(rand.NewPCG(1, 1)),
		logins: map[string]string{}, excess: map[string]time.Time{}, acted: map[string]time.Duration{},
	}
	r.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
		return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: raidAnswer}, true
	})
	return r
}

// run lets the raid happen, and checks what the bot did.
func (r *raid) run() {
	r.start()
	r.talk()
	r.advance(2 * time.Minute)
	r.stopThen(r.readJournal)
	r.checkActs()
	r.checkJournal()
	r.logFigures()
}

// raidTurn is a time at which a user writes.
type raidTurn struct {
	at    time.Duration
	login string
}

// turns returns when everybody writes.
func (r *raid) turns() (turns []raidTurn) {
	random := func(d time.Duration) time.Duration { return time.Duration(r.rng.Int64N(int64(d))) }
	for n := range r.raiders {
		came := 5*time.Second + random(raidComing)
		for line := range raidLines {
			turns = append(turns, raidTurn{came + time.Duration(line)*raidGap, fmt.Sprintf("raider%d", n)})
		}
	}
	for n := range regulars {
		for at := random(10 * time.Second); at < time.Minute; at += 8*time.Second + random(8*time.Second) {
			turns = append(turns, raidTurn{at, fmt.Sprintf("regular%d", n)})
		}
	}
	slices.SortStableFunc(turns, func(a, b raidTurn) int { return int(a.at - b.at) })
	return turns
}

// talk makes everybody write, as far as Twitch lets them.
func (r *raid) talk() {
	began := time.Now()
	for n, turn := range r.turns() {
		if wait := time.Until(began.Add(turn.at)); wait > 0 {
			r.advance(wait)
		}
		r.logins[r.server.UserID(turn.login)] = turn.login
		_, err := r.server.Say(faketwitch.Line{Channel: "gardenhour", Login: turn.login, Text: fmt.Sprintf("line %d", n)})
		if err != nil && !errors.Is(err, faketwitch.ErrSilenced) && !errors.Is(err, faketwitch.ErrSlow) && !errors.Is(err, faketwitch.ErrWarned) {
			r.Error(err)
		}
	}
}

func (r *raid) readJournal() {
	var err error
	r.entries, err = r.bot.Host.Store.Entries(context.Background(), journal.EntryFilter{ChannelID: r.server.UserID("gardenhour"), N: 1_000_000})
	must(r, err)
	for _, e := range r.entries { // newest first
		r.excess[e.UserID] = e.At
	}
}
