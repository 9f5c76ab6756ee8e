package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// After a server has lost rows, all messages count: those that only one node remembers, and those
// that another node has allowed meanwhile.
func TestShared_LostAndAllowedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name                  string
		before, later, outage string // who sends a message
		want                  int
	}{
		{"the server is empty, and the other node knows nothing", "aaaaaaaa", "", "b", 9},
		{"the server is empty, and the other node knows less", "ba", "", "b", 3},
		{"the server is empty, and both allow more", "ba", "", "baa", 5},
		{"the server has an older state, and the other node knows nothing", "a", "a", "b", 3},
		{"the server has an older state, and the other node knows it", "ab", "aa", "b", 5},
		{"the server has an older state, and the other node knows more", "a", "aab", "a", 5},
	} {
		for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
			for _, first := range []int{0, 1} {
				server := newServer(t, mode, dayOnly())
				server.join()
				server.join()
				sendFrom := func(senders string) {
					for _, sender := range senders {
						check(t, server.nodes[sender-'a'], "7")
						if !server.nodes[0].away {
							server.exchange()
						}
					}
				}
				sendFrom(c.before)
				state := server.save()
				sendFrom(c.later)
				server.setAway(true)
				sendFrom(c.outage)
				if server.lose(); c.later != "" {
					server.restore(state)
				}
				server.setAway(false)
				for _, n := range server.nodes { // as redisstore does
					n.Shared().InvalidateAll()
					n.Shared().Heal()
				}
				for range 5 {
					server.nodes[first].exchange()
					server.nodes[1-first].exchange()
					server.now = server.now.Add(500 * time.Millisecond)
				}
				server.opts.SharedMode = shared.Exact
				if got := used(t, server.join()) - 1; got != c.want {
					t.Errorf("%s, %s, node %d exchanges first: %d messages count, want %d", c.name, mode, first, got, c.want)
				}
			}
		}
	}
}

// A node that hasn't noticed yet that the server is in an older state goes on from there. The node
// that knows more brings back at least that.
func TestShared_LostAndWrittenSince(t *testing.T) {
	for since := 1; since <= 5; since++ {
		server := newServer(t, shared.Exact, dayOnly())
		a, b := server.join(), server.join()
		send(t, a, 1)
		state := server.save()
		send(t, a, 2)
		server.lose()
		server.restore(state)
		send(t, b, since) // these may have the numbers of the lost writes
		check(t, a, "7")
		server.now = server.now.Add(2 * time.Second)
		a.exchange()
		if got := used(t, b); got < 5 || got > 5+since {
			t.Errorf("%d messages since: %d count, want at least 5", since, got)
		}
	}
}

// A node that was away when the server lost its rows again, shortly after a restart, pays what it
// owes in addition to what the other node has written meanwhile.
func TestShared_LostAgain(t *testing.T) {
	for i := range 4 {
		mode, noticed := []shared.Mode{shared.Exact, shared.Synchronised}[i%2], i < 2
		server := newServer(t, mode, dayOnly())
		a, b := server.join(), server.join()
		send(t, a, 1)
		a.exchange()
		a.Shared().Heal() // the restart
		server.now = server.now.Add(3 * time.Second)
		a.setAway(true)
		server.lose()
		send(t, a, 4)
		send(t, b, 10)
		b.exchange()
		a.setAway(false)
		if a.Shared().InvalidateAll(); noticed {
			a.Shared().Heal()
		}
		for range 5 {
			server.exchange()
			server.now = server.now.Add(500 * time.Millisecond)
		}
		server.opts.SharedMode = shared.Exact
		if got := used(t, server.join()) - 1; got != 15 {
			t.Errorf("%s, noticed: %t: %d messages count, want 15", mode, noticed, got)
		}
	}
}
