package persist

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// timelineQueue are messages of the timeline that wait, by channel: the flood of one channel drops nothing of another that has fewer. The zero value is
// empty.
type timelineQueue struct {
	n        int
	channels map[string]*channelRows
	last     *channelRows // what the last message was added to
	fullest  fullest      // of all channels; nil until something is dropped
}

// channelRows are the messages of a channel in the order of their numbers. Those behind the first len(rows) may be looked at while more are added.
type channelRows struct {
	id    string
	rows  []timelineRow
	place int // in fullest
}

// of returns the messages of a channel, to add one. Its ID is a copy: those of a message are parts of a whole line of chat.
func (q *timelineQueue) of(channelID string) *channelRows {
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

// add adds a message to those that of has returned.
func (q *timelineQueue) add(c *channelRows, row timelineRow) {
	row.ChannelID = c.id
	c.rows = append(c.rows, row)
	q.n++
	if q.fullest != nil {
		heap.Fix(&q.fullest, c.place)
	}
}

// dropOldest drops up to n messages, and returns how many: each time the oldest of the channel that has the most.
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
		c.rows = c.rows[1:] // they stay as they are in the array behind the slice, because somebody may be looking at them
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

// forgetLast forgets the channel of the last message if nothing of it waits any more.
func (q *timelineQueue) forgetLast() {
	if q.last != nil && len(q.last.rows) == 0 && q.fullest != nil {
		heap.Remove(&q.fullest, q.last.place)
		delete(q.channels, q.last.id)
	}
}

// prepend puts messages, in the order of their numbers, before those that wait.
func (q *timelineQueue) prepend(earlier *timelineQueue) {
	for _, c := range q.channels {
		before := earlier.of(c.id)
		before.rows = append(before.rows, c.rows...)
		earlier.n += len(c.rows)
	}
	*q = *earlier
}

// parts are the messages of each channel.
func (q *timelineQueue) parts() [][]timelineRow {
	parts := make([][]timelineRow, 0, len(q.channels))
	for _, c := range q.channels {
		parts = append(parts, c.rows)
	}
	return parts
}

// fullest is a heap of channels, for container/heap: first whose messages are the most; of equally many, whose first is the oldest.
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

// Pop takes the last one away.
func (f *fullest) Pop() any {
	last := len(*f) - 1
	c := (*f)[last]
	*f = slices.Delete(*f, last, last+1)
	return c
}

// byNumber sorts messages in the order in which they came.
func byNumber(a, b timelineRow) int { return cmp.Compare(a.number, b.number) }
