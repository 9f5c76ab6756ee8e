package live

import "sort"

// feedHistory stores the last published frames, so that a reader whose connection was cut can
// resume. It stores at most 4,096 frames and 4 MiB. That is about 7 minutes of a busy channel, and
// longer in a quiet one.
type feedHistory struct {
	frames []historyFrame // oldest first
	bytes  int            // total
	gone   uint64         // number of the newest frame that was dropped
}

type historyFrame struct {
	seq     uint64
	channel string
	data    []byte
}

const (
	maxHistoryFrames = 4096
	maxHistoryBytes  = 4 << 20
)

// add appends a frame, and drops the oldest frames to make room.
func (p *feedHistory) add(fr historyFrame) {
	p.frames = append(p.frames, fr)
	p.bytes += len(fr.data)
	for len(p.frames) > maxHistoryFrames || p.bytes > maxHistoryBytes {
		oldest := &p.frames[0]
		p.gone = oldest.seq
		p.bytes -= len(oldest.data)
		*oldest = historyFrame{}
		p.frames = p.frames[1:]
	}
}

// has reports whether frame seq is from this process and all later frames are still stored.
func (p *feedHistory) has(seq, newest uint64) bool { return p.gone <= seq && seq <= newest }

// framesAfter returns the frames of a channel after frame seq; an empty channel means all channels.
// ok is false if some of them are no longer stored, or if frame seq is from another process.
func (p *feedHistory) framesAfter(seq, newest uint64, channel string) (frames [][]byte, ok bool) {
	if !p.has(seq, newest) {
		return nil, false
	}
	first := sort.Search(len(p.frames), func(i int) bool { return p.frames[i].seq > seq })
	for _, fr := range p.frames[first:] {
		if channel == "" || channel == fr.channel {
			frames = append(frames, fr.data)
		}
	}
	return frames, true
}
