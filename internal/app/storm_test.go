package app_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/turntest"
)

var (
	storms    = flag.Int("storms", 2, "number of storms in TestStorm_ManyFaults; with -short at most 1")
	stormSeed = flag.Uint64("storm-seed", 0, "run only the storm with this seed")
)

// transports are all transports for chat.
var transports = []string{config.TransportIRC, config.TransportIRCWebSocket, config.TransportEventSub}

// TestStorm_EachFault checks what the bot guarantees while any one thing goes wrong. The faults
// and the transports take turns.
func TestStorm_EachFault(t *testing.T) {
	for _, f := range turntest.Sample(t, 2, append([]fault{{name: "fair weather"}}, faults...)) {
		for _, transport := range turntest.Choose(t, f.name, f.transports()) {
			t.Run(f.name+"/"+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { newStorm(t, 1, transport, f).run() })
			})
		}
	}
}

// TestStorm_ManyFaults checks the same guarantees during several faults at once. The seed
// determines the faults and the messages.
func TestStorm_ManyFaults(t *testing.T) {
	seeds := []uint64{*stormSeed}
	if *stormSeed == 0 {
		seeds = nil
		planned := *storms
		if testing.Short() {
			planned = min(planned, 1)
		}
		for seed := range planned {
			seeds = append(seeds, uint64(seed+1))
		}
	}
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		transport := transports[rng.IntN(len(transports))]
		possible := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !slices.Contains(f.transports(), transport) })
		rng.Shuffle(len(possible), func(i, j int) { possible[i], possible[j] = possible[j], possible[i] })
		chosen := possible[:2+rng.IntN(4)]
		t.Run(fmt.Sprintf("storm-seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newStorm(t, seed, transport, chosen...).run() })
		})
	}
}

// storm is half a minute of busy chat with faults. It records what happens, for the checks.
type storm struct {
	*simulation
	about string // random source for messages
	rng   *rand.Rand
	// luck is the random source for requests to Helix. Only spoil and the functions that it calls
	// use luck.
	luck     *rand.Rand
	people   []*stormUser
	spammers int // per channel
	faults   []fault
	delivery faketwitch.Delivery
	helix    []helixFault
	busy     atomic.Int64 // "too many requests" answers that we caused
	said     map[string]utterance
	entries  []journal.Entry
}

// utterance is a message that was said.
type utterance struct {
	channel string
	by      *stormUser
	at      time.Time
}

// The durations of a storm and of the recovery after it. The recovery may take as long as the
// longest retry delay.
const (
	stormLasts = 30 * time.Second
	calmLasts  = 4 * time.Minute
	mischief   = 4 * time.Second // time between two disturbances
)

var stormChannels = []string{"gardenhour", "rosebed"}

func newStorm(t *testing.T, seed uint64, transport string, faults ...fault) *storm {
	c := config.Default()
	c.Twitch.Transport, c.Twitch.Channels = transport, stormChannels
	c.Notices = config.Notices{Text: "@{name}, next message in {wait}", Cooldown: time.Hour}
	c.Policy.Mode = chatguard.ModeEnforce
	c.Policy.Penalties.Ladder = []chatguard.Penalty{
		{Action: chatguard.ActionDelete}, {Action: penalties.Warn}, {Action: chatguard.ActionTimeout, Duration: 10 * time.Second},
	}
	c.Policy.Penalties.StrikeEvery = 5 * time.Second
	options := faketwitch.Options{Channels: stormChannels}
	s := &storm{rng: rand.New(rand.NewPCG(seed, 2)), luck: rand.New(rand.NewPCG(seed, 3)), faults: faults, spammers: 3, said: map[string]utterance{}}
	s.about = fmt.Sprintf("seed %d, %s", seed, transport)
	for _, f := range faults {
		s.about += ", " + f.name
		if f.twitch != nil {
			f.twitch(&options)
		}
		if f.ladder != nil {
			c.Policy.Penalties.Ladder = f.ladder
		}
	}
	s.simulation = newSimulation(t, c, options)
	s.delivery.Seed = seed
	return s
}

// run runs the storm and checks the result.
func (s *storm) run() {
	s.start()
	s.startFaults()
	s.talk()
	s.endFaults()
	s.advance(calmLasts)
	s.checkRecovery()
	s.stopThen(s.readJournal)
	s.checkJournal()
	s.checkActs()
	s.checkLadder()
	s.checkStaff()
	s.checkRequests()
	s.checkMessages()
	s.checkLines()
	if s.Failed() {
		s.Logf("the bot's log of %s:\n%s", s.about, s.log.String())
	}
}

