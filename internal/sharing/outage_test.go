package sharing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limittest"
	"github.com/chatguard/chatguard/shared"
)

// fault is what happens to the store in an outage.
type fault int

const (
	noFault     fault = iota
	allAway           // it answers no node
	oneCutOff         // it doesn't answer the first node
	repliesLost       // it answers no node, and some of the first swaps have happened
	backEmpty         // it answers no node, and has lost all rows when it is back
)

var faults = []fault{noFault, allAway, oneCutOff, repliesLost, backEmpty}

func (f fault) String() string {
	return []string{"no fault", "all away", "one cut off", "replies lost", "back empty"}[f]
}

// scene is an outage while several nodes share a limit.
type scene struct {
	limit  chatguard.Limit
	nodes  int
	mode   shared.Mode
	fault  fault
	outage time.Duration
	below  bool          // users stay below the limit; otherwise they send as much as they can
	bursts bool          // messages come in bursts
	gap    time.Duration // between messages in the outage; 0 means enough to use up the limit
	ahead  time.Duration // the clock of messages, of those of the nodes
	seed   uint64
}

func (s scene) String() string {
	users := "greedy users"
	if s.below {
		users = "users below the limit"
	}
	return fmt.Sprintf("%s per %v, %d nodes, %s, %v for %v, %s, messages %v ahead", s.limit.Name, s.limit.Per, s.nodes, s.mode, s.fault, s.outage, users, s.ahead)
}

// outcome is what happened in a scene.
type outcome struct {
	asked, allowed int
	refused        int           // messages whose author was below the limit
	differ         int           // verdicts of a node that is alone that a Guard without a store doesn't give
	degraded       int           // verdicts after the outage; if rows were lost, a second later
	tooMany        int           // maximum number of messages beyond what one node would have allowed
	tooFew         int           // maximum number of messages below that
	left           int           // messages beyond that at the end
	recovery       time.Duration // from the end of the outage until nothing is left; negative if never
	beyond         int           // messages in the outage beyond what each node would allow by itself
}

// stage is where a scene is played.
type stage struct {
	scene
	outcome
	random *rand.Rand
	server *fakeServer
	alone  *chatguard.Guard // that shares nothing
	ideal  *limittest.Model
	excess int       // allowed, beyond the ideal
	next   time.Time // exchange
	back   time.Time // when the outage has ended
	away   bool
	// apart has what each node would allow in the outage without the others.
	apart []*limittest.Model
	in    int // messages allowed in the outage
}

// authors are users, and the channels that they write in.
var authors = [][2]string{{"c", "7"}, {"c", "8"}, {"d", "7"}}

// play plays a scene: before, in, and after the outage.
func play(t testing.TB, s scene) outcome {
	p := &stage{scene: s, server: newServer(t, s.mode, enforced(s.limit)), next: sharedStart, random: rand.New(rand.NewPCG(s.seed, 1)), ideal: limittest.New(s.limit)}
	p.alone = mustNew(t, p.server.policy, &chatguard.Options{Now: p.server.clock})
	p.server.joinAll(s.nodes)
	period, usual := p.ideal.Period(), p.ideal.Period()/time.Duration(6*p.ideal.Capacity())
	p.run(2*period, usual)
	p.begin()
	gap := s.gap
	if gap == 0 {
		gap = max(min(usual, s.outage/time.Duration(6*p.ideal.Capacity())), s.outage/1000)
	}
	p.run(s.outage, gap)
	p.end()
	p.recovery = -1
	for range 20 {
		p.run(min(time.Duration(s.nodes)*(s.outage+period)/20+period/10, 50*usual), usual)
		if p.excess > 0 {
			p.recovery = -1
		} else if p.recovery < 0 {
			p.recovery = p.server.now.Sub(p.back)
		}
	}
	p.left = p.excess
	return p.outcome
}

