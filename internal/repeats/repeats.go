// Package repeats remembers who wrote the same text in the last ten minutes, in channels with limits
// on repeated text. It knows texts only by their prints, and must not know the database or HTTP.
package repeats

import (
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
	// Kept is how long messages are remembered.
	Kept = 10 * time.Minute
	// mostMessages is the maximum number of remembered messages of all channels. Beyond it, the
	// oldest messages of the channel with the most are forgotten. A message takes up to 200 bytes.
	mostMessages = 1 << 16
	// mostEntries is the number of journal entries whose Repeats are remembered until the observers
	// of the same message have asked for them.
	mostEntries = 1 << 10
)

// Memory remembers the messages of all channels. It is safe for concurrent use. Create one with New.
type Memory struct {
	guard *chatguard.Guard
	most  int
	seed  maphash.Seed

	mu       sync.Mutex
	channels map[string]*channel
	total    int
	entries  [mostEntries]entry
	next     int // in entries
}

// entry is what a journal entry says about repeats.
type entry struct {
	id      chatguard.EntryID
	repeats journal.Repeats
}

// New returns an empty Memory for a Guard's verdicts.
func New(guard *chatguard.Guard) *Memory {
	return &Memory{guard: guard, most: mostMessages, seed: maphash.MakeSeed(), channels: map[string]*channel{}}
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
	texts, user := keysOf(v.Print), maphash.String(r.seed, v.UserID)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channel(v.ChannelID)
	r.total -= c.expire(v.At.Add(-Kept).UnixNano())
	c.add(said{v.At.UnixNano(), user, texts})
	r.total++
	if limit.Name != "" {
		r.entries[r.next] = entry{v.EntryID, c.repeats(user, texts, &limit, v.At)}
		r.next = (r.next + 1) % mostEntries
	}
	if r.total > r.most {
		r.trim()
	}
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
	for i := range r.entries { // the newest is usually the wanted one
		if e := &r.entries[(r.next-1-i+2*mostEntries)%mostEntries]; e.id == id {
			return e.repeats
		}
	}
	return journal.Repeats{}
}

// Count returns how often the text with a print was written in a channel in the last ten minutes,
// and by how many users. Similar texts count as the same if similar is set.
func (r *Memory) Count(channelID string, print chatguard.TextPrint, similar bool, now time.Time) (times, people int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[channelID]
	if c == nil {
		return 0, 0
	}
	r.total -= c.expire(now.Add(-Kept).UnixNano())
	t := c.texts[keysOf(print).of(similar)]
	return int(t.times), int(t.people)
}

// channel returns the messages of a channel.
func (r *Memory) channel(id string) *channel {
	c := r.channels[id]
	if c == nil {
		c = &channel{texts: map[uint64]text{}, own: map[uint64]uint32{}}
		r.channels[strings.Clone(id)] = c
	}
	return c
}

// trim forgets messages of the channel with the most, an eighth of them at once, so that it seldom
// has to look for that channel. It also removes channels without messages.
func (r *Memory) trim() {
	var fullest *channel
	for id, c := range r.channels {
		if c.len() == 0 {
			delete(r.channels, id)
		} else if fullest == nil || c.len() > fullest.len() {
			fullest = c
		}
	}
	for range max(1, fullest.len()/8) {
		fullest.forgetOldest()
		r.total--
	}
}

// textKeys identify a text: as it is, and as similar texts have it. Keys of different texts differ,
// because they are parts of keyed hashes.
type textKeys [2]uint64

func (k textKeys) of(similar bool) uint64 {
	if similar {
		return k[1]
	}
	return k[0]
}

// keysOf returns the keys of a print. In its binary form, each hash comes after a length of two
// bytes; see TextPrint.AppendBinary.
func keysOf(p chatguard.TextPrint) (k textKeys) {
	var room [64]byte
	data, err := p.AppendBinary(room[:0])
	if err != nil || len(data) != 1+2*(2+16) {
		return k
	}
	// The lowest bit distinguishes the two.
	return textKeys{binary.LittleEndian.Uint64(data[3:]) &^ 1, binary.LittleEndian.Uint64(data[21:]) | 1}
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
