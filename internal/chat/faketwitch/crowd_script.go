package faketwitch

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// The pace of each kind of speaker. Chatters write so rarely that no sensible limit affects them.
// Spammers send more than 3 messages in 12 s.
const (
	chatterLeast = 8 * time.Second  // minimum time between a chatter's messages
	chatterMean  = 25 * time.Second // average time between a chatter's messages
	raidEvery    = 60 * time.Second
	raidLasts    = 6 * time.Second
	moderators   = 3
	// staffRate is the number of messages per second that the broadcaster and moderators send
	// together.
	staffRate = 2.5
	spamRate  = 1.0 // messages per second by one active spammer
)

// cast contains the number of speakers of each kind.
type cast struct {
	rate              float64
	spammers, raiders int
	raidAt            time.Duration
}

// speaker is a user who writes repeatedly.
type speaker struct {
	line  Line
	at    time.Duration                  // time of the next message
	order int                            // breaks ties, so that a seed always gives the same chat
	text  func(*rand.Rand) string        // returns the text of a message
	gap   func(*rand.Rand) time.Duration // time to the next message; 0 means the user leaves
}

// script decides who in a crowd writes next, and what.
type script struct {
	rng      *rand.Rand
	channel  string
	cast     cast
	names    *names
	speakers speakers
	nextRaid time.Duration
	entered  int
}

func newScript(channel string, seed uint64, c cast) *script {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	p := &script{rng: rng, channel: channel, cast: c, names: newNames(rng), nextRaid: c.raidAt}
	p.enterStaff()
	for range c.spammers {
		p.enterSpammer()
	}
	others := max(1, c.rate-staffRate-spamRate*float64(c.spammers))
	for range int(others*chatterMean.Seconds()) + 1 {
		p.enterChatter()
	}
	return p
}

// next returns the next message.
func (p *script) next() utterance {
	if p.cast.raiders > 0 && p.nextRaid <= p.speakers[0].at {
		p.raid()
	}
	s := p.speakers[0]
	said := utterance{at: s.at, line: s.line}
	said.line.Text = s.text(p.rng)
	s.line.First = false
	if gap := s.gap(p.rng); gap > 0 {
		s.at += gap
		heap.Fix(&p.speakers, 0)
	} else {
		heap.Pop(&p.speakers)
	}
	return said
}

// enter adds a speaker, whose first message comes at the given time.
func (p *script) enter(s *speaker, at time.Duration) {
	s.at, s.order = at, p.entered
	s.line.Channel = p.channel
	p.entered++
	heap.Push(&p.speakers, s)
}

func (p *script) enterStaff() {
	gap := func(r *rand.Rand) time.Duration { return randomBetween(r, 600*time.Millisecond, 2600*time.Millisecond) }
	host := Line{Login: p.channel, DisplayName: p.channel, Badges: "broadcaster/1,subscriber/0"}
	p.enter(&speaker{line: host, text: hostText, gap: gap}, 400*time.Millisecond)
	for n := range moderators {
		line := p.names.next()
		line.Badges = [...]string{"lead_moderator/1", "moderator/1,subscriber/24", "moderator/1"}[n]
		p.enter(&speaker{line: line, text: modText, gap: gap}, randomBetween(p.rng, 0, time.Second))
	}
}

func (p *script) enterChatter() {
	line := p.names.next()
	switch luck := p.rng.IntN(100); {
	case luck < 3:
		line.Badges = "vip/1"
	case luck < 30:
		line.Badges = "subscriber/6"
	case luck < 32:
		line.Badges = "founder/0"
	case luck < 36:
		line.First = true
	}
	gap := func(r *rand.Rand) time.Duration {
		return chatterLeast + time.Duration(r.ExpFloat64()*float64(chatterMean-chatterLeast))
	}
	p.enter(&speaker{line: line, text: chatterText, gap: gap}, randomBetween(p.rng, 0, chatterMean))
}

// enterSpammer adds a user who repeats a message for half a minute, quickly at first, then rests
// and starts again.
func (p *script) enterSpammer() {
	favourite, said, spell := spamText(p.rng), 0, 20+p.rng.IntN(20)
	gap := func(r *rand.Rand) time.Duration {
		switch said++; {
		case said == spell:
			said = 0
			return randomBetween(r, 10*time.Second, 25*time.Second)
		case said <= 4:
			return randomBetween(r, 300*time.Millisecond, 600*time.Millisecond)
		}
		return randomBetween(r, 400*time.Millisecond, 1600*time.Millisecond)
	}
	text := func(r *rand.Rand) string { return decorate(r, favourite) }
	p.enter(&speaker{line: p.names.next(), text: text, gap: gap}, randomBetween(p.rng, 0, 400*time.Millisecond))
}

// raid adds many new users at once, who each send a few messages and stop.
func (p *script) raid() {
	for range p.cast.raiders {
		line, left := p.names.next(), 1+p.rng.IntN(5)
		line.First = true
		gap := func(r *rand.Rand) time.Duration {
			if left--; left <= 0 {
				return 0
			}
			return randomBetween(r, 500*time.Millisecond, 2*time.Second)
		}
		p.enter(&speaker{line: line, text: raidText, gap: gap}, p.nextRaid+randomBetween(p.rng, 0, raidLasts))
	}
	p.nextRaid += randomBetween(p.rng, raidEvery*3/4, raidEvery*5/4)
}

func randomBetween(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// speakers is a heap with the next speaker first.
type speakers []*speaker

func (s speakers) Len() int { return len(s) }
func (s speakers) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].order < s[j].order
}
func (s speakers) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *speakers) Push(x any)   { *s = append(*s, x.(*speaker)) }
func (s *speakers) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
