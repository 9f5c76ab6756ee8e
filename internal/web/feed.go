package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// frame is one message of the live feed. Every frame has the number after the one before it; a feed of one channel skips the frames of
// the others. A snapshot or status has the number of the last frame before it.
type frame struct {
	Seq      uint64       `json:"seq"`
	Feed     string       `json:"feed,omitempty"` // snapshot: which feed's numbers these are
	Type     frameType    `json:"type"`
	Now      time.Time    `json:"now"`
	Channel  string       `json:"channel,omitempty"`
	Channels []Channel    `json:"channels,omitempty"` // snapshot, status: those that the dashboard shows
	Users    []throttled  `json:"users,omitempty"`    // snapshot: all who are throttled; throttled: who is new or different
	Gone     []string     `json:"gone,omitempty"`     // throttled: IDs of the users who may speak again
	Status   *status      `json:"status,omitempty"`   // snapshot, status
	Policy   *policyState `json:"policy,omitempty"`   // snapshot, policy
}

type frameType string

const (
	snapshotFrame  frameType = "snapshot"
	throttledFrame frameType = "throttled"
	statusFrame    frameType = "status"
	policyFrame    frameType = "policy"
)

// feed numbers the frames and hands them to its readers, without ever waiting for one.
type feed struct {
	key     string     // of this process, for the names of its feeds
	mu      sync.Mutex // held while frames are made too, so that an older state never comes last; but not while a snapshot is
	seq     uint64
	past    past
	readers map[*reader]struct{}
	closed  bool
}

// reader is one open dashboard.
type reader struct {
	channel string      // empty: all channels
	frames  chan []byte // closed when the feed ends, or when it is full: a slow reader is dropped
}

// readerBuffer is how many frames a reader may be behind: about 6 s of a busy chat.
const readerBuffer = 64

// newFeed begins to number at the time in microseconds, which JavaScript holds exactly: what another process published has other numbers, because
// none publishes a million frames a second.
func newFeed(start time.Time) *feed {
	seq := uint64(start.UnixMicro())
	return &feed{key: rand.Text(), seq: seq, past: past{gone: seq}, readers: map[*reader]struct{}{}}
}

// name is what the feed of a channel, or of all of them, is called: in no other process, and for no other channel, the same.
func (f *feed) name(channel string) string {
	sum := sha256.Sum256([]byte(f.key + channel))
	return hex.EncodeToString(sum[:8])
}

// seen is how far a reader has followed a feed: up to the frame after. Who doesn't name the feed has to know that it was this one. The zero value is
// who has seen nothing.
type seen struct {
	feed  string
	after uint64
}

func (f *feed) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers)
}

// errFeedEnded is returned to readers who come after the end.
var errFeedEnded = errors.New("the live feed has ended")

// resume adds a reader who has seen this feed so far. Their first frames are those that came since, and then a status. What waits to be published goes out
// before. It returns nil if they have seen another feed, or if not all frames since are kept.
func (f *feed) resume(channel string, seen seen, waiting func() []frame, status func() frame) (*reader, error) {
	if seen.feed != "" && seen.feed != f.name(channel) {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.past.has(seen.after, f.seq) {
		return nil, nil
	}
	if err := f.number(waiting()); err != nil {
		return nil, err
	}
	return f.add(channel, seen.after, nil, status)
}

// begin adds a reader whose first frame is a snapshot. It returns nil if not all frames since the snapshot are kept.
func (f *feed) begin(channel string, first snapshot, status func() frame) (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(channel, first.seq, [][]byte{first.data}, status)
}

// add adds a reader who begins with some frames, and goes on with those after a number.
func (f *feed) add(channel string, after uint64, begins [][]byte, status func() frame) (*reader, error) {
	if f.closed {
		return nil, errFeedEnded
	}
	missed, ok := f.past.after(after, f.seq, channel)
	if !ok {
		return nil, nil
	}
	fr := status()
	fr.Seq = f.seq
	data, err := json.Marshal(fr)
	if err != nil {
		return nil, err
	}
	begins = append(append(begins, missed...), data)
	r := &reader{channel, make(chan []byte, len(begins)+readerBuffer)}
	for _, data := range begins {
		r.frames <- data
	}
	f.readers[r] = struct{}{}
	return r, nil
}

// at returns the number of the last frame.
func (f *feed) at() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// next publishes what waits, and returns the number of the last frame.
func (f *feed) next(waiting func() []frame) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.number(waiting())
	return f.seq, err
}

// leave removes a reader. One that was dropped has left already.
func (f *feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(r)
}

func (f *feed) drop(r *reader) {
	if _, ok := f.readers[r]; ok {
		delete(f.readers, r)
		close(r.frames)
	}
}

// publish numbers the frames that frames makes and hands each to the readers of its channel.
func (f *feed) publish(frames func() []frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.number(frames())
}

// number numbers frames and sends them.
func (f *feed) number(frames []frame) error {
	for _, fr := range frames {
		f.seq++
		fr.Seq = f.seq
		data, err := json.Marshal(fr)
		if err != nil {
			return err
		}
		f.past.add(pastFrame{fr.Seq, fr.Channel, data})
		f.send(data, func(r *reader) bool { return r.channel == "" || r.channel == fr.Channel })
	}
	return nil
}

// send hands a frame to the readers wanted, and drops those that are too far behind.
func (f *feed) send(data []byte, wanted func(*reader) bool) {
	for r := range f.readers {
		if !wanted(r) {
			continue
		}
		select {
		case r.frames <- data:
		default:
			f.drop(r)
		}
	}
}

// publishStatus sends every reader the status of its channel. It is not numbered: only the newest matters.
func (f *feed) publishStatus(make func(channel string) frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := map[string]bool{}
	for r := range f.readers {
		if done[r.channel] {
			continue
		}
		done[r.channel] = true
		fr := make(r.channel)
		fr.Seq = f.seq
		data, err := json.Marshal(fr)
		if err != nil {
			return err
		}
		f.send(data, func(other *reader) bool { return other.channel == r.channel })
	}
	return nil
}

// close ends the feed of every reader; nobody joins afterwards.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for r := range f.readers {
		f.drop(r)
	}
}
