package web

import "sort"

// past are the frames published last, so that a reader whose connection was cut can go on where it was. They are bounded: 4 MiB in 4,096 frames
// are about 7 minutes of a busy channel, and longer in a quiet one.
type past struct {
	frames []pastFrame // oldest first
	bytes  int         // all of them together
	gone   uint64      // the number of the newest frame that isn't kept
}

type pastFrame struct {
	seq     uint64
	channel string
	data    []byte
}

const (
	pastFrames = 4096
	pastBytes  = 4 << 20
)

// add keeps one more frame, and lets the oldest go where there is no room.
func (p *past) add(fr pastFrame) {
	p.frames = append(p.frames, fr)
	p.bytes += len(fr.data)
	for len(p.frames) > pastFrames || p.bytes > pastBytes {
		oldest := &p.frames[0]
		p.gone = oldest.seq
		p.bytes -= len(oldest.data)
		*oldest = pastFrame{}
		p.frames = p.frames[1:]
	}
}

// has reports whether all frames that came after one are kept, and that one was ours.
func (p *past) has(seq, newest uint64) bool { return p.gone <= seq && seq <= newest }

// after returns the frames of a channel, or of all of them, that came after one; ok is false when some of them aren't kept, or when that one
// never was: it is another process's.
func (p *past) after(seq, newest uint64, channel string) (frames [][]byte, ok bool) {
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
