package persist

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// timelineQueue holds pending messages of the timeline by channel, so that a flood in one channel
// doesn't drop messages of a channel that has fewer. The zero value is empty.
type timelineQueue struct {
	n        int
	channels map[string]*channelRows
	last     *channelRows // channel of the last message
	fullest  fullest      // all channels; nil until the first drop
}

// channelRows are the messages of a channel, sorted by number. The existing elements of rows may be
// read while more are added.
type channelRows struct {
	id    string
	rows  []timelineRow
	place int // index in fullest
}

// rowsOf returns the messages of a channel, so that the caller can add a message. The channel ID in
// the result is a copy, because a message's IDs are substrings of a whole chat line.
func (q *timelineQueue) rowsOf(channelID string) *channelRows {
	if q.last != nil && q.last.id == channelID {
		return q.last
	}
	q.forgetLast()
	c := q.channels[channelID]
	if c == nil {
		if q.channels == nil {
			q.channels = map[string]*channelRows{}
		}
		c = &channelRows{id: strings.Clone(channelID)}
		q.channels[c.id] = c
		if q.fullest != nil {
			heap.Push(&q.fullest, c)
		}
	}
	q.last = c
	return c
}

// add adds a message to rows returned by rowsOf.
func (q *timelineQueue) add(c *channelRows, row timelineRow) {
	row.ChannelID = c.id
	c.rows = append(c.rows, row)
	q.n++
	if q.fullest != nil {
		heap.Fix(&q.fullest, c.place)
	}
}

// dropOldest drops up to n messages, and returns how many it dropped. Each time it drops the oldest
// message of the channel with the most messages.
func (q *timelineQueue) dropOldest(n int) int {
	n = min(n, q.n)
	if n <= 0 {
		return 0
	}
	if q.fullest == nil {
		for _, c := range q.channels {
			c.place = len(q.fullest)
			q.fullest = append(q.fullest, c)
		}
		heap.Init(&q.fullest)
	}
	for range n {
		c := q.fullest[0]
		// The dropped rows stay unchanged in the slice's array, because a reader may be using them.
		c.rows = c.rows[1:]
		if len(c.rows) > 0 || c == q.last {
			heap.Fix(&q.fullest, 0)
			continue
		}
		heap.Pop(&q.fullest)
		delete(q.channels, c.id)
	}
	q.n -= n
	return n
}

// forgetLast removes the channel of the last message if the channel has no pending messages any
// more.
func (q *timelineQueue) forgetLast() {
	if q.last != nil && len(q.last.rows) == 0 && q.fullest != nil {
		heap.Remove(&q.fullest, q.last.place)
		delete(q.channels, q.last.id)
	}
}

// prepend puts messages, sorted by number, before the pending ones.
func (q *timelineQueue) prepend(earlier *timelineQueue) {
	for _, c := range q.channels {
		before := earlier.rowsOf(c.id)
		before.rows = append(before.rows, c.rows...)
		earlier.n += len(c.rows)
	}
	*q = *earlier
}

// messagesByChannel returns the messages of each channel.
func (q *timelineQueue) messagesByChannel() [][]timelineRow {
	parts := make([][]timelineRow, 0, len(q.channels))
	for _, c := range q.channels {
		parts = append(parts, c.rows)
	}
	return parts
}

// fullest is a heap of channels, for container/heap. The channel with the most messages comes
// first; in a tie, the one with the oldest first message.
type fullest []*channelRows

func (f fullest) Len() int { return len(f) }

func (f fullest) Less(i, j int) bool {
	a, b := f[i].rows, f[j].rows
	if len(a) != len(b) || len(a) == 0 {
		return len(a) > len(b)
	}
	return a[0].number < b[0].number
}

func (f fullest) Swap(i, j int) {
	f[i], f[j] = f[j], f[i]
	f[i].place, f[j].place = i, j
}

// Push adds a channel.
func (f *fullest) Push(c any) {
	c.(*channelRows).place = len(*f)
	*f = append(*f, c.(*channelRows))
}

// Pop removes the last channel.
func (f *fullest) Pop() any {
	last := len(*f) - 1
	c := (*f)[last]
	*f = slices.Delete(*f, last, last+1)
	return c
}

// compareByNumber compares messages by the order of their arrival.
func compareByNumber(a, b timelineRow) int { return cmp.Compare(a.number, b.number) }
