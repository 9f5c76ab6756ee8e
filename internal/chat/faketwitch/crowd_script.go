package faketwitch

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// cast contains the number of speakers of each kind.
type cast struct {
	rate              float64
	spammers, raiders int
	raidAt, raidEvery time.Duration // no raids if raidAt is negative; about every minute if raidEvery is 0
	surges            bool
}

// utterance is a message and its time, counted from the start.
type utterance struct {
	at   time.Duration
	line Line
}

// speaker is a user who writes repeatedly.
type speaker struct {
	line  Line
	at    time.Duration                  // time of the next message
	order int                            // breaks ties, so that a seed always gives the same chat
	text  func(*rand.Rand) string        // returns the text of a message
	gap   func(*rand.Rand) time.Duration // time to the next message; 0 means the user leaves
	// sways means that the speaker follows the pace of the chat.
	sways bool
	gone  func(at time.Duration) // called when the user leaves; may be nil
}

// script decides who in a crowd writes next, and what.
type script struct {
	rng      *rand.Rand
	channel  string
	cast     cast
	regulars *names // of staff and regulars
	visitors *names // of spammers, raiders and other new users
	speakers speakers
	nextRaid time.Duration
	entered  int
}

func newScript(channel string, seed, evening uint64, c cast) *script {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15+evening))
	given := map[string]bool{}
	p := &script{
		rng: rng, channel: channel, cast: c, nextRaid: c.raidAt,
		regulars: &names{rand.New(rand.NewPCG(seed, 0xbf58476d1ce4e5b9)), localised[0], given},
		visitors: &names{rng, localised[1], given},
	}
	p.enterStaff()
	p.enterChatters()
	for range c.spammers {
		p.enterSpammer(randomBetween(rng, 0, 400*time.Millisecond))
	}
	return p
}

// next returns the next message.
func (p *script) next() utterance {
	for {
		if p.cast.raiders > 0 && p.nextRaid >= 0 && p.nextRaid <= p.speakers[0].at {
			p.raid(p.nextRaid)
			p.nextRaid += p.raidGap()
		}
		s := p.speakers[0]
		if s.sways && p.rng.Float64() >= p.pace(s.at)/p.mostPace() {
			p.advance(s)
			continue
		}
		said := utterance{at: s.at, line: s.line}
		said.line.Text = s.text(p.rng)
		s.line.First = false
		p.advance(s)
		return said
	}
}

// advance moves the first speaker to the time of the next message.
func (p *script) advance(s *speaker) {
	if gap := s.gap(p.rng); gap > 0 {
		s.at += gap
		heap.Fix(&p.speakers, 0)
		return
	}
	heap.Pop(&p.speakers)
	if s.gone != nil {
		s.gone(s.at)
	}
}

// surge is the highest pace of the chat, as a multiple of the average.
const surge = 2.2

// pace returns the pace of the chat at a time, as a multiple of the average. It rises and falls
// slowly, and is higher for half a minute after each event in the stream.
func (p *script) pace(at time.Duration) float64 {
	if !p.cast.surges {
		return 1
	}
	m := at.Minutes()
	pace := 0.9 + 0.35*math.Sin(m/5.3) + 0.25*math.Sin(m/1.9)
	if math.Mod(m, 13) > 12.4 {
		pace *= 1.8
	}
	return min(pace, surge)
}

func (p *script) mostPace() float64 {
	if !p.cast.surges {
		return 1
	}
	return surge
}

// raidGap returns the time to the next raid.
func (p *script) raidGap() time.Duration {
	const minute = 60 * time.Second
	return cmp.Or(p.cast.raidEvery, randomBetween(p.rng, minute*3/4, minute*5/4))
}

// enter adds a speaker, whose first message comes at the given time.
func (p *script) enter(s *speaker, at time.Duration) {
	s.at, s.order = at, p.entered
	s.line.Channel = p.channel
	p.entered++
	heap.Push(&p.speakers, s)
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
