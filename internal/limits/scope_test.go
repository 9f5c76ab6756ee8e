package limits

import (
	"sync"
	"testing"
	"time"
)

// chats is two channels with limits of every scope.
type chats struct {
	users      [2]*Table // users of each channel
	channels   [2]*Table
	everywhere *Table
	all        *Table // everyone in both channels
}

func newChats(t *testing.T, limits ...Limit) *chats {
	t.Helper()
	sets := compileSets(t, Strikes{Every: 10 * time.Second}, limits...)
	c := &chats{everywhere: NewTable(sets[PerUserEverywhere], 1<<30, new(Dropped))}
	for i := range c.users {
		c.users[i], c.channels[i] = NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerChannel], 1<<30, new(Dropped))
	}
	if sets[PerEverywhere] != nil {
		c.all = NewTable(sets[PerEverywhere], 1<<30, new(Dropped))
	}
	return c
}

func (c *chats) places(user string, channel int) []Place {
	places := []Place{{Table: c.everywhere, User: user}, {Table: c.channels[channel]}}
	if c.all != nil {
		places = append(places, Place{Table: c.all})
	}
	return places
}

func (c *chats) judge(user string, channel int, q Request) (d Decision) {
	c.users[channel].Judge(user, &q, &d, c.places(user, channel)...)
	return d
}

func (c *chats) send(user string, channel int, at float64) Decision {
	return c.judge(user, channel, Request{At: nanos(at), Cost: 1})
}

// usage returns a user's usage of every limit, in the policy's order.
func (c *chats) usage(user string, channel int, at float64) (used []int64) {
	_, levels, _ := c.users[channel].Explain(user, &Request{At: nanos(at), Cost: 1}, c.places(user, channel)...)
	for _, l := range levels {
		used = append(used, l.Used)
	}
	return used
}

func TestExemption_NotJudged(t *testing.T) {
	c := newChats(t, bucket(1, time.Hour), bucket(1, time.Hour).withName("all").withScope(PerChannel), bucket(1, time.Hour).withName("e").withScope(PerUserEverywhere))
	for _, spentBefore := range []bool{false, true} {
		if spentBefore {
			c.send("1", 0, 0)
		}
		for range 3 {
			d := c.judge("1", 0, Request{At: nanos(0), Cost: 5, Exempt: true})
			if !d.Allowed || !d.Exempt || d.Taken != 0 || d.Limit != nil || d.LeaveAt != nanos(0) {
				t.Errorf("%+v, want exempt", d)
			}
		}
		if rows := c.users[0].Users() + c.channels[0].Users() + c.everywhere.Users(); !spentBefore && rows != 0 {
			t.Errorf("%d rows of users who are exempt", rows)
		}
	}
	if used := c.usage("1", 0, 0); [3]int64(used) != [3]int64{1, 1, 1} {
		t.Errorf("%v are used", used)
	}
}

func TestScope_Concurrent(t *testing.T) {
	// Two channels and one user everywhere: whatever the order of the locks, there is no deadlock,
	// and no user gets more than allowed.
	c := newChats(t, bucket(50, 1e6*time.Second), bucket(60, 1e6*time.Second).withName("all").withScope(PerChannel), bucket(70, 1e6*time.Second).withName("e").withScope(PerUserEverywhere),
		bucket(110, 1e6*time.Second).withName("server").withScope(PerEverywhere))
	var counting sync.Mutex
	allowed := map[string]int{}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				user, channel := string(rune('1'+i%2)), (g+i/2)%2
				if d := c.send(user, channel, 0); d.Allowed {
					counting.Lock()
					allowed[user]++
					allowed[user+"ab"[channel:channel+1]]++
					allowed["ab"[channel:channel+1]]++
					allowed["all"]++
					counting.Unlock()
				}
			}
		})
	}
	all.Wait()
	for of, most := range map[string]int{"1": 70, "2": 70, "1a": 50, "1b": 50, "2a": 50, "2b": 50, "a": 60, "b": 60} {
		if allowed[of] > most {
			t.Errorf("%s: %d messages, want %d at most", of, allowed[of], most)
		}
	}
	if allowed["all"] != 110 { // 800 were tried; this limit blocks last
		t.Errorf("%v, want 110 in both channels together", allowed)
	}
}
