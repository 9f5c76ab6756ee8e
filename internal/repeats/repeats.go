// Package repeats remembers who wrote the same text in the last ten minutes, in channels with
// limits on repeated text. It knows texts only by their prints, and must not know the database or
// HTTP.
package repeats

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// Kept is how long messages are remembered. Older ones are forgotten when others arrive, in any
	// channel.
	Kept = 10 * time.Minute
	// mostExpired is the maximum number of messages of all channels that are forgotten for their
	// age when one arrives, so that no message waits long. It is above 1, so old ones don't pile
	// up.
	mostExpired = 16
	// mostMessages is the maximum number of remembered messages of all channels. Beyond it, the
	// oldest messages of the channel with the most are forgotten. A message takes up to 200 bytes.
	mostMessages = 1 << 16
	// mostEntries is the number of journal entries whose Repeats are remembered until the observers
	// of the same message have asked for them.
	mostEntries = 1 << 10
)

// Memory remembers the messages of all channels. It is safe for concurrent use. Create one with
// New.
type Memory struct {
	guard *chatguard.Guard
	most  int
	seed  maphash.Seed

	mu       sync.Mutex
	channels map[string]*channel // those with messages
	oldest   pile                // of the same channels, by the age of their oldest messages
	fullest  pile                // of the same channels, by their number of messages
	total    int
	last     int64 // time of the last message, in ns since 1970
	repeats  map[chatguard.EntryID]journal.Repeats
	entries  [mostEntries]chatguard.EntryID // the keys of repeats
	next     int                            // in entries
}

// New returns an empty Memory for a Guard's verdicts.
func New(guard *chatguard.Guard) *Memory {
	return &Memory{
		guard: guard, most: mostMessages, seed: maphash.MakeSeed(), channels: map[string]*channel{}, repeats: map[chatguard.EntryID]journal.Repeats{},
		oldest:  pile{place: 0, compare: func(a, b *channel) int { return cmp.Compare(a.oldest(), b.oldest()) }},
		fullest: pile{place: 1, compare: func(a, b *channel) int { return b.len() - a.len() }},
	}
}

// Observe remembers a message whose verdict has a print. It has the signature of
// chatguard.Options.Observer, and never blocks. Observers that want the Repeats of a message must
// come after it.
func (r *Memory) Observe(m chatguard.Message, v chatguard.Verdict) {
	if v.Print.IsZero() {
		return
	}
	var limit chatguard.Limit
	if v.EntryID != 0 {
		limit = r.limit(v.ChannelID, v.Limit)
	}
	texts, user, at := r.keysOf(v.Print), maphash.String(r.seed, v.UserID), v.At.UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	// One message from a wrong clock must not make others look old, so the earlier of the last two
	// times counts.
	r.expire(min(at, r.last) - int64(Kept))
	r.last = at
	c := r.channel(v.ChannelID)
	r.total -= c.expire(at - int64(Kept))
	c.add(said{at, user, texts})
	r.total++
	r.changed(c)
	if limit.Name != "" {
		delete(r.repeats, r.entries[r.next])
		r.entries[r.next], r.repeats[v.EntryID] = v.EntryID, c.repeats(user, texts, &limit, v.At)
		r.next = (r.next + 1) % mostEntries
	}
	if r.total > r.most {
		r.forgetOldest(r.fullest.channels[0])
	}
}

// expire forgets some messages of all channels from before a time.
func (r *Memory) expire(before int64) {
	for range mostExpired {
		if len(r.channels) == 0 || r.oldest.channels[0].oldest() >= before {
			return
		}
		r.forgetOldest(r.oldest.channels[0])
	}
}

// forgetOldest forgets the oldest message of a channel.
func (r *Memory) forgetOldest(c *channel) {
	c.forgetOldest()
	r.total--
	r.changed(c)
}

// limit returns a limit on repeated text of a channel's policy, or the zero value if it isn't one.
func (r *Memory) limit(channelID, name string) chatguard.Limit {
	for _, l := range inner.Of(r.guard).InForce(channelID).Limits {
		if l.Name == name && inner.IsText(l.Per) {
			return l
		}
	}
	return chatguard.Limit{}
}

// Of returns the Repeats of the message of a new journal entry. They are zero if no limit on
// repeated text throttled it.
func (r *Memory) Of(id chatguard.EntryID) journal.Repeats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.repeats[id]
}

// Count returns how often the text with a print was written in a channel in the last ten minutes,
// and by how many users. Similar texts count as the same if similar is set. It is for a view of
// raids, which groups people by "wrote the same"; nothing calls it yet.
func (r *Memory) Count(channelID string, print chatguard.TextPrint, similar bool, now time.Time) (times, people int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[channelID]
	if c == nil {
		return 0, 0
	}
	r.total -= c.expire(now.Add(-Kept).UnixNano())
	r.changed(c)
	t := c.texts[r.keysOf(print).of(similar)]
	return int(t.times), int(t.people)
}

// channel returns the messages of a channel.
func (r *Memory) channel(id string) *channel {
	c := r.channels[id]
	if c == nil {
		c = &channel{id: strings.Clone(id), texts: map[uint64]text{}, own: map[uint64]uint32{}}
		r.channels[c.id] = c
		heap.Push(&r.oldest, c)
		heap.Push(&r.fullest, c)
	}
	return c
}

// changed moves a channel whose messages have changed to its new places. It removes the channel if
// it has none.
func (r *Memory) changed(c *channel) {
	for _, p := range []*pile{&r.oldest, &r.fullest} {
		if c.len() > 0 {
			heap.Fix(p, c.places[p.place])
		} else {
			heap.Remove(p, c.places[p.place])
		}
	}
	if c.len() == 0 {
		delete(r.channels, c.id)
	}
}

// textKeys identify a text: as it is, and as similar texts have it. Keys of different texts differ,
// because they are parts of keyed hashes. A key is 0 if nothing is left of the text in that form.
type textKeys [2]uint64

func (k textKeys) of(similar bool) uint64 {
	if similar {
		return k[1]
	}
	return k[0]
}

// keysOf returns the keys of a print.
func (r *Memory) keysOf(p chatguard.TextPrint) (k textKeys) {
	for i, hash := range inner.Of(r.guard).Hashes(p) {
		if hash != [16]byte{} {
			k[i] = binary.LittleEndian.Uint64(hash[:])&^1 | uint64(i) // the lowest bit distinguishes the two
		}
	}
	return k
}

// window returns the time in which a limit's repeats are counted.
func window(limit *chatguard.Limit) time.Duration {
	if 0 < limit.Every && limit.Every < Kept {
		return limit.Every
	}
	return Kept
}

// repeats returns what the journal says about a message that was just added.
func (c *channel) repeats(user uint64, texts textKeys, limit *chatguard.Limit, at time.Time) journal.Repeats {
	key, within := texts.of(limit.Similar), window(limit)
	return journal.Repeats{
		Times: c.userTimes(user, key, at.Add(-within).UnixNano()), People: int(c.texts[key].people), Window: durations.Format(within),
	}
}
