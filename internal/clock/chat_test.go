//go:build !race

package clock

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// room is a chat whose true time is known: that of most of its stamps.
type room struct {
	rt      *rapid.T
	random  *rand.Rand
	clock   *Chat
	elapsed time.Duration // by this machine
	ahead   time.Duration // true lead over this machine's clock
}

var roomStart = time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)

func newRoom(rt *rapid.T) *room {
	r := &room{rt: rt, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))}
	r.clock = NewChat(func() time.Time { return roomStart.Add(r.elapsed) })
	r.ahead = rapid.SampledFrom([]time.Duration{0, -2 * time.Hour, 500 * time.Millisecond, 2 * time.Hour}).Draw(rt, "wrong local clock")
	return r
}

func (r *room) now() time.Time { return roomStart.Add(r.elapsed + r.ahead) }

// upTo returns a random duration from 0 to d.
func (r *room) upTo(d time.Duration) time.Duration {
	return time.Duration(r.random.Int64N(int64(d) + 1))
}

// say delivers a message that was sent at that time, and returns its age by the clock.
func (r *room) say(sent time.Time) (age time.Duration) {
	r.clock.Observe(sent)
	return r.clock.Now().Sub(sent)
}

// chat delivers messages with true stamps, each up to 3 s late, and odd ones among them. Odd stamps
// come alone, in pairs and in bursts, for at most 15 s, and never make up more than a third of the
// stamps in half a minute. It returns for how long at most the true messages were too old.
func (r *room) chat(length, pause time.Duration, odd bool) (deaf time.Duration) {
	began := time.Duration(-1)
	budget := 0.0 // odd stamps that may come now
	for end := r.elapsed + length; r.elapsed < end; {
		r.elapsed += r.upTo(2 * pause)
		if age := r.say(r.now().Add(-r.upTo(3 * time.Second))); age <= time.Minute {
			began = -1
		} else if began < 0 {
			began = r.elapsed
		} else {
			deaf = max(deaf, r.elapsed-began)
		}
		budget = min(budget+0.5, float64(min(15*time.Second, 30*time.Second/3)/pause))
		if odd && budget >= 1 && r.random.IntN(4) == 0 {
			lead := r.oddLead()
			n := 1 + r.random.IntN(min(20, int(budget)))
			budget -= float64(n)
			for range n {
				if r.random.IntN(2) == 0 {
					r.elapsed += r.upTo(min(pause, time.Second))
				}
				if r.random.IntN(8) == 0 {
					lead = r.oddLead()
				}
				r.say(r.now().Add(lead))
			}
		}
	}
	return deaf
}

// oddLead returns by how much an odd stamp is ahead; it may be behind.
func (r *room) oddLead() time.Duration {
	leads := []time.Duration{5 * time.Second, 55 * time.Second, 90 * time.Second, 5 * time.Minute, time.Hour, 365 * 24 * time.Hour}
	lead := leads[r.random.IntN(len(leads))]
	switch r.random.IntN(4) {
	case 0:
		return -lead
	case 1:
		return r.upTo(2 * time.Minute)
	}
	return lead
}

// Odd stamps among true ones never make true messages look too old for long, whatever the odd ones
// say and however many there are. A real step of the chat's clock or of this machine's is followed.
func TestChat_OddStamps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRoom(rt)
		pause := rapid.SampledFrom([]time.Duration{20 * time.Millisecond, 200 * time.Millisecond, time.Second, 3 * time.Second}).Draw(rt, "pause")
		most := 2*behindToWin + 15*pause // a rival may have to be voted out first
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			if deaf := r.chat(2*time.Minute, pause, true); deaf > most {
				rt.Fatalf("true messages were too old for %v", deaf)
			}
			r.ahead += rapid.SampledFrom([]time.Duration{90 * time.Second, -90 * time.Second, time.Hour, -time.Hour, -24 * time.Hour}).Draw(rt, "step")
			if deaf := r.chat(2*time.Minute, pause, false); deaf > most {
				rt.Fatalf("after a step, true messages were too old for %v", deaf)
			}
			if off := r.clock.Now().Sub(r.now()); off.Abs() > 20*time.Second {
				rt.Fatalf("two minutes after a step, the clock is off by %v", off)
			}
		}
	})
}

// What a connection delivers late, after a stall, doesn't set the clock back, so that it isn't
// taken for new. It arrives faster than it was sent.
func TestChat_Backlog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRoom(rt)
		r.chat(time.Minute, time.Second, false)
		began, stall := r.now(), rapid.SampledFrom([]time.Duration{75 * time.Second, 5 * time.Minute, time.Hour}).Draw(rt, "stall")
		rate := rapid.SampledFrom([]time.Duration{2, 10, 1000}).Draw(rt, "rate")
		perSecond := rapid.SampledFrom([]time.Duration{1, 20}).Draw(rt, "messages per second")
		r.elapsed += stall
		for sent := began; sent.Before(r.now()); sent = sent.Add(time.Second / perSecond) {
			r.elapsed += time.Second / perSecond / rate
			if age, truly := r.say(sent), r.now().Sub(sent); age < truly-5*time.Second {
				rt.Fatalf("a message of %v before looks %v old", truly, age)
			}
		}
	})
}
