package live

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

// transcript holds the latest messages of all channels, so that a moderator sees what was said
// around a throttled message. It is in memory only and is never written anywhere. It holds at most
// 32 MB, and each message for at most Recent. It is safe for concurrent use.
type transcript struct {
	// now is the time in nanoseconds. A clock read per message would be too slow, so expire sets
	// it.
	now    atomic.Int64
	shards [16]transcriptShard // by a hash of the channel
}

// transcriptShard has the messages of some channels.
type transcriptShard struct {
	mu     sync.Mutex
	chunks []chunk // oldest first
}

// chunk has the messages of a short time, one after the other.
type chunk struct {
	began int64 // when its first message arrived, in nanoseconds
	data  []byte
}

const (
	chunkSize = 64 << 10 // maximum length of a chunk's data in bytes
	maxChunks = 32       // per shard
	// chunkSpan is the longest time between the first and the last message of a chunk. A chunk is
	// dropped as a whole, so a message may be dropped up to this much too early.
	chunkSpan = 30 * time.Second
)

var channelSeed = maphash.MakeSeed()

func (t *transcript) shard(channel string) *transcriptShard {
	return &t.shards[maphash.String(channelSeed, channel)%uint64(len(t.shards))]
}

// add adds a message with its verdict and the color of its author's name. It drops the oldest
// messages of the shard if there are too many.
func (t *transcript) add(m *chatguard.Message, color string, v *chatguard.Verdict) {
	s, now := t.shard(v.ChannelID), t.now.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.chunks) - 1
	if last < 0 || now-s.chunks[last].began >= int64(chunkSpan) || len(s.chunks[last].data)+maxRecord > chunkSize {
		last = s.begin(now)
	}
	s.chunks[last].data = appendRecord(s.chunks[last].data, m, color, v)
}

// begin adds a chunk and returns its place. If there are too many, it uses the memory of the oldest
// one.
func (s *transcriptShard) begin(now int64) int {
	next := chunk{began: now}
	if len(s.chunks) == maxChunks {
		next.data = s.chunks[0].data[:0]
		s.drop(1)
	}
	s.chunks = append(s.chunks, next)
	return len(s.chunks) - 1
}

// drop removes the first n chunks.
func (s *transcriptShard) drop(n int) {
	kept := copy(s.chunks, s.chunks[n:])
	clear(s.chunks[kept:])
	s.chunks = s.chunks[:kept]
}

// expire sets the time, and removes messages that are older than Recent. If the clock was set back,
// the age of earlier messages isn't known, so they are removed, too.
func (t *transcript) expire(now time.Time) {
	t.now.Store(now.UnixNano())
	for i := range t.shards {
		t.shards[i].expire(now.Add(-Recent).UnixNano(), now.UnixNano())
	}
}

func (s *transcriptShard) expire(oldest, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.chunks) && (s.chunks[n].began <= oldest || s.chunks[n].began > now) {
		n++
	}
	if n > 0 {
		s.drop(n)
	}
}

// around returns the messages of a channel around the last one that isWanted accepts, oldest first:
// at most n before it, the message itself, and at most n after it. It returns none if there is no
// such message.
func (t *transcript) around(channel string, n int, isWanted func(record) bool) []Said {
	records := t.shard(channel).records(channel)
	for i := len(records) - 1; i >= 0; i-- {
		if !isWanted(records[i]) {
			continue
		}
		said := []Said{}
		for at := max(0, i-n); at <= min(len(records)-1, i+n); at++ {
			said = append(said, records[at].said(at == i))
		}
		return said
	}
	return []Said{}
}

// records returns the records of a channel, oldest first.
func (s *transcriptShard) records(channel string) (all []record) {
	for rest := s.copy(); len(rest) > 0; {
		var r record
		r, rest = cutRecord(rest)
		if r.is(channel) {
			all = append(all, r)
		}
	}
	return all
}

// copy returns all messages of the shard. The caller searches them without the lock, because
// searching takes longer than copying.
func (s *transcriptShard) copy() (data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chunks {
		data = append(data, c.data...)
	}
	return data
}
