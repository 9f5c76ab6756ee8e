package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// The size of a raid. Each raider sends all messages within a second; five messages spread over all
// ten seconds would be within the limit.
const (
	raiders      = 5000
	raidMessages = 5
	raidSeconds  = 10
	// raidBurst is how many messages a raider may send at once; one more is allowed every 4 s.
	raidBurst = 3
)

// BenchmarkRaid measures how long it takes to act on a raider. The time starts just before the fake
// server writes the raider's first excess line. It ends when the first request that acts on that
// raider arrives. It counts only the raiders for whom the Helix budget allows an action.
func BenchmarkRaid(b *testing.B) {
	for _, kind := range []struct {
		name     string
		slowMode time.Duration // slow mode that the flood may cause
		answers  time.Duration // time that Helix takes to answer
	}{
		{"slow mode", 30 * time.Second, 0},
		{"no slow mode", 0, 0},
		{"slow Helix", 30 * time.Second, 60 * time.Millisecond},
	} {
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				server := twitchtest.Start(b, demoChannel)
				if kind.answers > 0 {
					slow := faketwitch.Fault{Status: faketwitch.AsAsked, Delay: kind.answers}
					server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return slow, true })
				}
				c := demoConfig(server, b.TempDir(), "127.0.0.1:0")
				c.Twitch.SlowMode = kind.slowMode
				c.Policy.Limits = []chatguard.Limit{{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: raidBurst, Refill: 4 * time.Second}}
				a, stop := runApp(b, server, c, slog.New(slog.DiscardHandler))
				r := raid{B: b, server: server, tooMuch: map[string]time.Time{}}
				r.run()
				r.settle(a)
				stop()
				r.measure()
				r.addUp(a)
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// raid records what the raiders did.
type raid struct {
	*testing.B
	server  *faketwitch.Server
	said    int
	tooMuch map[string]time.Time // time of each user's first excess line, by ID
}

// run sends groups of raiders, one group per second. Messages from users who are timed out or held
// up by slow mode fail.
func (r *raid) run() {
	const group, perSecond = raiders / raidSeconds, raiders * raidMessages / raidSeconds
	lines := make([]int, raiders)
	repeat(raiders*raidMessages, perSecond, func(i int) {
		raider := i/perSecond*group + i%group
		id, began := strconv.Itoa(5_000_000+raider), time.Now()
		_, err := r.server.Say(faketwitch.Line{Channel: demoChannel, Login: fmt.Sprint("raider", raider), UserID: id, Text: "a line of the raid"})
		switch {
		case errors.Is(err, faketwitch.ErrSilenced) || errors.Is(err, faketwitch.ErrSlow):
			return
		case err != nil:
			r.Fatal(err)
		}
		r.said++
		if lines[raider]++; lines[raider] == raidBurst+1 {
			r.tooMuch[id] = began
		}
	})
}

// settle waits until every throttled message has an outcome.
func (r *raid) settle(a *app.App) {
	for gaveUp := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c := a.Bot.Counts()
		if c.Messages >= int64(r.said) && c.Deleted+c.Punished+c.Failed+c.Skipped == c.Throttled {
			return
		}
		if time.Now().After(gaveUp) {
			r.Fatalf("after a minute the bot is no further than %+v of %d messages", c, r.said)
		}
	}
}

// measure reports the time to the first action on each user who was acted on, and whether Helix's
// budget was respected.
func (r *raid) measure() {
	first := map[string]time.Time{}
	act := func(user string, at time.Time) {
		if first[user].IsZero() || at.Before(first[user]) {
			first[user] = at
		}
	}
	for _, d := range r.server.Deletes() {
		act(d.Message.UserID, d.At)
	}
	for _, s := range r.server.Bans() {
		act(s.UserID, s.At)
	}
	var waits []time.Duration
	for user, at := range first {
		if r.tooMuch[user].IsZero() {
			r.Errorf("user %s was acted on, and had not said too much", user)
		}
		waits = append(waits, at.Sub(r.tooMuch[user]))
	}
	slices.Sort(waits)
	for name, share := range map[string]float64{"median-ms": 0.5, "p95-ms": 0.95} {
		r.ReportMetric(float64(waits[int(share*float64(len(waits)-1))])/float64(time.Millisecond), name)
	}
	r.ReportMetric(float64(len(waits)), "users-acted-on")
	for _, request := range r.server.Requests() {
		if request.Status == http.StatusTooManyRequests {
			r.Errorf("%s %s was more than Helix's budget", request.Method, request.Path)
		}
	}
}

// addUp checks that every throttled message has an outcome in the journal, and reports the number
// of each outcome.
func (r *raid) addUp(a *app.App) {
	var text strings.Builder
	if _, err := transfer.Export(r.Context(), a.Config.Database, &text, nil); err != nil {
		r.Fatal(err)
	}
	told := readRecord(r, text.String())
	outcomes := map[string]int{}
	for _, e := range told.journal {
		outcomes[fmt.Sprintf("%s %s %s", e.Outcome.Action, e.Outcome.Result, e.Outcome.Reason)]++
	}
	if n := a.Bot.Counts().Throttled; len(told.journal) != int(n) || told.resultCounts()[journal.Pending] > 0 {
		r.Errorf("%d messages were throttled, and the journal tells of %d: %v", n, len(told.journal), outcomes)
	}
	for result, n := range told.resultCounts() {
		r.ReportMetric(float64(n), string(result))
	}
	r.ReportMetric(float64(r.said), "said")
	r.Logf("what the journal says: %v; changes of slow mode: %d", outcomes, len(r.server.SlowModes()))
}
