package faketwitch

import (
	"math"
	"math/rand/v2"
	"time"
)

// The pace of each kind of speaker. Chatters write so rarely that no sensible limit affects them,
// unless they are excited.
// Spammers send more than 3 messages in 12 s.
const (
	chatterLeast = 8 * time.Second  // minimum time between a chatter's messages
	chattiest    = 30 * time.Second // average time between the messages of the chattiest chatter
	quietest     = 8 * time.Minute  // the same of the quietest chatter
	raidLasts    = 12 * time.Second
	// excitement is the average number of messages after which a chatter writes several quickly, if
	// the chat surges.
	excitement = 300
	// staffShare is the share of messages that the broadcaster and moderators send together.
	staffShare = 1.0 / 16
	// spamRate is the average number of messages per second by a spammer and their successors.
	spamRate = 0.55
)

// staff are the moderators of every crowd, with their badges.
var staff = []Line{
	{Login: "anna_gardens", DisplayName: "Anna_Gardens", Badges: "lead_moderator/1"},
	{Login: "berta", DisplayName: "Berta", Badges: "moderator/1,subscriber/24"},
	{Login: "mossandfern", DisplayName: "MossAndFern", Badges: "moderator/1"},
}

func (p *script) enterStaff() {
	each := staffShare * p.cast.rate / float64(1+len(staff)) // messages per second
	gap := func(r *rand.Rand) time.Duration {
		return time.Duration((0.4 + 1.2*r.Float64()) / each * float64(time.Second))
	}
	host := Line{Login: p.channel, DisplayName: p.channel, Badges: "broadcaster/1,subscriber/0"}
	p.enter(&speaker{line: host, text: hostText, gap: gap}, 400*time.Millisecond)
	for _, line := range staff {
		p.regulars.given[line.DisplayName] = true
		p.enter(&speaker{line: line, text: modText, gap: gap}, time.Duration(p.rng.Float64()*float64(gap(p.rng))))
	}
}

// enterChatters adds chatters until they write as much as the cast says. In a slow chat everyone
// writes less often, so that it has many chatters too.
func (p *script) enterChatters() {
	wanted := p.cast.rate * (1 - staffShare)
	wanted = max(wanted/4, wanted-spamRate*float64(p.cast.spammers)) * p.mostPace()
	for wrote := 0.0; wrote < wanted; {
		slower := max(1, 1/p.cast.rate)
		mean := time.Duration(slower * float64(chattiest) * math.Pow(float64(quietest)/float64(chattiest), p.regulars.rng.Float64()))
		wrote += 1 / mean.Seconds()
		p.enterChatter(mean)
	}
}

// enterChatter adds a user who writes at an average interval.
func (p *script) enterChatter(mean time.Duration) {
	line := p.regulars.next()
	switch luck := p.regulars.rng.IntN(100); {
	case luck < 3:
		line.Badges = "vip/1"
	case luck < 30:
		line.Badges = "subscriber/6"
	case luck < 32:
		line.Badges = "founder/0"
	case luck < 36:
		line = p.visitors.next()
		line.First = true
	}
	opening := openings[p.entered%len(openings)]
	s := &speaker{line: line, text: func(r *rand.Rand) string { return chatterText(r, opening) }, sways: true}
	excited := 0 // number of messages that will follow quickly
	s.gap = func(r *rand.Rand) time.Duration {
		if p.cast.surges && excited == 0 && r.IntN(excitement) == 0 {
			excited = 4 + r.IntN(4)
		}
		if s.sways = excited == 0; s.sways {
			return chatterLeast + time.Duration(r.ExpFloat64()*float64(mean-chatterLeast))
		}
		excited--
		return randomBetween(r, 500*time.Millisecond, 1500*time.Millisecond)
	}
	// At a random moment, a chatter has only the rest of a gap left to wait.
	first := s.gap(p.rng)
	if p.rng.Float64() < chatterLeast.Seconds()/mean.Seconds() {
		first = randomBetween(p.rng, 0, chatterLeast)
	}
	p.enter(s, first)
}

// tempers are the times for which spammers write too fast: until their messages are deleted, until
// they are warned, until they are timed out, or even after that.
var tempers = []time.Duration{
	3 * time.Second, 3 * time.Second, 3 * time.Second, 14 * time.Second, 14 * time.Second, 26 * time.Second, 40 * time.Second,
	40 * time.Second, 90 * time.Second, 2 * time.Minute,
}

// enterSpammer adds a user who repeats a message, quickly at first, until they lose interest. After
// a rest another one follows.
func (p *script) enterSpammer(at time.Duration) {
	favourite, said, left := spamText(p.rng), 0, tempers[p.rng.IntN(len(tempers))]
	gap := func(r *rand.Rand) time.Duration {
		least, most := 500*time.Millisecond, 1900*time.Millisecond
		if said++; said <= 4 {
			least, most = 300*time.Millisecond, 600*time.Millisecond
		}
		next := randomBetween(r, least, most)
		if left -= next; left <= 0 {
			return 0
		}
		return next
	}
	text := func(r *rand.Rand) string { return decorate(r, favourite) }
	rest := func(at time.Duration) { p.enterSpammer(at + randomBetween(p.rng, 5*time.Second, 40*time.Second)) }
	p.enter(&speaker{line: p.visitors.next(), text: text, gap: gap, gone: rest}, at)
}

// raid adds many new users at once, who each send a few messages and stop.
func (p *script) raid(at time.Duration) {
	for range p.cast.raiders {
		line, left := p.visitors.next(), 2+p.rng.IntN(6)
		line.First = true
		gap := func(r *rand.Rand) time.Duration {
			if left--; left <= 0 {
				return 0
			}
			return randomBetween(r, 500*time.Millisecond, 2*time.Second)
		}
		p.enter(&speaker{line: line, text: raidText, gap: gap}, at+randomBetween(p.rng, 0, raidLasts))
	}
}
