package live

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Frame is one message of the live feed. Frames are numbered consecutively. A feed of one channel
// skips the frames of other channels, so it has gaps. A snapshot or status has the number of the
// last frame before it.
type Frame struct {
	Seq      uint64    `json:"seq"`
	Feed     string    `json:"feed,omitempty"` // snapshot: name of the feed with these numbers
	Type     FrameType `json:"type"`
	Now      time.Time `json:"now"`
	Channel  string    `json:"channel,omitempty"`
	Channels []Channel `json:"channels,omitempty"` // snapshot, status: the dashboard's channels
	// Unidentified are the dashboard's channels whose IDs aren't known yet, in a snapshot or
	// status.
	Unidentified []Unidentified `json:"unidentified,omitempty"`
	// In a snapshot, Users contains everyone who is throttled now or was throttled within the last
	// 10 minutes. In a throttled frame, it contains the new and changed users.
	Users  []Throttled  `json:"users,omitempty"`
	Gone   []string     `json:"gone,omitempty"`   // throttled: IDs of users who are no longer listed
	Status *Status      `json:"status,omitempty"` // snapshot, status
	Policy *PolicyState `json:"policy,omitempty"` // snapshot, policy
}

// FrameType is the kind of a frame.
type FrameType string

// The types of frames.
const (
	SnapshotFrame  FrameType = "snapshot"
	ThrottledFrame FrameType = "throttled"
	StatusFrame    FrameType = "status"
	PolicyFrame    FrameType = "policy"
)

// frames are the functions that make a feed's frames.
type frames struct {
	changes func() []Frame // what has changed since the last call
	// status and snapshot make the state as an Audience sees it.
	status, snapshot func(Audience) Frame
}

// feed numbers the frames and sends them to its readers. It never waits for a reader.
type feed struct {
	frames frames
	key    string // unique to this process; used in feed names
	// mu is also held while frames are made. A frame with an older state is therefore never sent
	// after a newer one. mu is not held while a snapshot is made.
	mu      sync.Mutex
	seq     uint64
	history feedHistory
	readers map[*reader]struct{}
	closed  bool
}

// reader is one connection of a dashboard to the feed.
type reader struct {
	Audience
	// The feed closes frames when the feed ends, or when frames is full, which drops a slow reader.
	frames chan []byte
}

// readerBuffer is how many frames a reader may be behind. That is about 6 s of a busy chat.
const readerBuffer = 64

// newFeed starts the frame numbers at the current time in microseconds, which JavaScript represents
// exactly. Numbers of an earlier process differ, because no process publishes a million frames per
// second.
func newFeed(start time.Time, makers frames) *feed {
	seq := uint64(start.UnixMicro())
	return &feed{frames: makers, key: rand.Text(), seq: seq, history: feedHistory{gone: seq}, readers: map[*reader]struct{}{}}
}

// name returns the name of a channel's feed, or of the feed of all channels. It is unique across
// channels and processes.
func (f *feed) name(channel string) string {
	sum := sha256.Sum256([]byte(f.key + channel))
	return hex.EncodeToString(sum[:8])
}

// seen says which frames of a feed a reader has received: all frames up to the number after. feed
// is the name of the feed that sent them. If feed is empty, it is assumed to be this feed. The zero
// value means that the reader has received none.
type seen struct {
	feed  string
	after uint64
}

func (f *feed) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers)
}

// errFeedEnded is the error for a reader who joins after the feed has ended.
var errFeedEnded = errors.New("the live feed has ended")

// resume adds a reader who has already received a part of this feed. It first publishes pending
// frames. The reader receives the frames that it missed, and then a status. resume returns nil if
// the reader's frames come from another feed, or if some missed frames are no longer stored.
func (f *feed) resume(a Audience, seen seen) (*reader, error) {
	if seen.feed != "" && seen.feed != f.name(a.channel) {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.history.has(seen.after, f.seq) {
		return nil, nil
	}
	if err := f.number(f.frames.changes()); err != nil {
		return nil, err
	}
	return f.add(a, seen.after, nil)
}

// begin adds a reader whose first frame is a snapshot. It returns nil if some frames after the
// snapshot are no longer stored.
func (f *feed) begin(a Audience, first snapshot) (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(a, first.seq, [][]byte{first.data})
}

// add adds a reader. The reader first receives the frames in begins, then those with a number
// greater than after, then a status.
func (f *feed) add(a Audience, after uint64, begins [][]byte) (*reader, error) {
	if f.closed {
		return nil, errFeedEnded
	}
	missed, ok := f.history.framesAfter(after, f.seq, a.channel)
	if !ok {
		return nil, nil
	}
	fr := f.frames.status(a)
	fr.Seq = f.seq
	data, err := json.Marshal(fr)
	if err != nil {
		return nil, err
	}
	begins = append(append(begins, missed...), data)
	r := &reader{a, make(chan []byte, len(begins)+readerBuffer)}
	for _, data := range begins {
		r.frames <- data
	}
	f.readers[r] = struct{}{}
	return r, nil
}

// lastNumber returns the number of the last frame.
func (f *feed) lastNumber() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// publishPending publishes pending frames and returns the number of the last frame.
func (f *feed) publishPending() (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.number(f.frames.changes())
	return f.seq, err
}

// leave removes a reader. It does nothing if the reader was already dropped.
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

// publish numbers the frames that the function frames returns, and sends each to the readers of its
// channel.
func (f *feed) publish(frames func() []Frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.number(frames())
}

// number assigns numbers to frames and sends them.
func (f *feed) number(frames []Frame) error {
	for _, fr := range frames {
		f.seq++
		fr.Seq = f.seq
		data, err := json.Marshal(fr)
		if err != nil {
			return err
		}
		f.history.add(historyFrame{fr.Seq, fr.Channel, data})
		f.send(data, func(r *reader) bool { return r.channel == "" || r.channel == fr.Channel })
	}
	return nil
}

// send sends a frame to the wanted readers and drops those that are too far behind.
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

// publishStatus sends every reader the status as its Audience sees it. A status does not get a new
// number, because only the newest status matters.
func (f *feed) publishStatus() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := map[Audience]bool{}
	for r := range f.readers {
		if done[r.Audience] {
			continue
		}
		done[r.Audience] = true
		fr := f.frames.status(r.Audience)
		fr.Seq = f.seq
		data, err := json.Marshal(fr)
		if err != nil {
			return err
		}
		f.send(data, func(other *reader) bool { return other.Audience == r.Audience })
	}
	return nil
}

// close ends the feed for every reader. No reader can join afterwards.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for r := range f.readers {
		f.drop(r)
	}
}