func (s *storm) fail(format string, args ...any) {
	s.Helper()
	s.Errorf("storm (%s): %s", s.about, fmt.Sprintf(format, args...))
}

// startFaults starts the faults.
func (s *storm) startFaults() {
	for _, f := range s.faults {
		if f.begin != nil {
			f.begin(s)
		}
	}
	s.server.SetDelivery(s.delivery)
	if len(s.helix) > 0 {
		s.server.SetHelixFaults(s.nextFault)
	}
}

// endFaults ends the faults.
func (s *storm) endFaults() {
	s.cutOff(nil)
	s.server.SetDelivery(faketwitch.Delivery{})
	s.server.SetHelixFaults(nil)
	s.server.FailAuth(nil)
	s.server.CloseAfter(0)
	s.server.RefuseLogins(false)
	s.server.StallLogins(0)
	s.server.StallWelcomes(0)
	s.server.StallEventSub(false)
	s.server.IgnoreJoins(0)
	s.server.HangUp(0)
}

// talk makes all users write until the storm is over. The broadcasters meanwhile remove some
// messages by hand.
func (s *storm) talk() {
	s.createUsers()
	began, disturb := time.Now(), mischief
	for {
		next := slices.MinFunc(s.people, func(a, b *stormUser) int { return int(a.next - b.next) })
		if next.next > stormLasts {
			return
		}
		for ; disturb <= next.next; disturb += mischief {
			s.advanceTo(began.Add(disturb))
			s.disturb()
		}
		s.advanceTo(began.Add(next.next))
		id := s.say(next)
		if next.kind == spammer && s.rng.IntN(20) == 0 {
			s.server.RemoveMessage(id)
		}
		next.next += next.gap(s.rng)
	}
}

// advanceTo advances the time to at, unless it has already passed.
func (s *storm) advanceTo(at time.Time) { s.advance(max(0, time.Until(at))) }

func (s *storm) disturb() {
	for _, f := range s.faults {
		if f.disturb != nil {
			f.disturb(s)
		}
	}
}

// say sends a message from a user, unless they can't write now.
func (s *storm) say(u *stormUser) (id string) {
	u.spoken++
	text := fmt.Sprintf("message %d", u.spoken)
	if u.spoken == 2 && u.kind == chatter {
		text = chat.QuotaCommand
	}
	id, err := s.server.Say(faketwitch.Line{Channel: u.channel, Login: u.login, Badges: u.badges, Text: text})
	switch {
	case err == nil:
		s.said[id] = utterance{u.channel, u, time.Now()}
	case errors.Is(err, faketwitch.ErrWarned): // the user can write the next time
		s.server.Acknowledge(u.channel, u.login)
	case !errors.Is(err, faketwitch.ErrSilenced) && !errors.Is(err, faketwitch.ErrSlow):
		s.fail("%v", err)
	}
	return id
}

// checkRecovery checks that the bot has recovered: it judges and acts in every channel.
func (s *storm) checkRecovery() {
	for _, channel := range stormChannels {
		u := &stormUser{login: "probe_of_" + channel, channel: channel, kind: spammer}
		var last string
		for range 4 {
			last = s.say(u)
		}
		s.advance(5 * time.Second)
		if _, there := s.server.Message(last); there {
			s.fail("it isn't well again: what was too much in %s is still there", channel)
		}
	}
}

func (s *storm) readJournal() {
	for _, channel := range stormChannels {
		entries, err := s.bot.Host.Store.Entries(context.Background(), journal.EntryFilter{ChannelID: s.server.UserID(channel), N: 1_000_000})
		must(s, err)
		s.entries = append(s.entries, entries...)
	}
}

// nextFault returns the fault for a request to Helix.
func (s *storm) nextFault(r faketwitch.Request) (faketwitch.Fault, bool) {
	for _, f := range s.helix {
		if strings.HasPrefix(r.Path, f.path) && s.luck.Float64() < f.share {
			fault := f.fault(s)
			if fault.Status == 429 {
				s.busy.Add(1)
			}
			return fault, true
		}
	}
	return faketwitch.Fault{}, false
}
