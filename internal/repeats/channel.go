package repeats

import "math"

// channel has the messages of a channel, and counts of them. Each message is counted under both of
// its keys.
type channel struct {
	id     string
	places [2]int // index in each pile
	said   []said // the first of them are forgotten
	first  int    // index of the oldest message in said
	texts  map[uint64]text
	own    map[uint64]uint32 // how many messages with a text a user wrote, by ownKey
}

// said is a message.
type said struct {
	at    int64 // ns since 1970
	user  uint64
	texts textKeys
}

// text counts the messages with a text.
type text struct{ times, people uint32 }

// ownKey identifies a user's text.
func ownKey(user, key uint64) uint64 { return user*0x9e3779b97f4a7c15 ^ key }

func (c *channel) len() int { return len(c.said) - c.first }

// oldest returns the time of the oldest message.
func (c *channel) oldest() int64 {
	if c.len() == 0 {
		return math.MaxInt64
	}
	return c.said[c.first].at
}

// add adds the newest message.
func (c *channel) add(s said) {
	if c.first > 0 && 2*c.first >= len(c.said) {
		n := copy(c.said, c.said[c.first:])
		c.said, c.first = c.said[:n], 0
	}
	c.said = append(c.said, s)
	for _, key := range s.texts {
		if key == 0 {
			continue
		}
		t, mine := c.texts[key], ownKey(s.user, key)
		t.times++
		if c.own[mine]++; c.own[mine] == 1 {
			t.people++
		}
		c.texts[key] = t
	}
}

// expire forgets messages from before a time, and returns how many.
func (c *channel) expire(before int64) (n int) {
	for ; c.len() > 0 && c.said[c.first].at < before; n++ {
		c.forgetOldest()
	}
	return n
}

// forgetOldest forgets the oldest message.
func (c *channel) forgetOldest() {
	s := &c.said[c.first]
	c.first++
	for _, key := range s.texts {
		if key == 0 {
			continue
		}
		t, mine := c.texts[key], ownKey(s.user, key)
		if c.own[mine]--; c.own[mine] == 0 {
			delete(c.own, mine)
			t.people--
		}
		if t.times--; t.times == 0 {
			delete(c.texts, key)
		} else {
			c.texts[key] = t
		}
	}
}

// userTimes returns how many messages with a text a user wrote since a time. It looks at the newest
// messages first, and stops when it has found all of the user's.
func (c *channel) userTimes(user, key uint64, since int64) (times int) {
	all := c.own[ownKey(user, key)]
	if c.len() > 0 && c.said[c.first].at >= since {
		return int(all)
	}
	for i, left := len(c.said)-1, all; left > 0 && i >= c.first && c.said[i].at >= since; i-- {
		if s := &c.said[i]; s.user == user && (s.texts[0] == key || s.texts[1] == key) {
			times++
			left--
		}
	}
	return times
}