// begin begins the outage.
func (p *stage) begin() {
	p.away = true
	p.apart = make([]*limittest.Model, p.nodes)
	for i, n := range p.server.nodes {
		p.apart[i] = limittest.New(p.limit)
		switch {
		case p.fault == noFault:
		case p.fault == oneCutOff && i > 1:
			p.apart[i] = p.apart[1] // they decide together
		case p.fault == oneCutOff && i == 1:
		case p.fault == repliesLost:
			lost, random := 2*p.ideal.Capacity(), seeded(p.seed, uint64(i))
			n.before = func(context.Context) error {
				if lost--; lost < 0 {
					return shared.ErrAway
				}
				if random(2) == 0 {
					return errReplyLost // the swap hasn't happened
				}
				return nil
			}
			n.after = func() error { return errReplyLost }
		default:
			n.setAway(true)
		}
	}
}

// end ends the outage.
func (p *stage) end() {
	p.away, p.back, p.beyond = false, p.server.now, p.in
	if p.fault == backEmpty {
		p.server.lose()
	}
	for _, n := range p.server.nodes {
		n.setAway(false)
		n.before, n.after = nil, nil
		if n.Shared().InvalidateAll(); p.fault == backEmpty {
			n.Shared().Heal()
		}
	}
	if p.mode == shared.Synchronised || p.fault == backEmpty {
		p.next = p.server.now // otherwise messages may come first
	}
}

// run lets time pass, with messages at about this interval.
func (p *stage) run(length, gap time.Duration) {
	for end := p.server.now.Add(length); ; {
		pause := time.Duration(p.random.Int64N(2*int64(gap) + 1))
		if p.bursts {
			if pause = 0; p.random.IntN(2*p.ideal.Capacity()) == 0 {
				pause = gap * time.Duration(2*p.ideal.Capacity())
			}
		}
		at := p.server.now.Add(pause)
		if at.After(end) {
			p.server.now = end
			return
		}
		for range 4 { // further ones would change nothing
			if p.next.After(at) {
				break
			}
			p.server.now = p.next
			p.exchange()
		}
		p.server.now = at
		if p.next.Before(at) {
			p.next = at
		}
		author := authors[p.random.IntN(len(authors))]
		if p.below {
			if p.ideal.Below(p.server.now.Add(p.ahead), author[0], author[1]) {
				p.send(p.random.IntN(p.nodes), author)
			}
			continue
		}
		for _, i := range p.random.Perm(p.nodes) {
			p.send(i, author)
		}
	}
}

// exchange lets all nodes exchange, as redisstore does every 500 ms.
func (p *stage) exchange() {
	p.next = p.server.now.Add(500 * time.Millisecond)
	for _, n := range p.server.nodes {
		if err := n.Shared().Exchange(p.server.t.Context()); err != nil && !p.away {
			p.server.t.Errorf("%v: %v", p.scene, err)
		}
	}
}

// send sends a message through a node, and compares the verdict.
func (p *stage) send(node int, author [2]string) {
	at := p.server.now.Add(p.ahead)
	m := chatguard.Message{ChannelID: author[0], User: chatguard.User{ID: author[1]}, SentAt: at}
	got := judge(p.server.t, p.server.nodes[node], m)
	p.asked++
	if got.Allowed {
		p.allowed++
		p.excess++
	}
	if p.ideal.Check(at, author[0], author[1]) {
		p.excess--
	}
	p.tooMany, p.tooFew = max(p.tooMany, p.excess), max(p.tooFew, -p.excess)
	if p.away {
		if got.Allowed {
			p.in++
		}
		if p.apart[node].Check(at, author[0], author[1]) {
			p.in--
		}
	} else if got.Degraded && (p.fault != backEmpty || p.server.now.Sub(p.back) > time.Second) {
		p.degraded++
	}
	if p.below && !got.Allowed {
		p.refused++
	}
	if p.nodes > 1 {
		return
	}
	want := judge(p.server.t, p.alone, m)
	if got.Degraded = false; comparableVerdict(got) != comparableVerdict(want) {
		p.differ++
	}
}
