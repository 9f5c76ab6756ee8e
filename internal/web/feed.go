package web

import (
	"encoding/json"
	"sync"
	"time"
)

// frame is one message of the live feed. Every frame has the number after the one before it; a feed of one channel skips the frames of
// the others.
type frame struct {
	Seq      uint64       `json:"seq"`
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
	mu      sync.Mutex // held while frames are made too, so that a snapshot and the changes after it fit
	seq     uint64
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

func newFeed() *feed { return &feed{readers: map[*reader]struct{}{}} }

func (f *feed) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers)
}

// join adds a reader whose first frame is the one that snapshot makes; it tells everything up to its number, so what waits to be published
// goes out before. It returns nil once the feed is closed.
func (f *feed) join(channel string, waiting func() []frame, snapshot func() frame) (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil
	}
	if err := f.number(waiting()); err != nil {
		return nil, err
	}
	first := snapshot()
	first.Seq = f.seq
	data, err := json.Marshal(first)
	if err != nil {
		return nil, err
	}
	r := &reader{channel, make(chan []byte, readerBuffer)}
	r.frames <- data
	f.readers[r] = struct{}{}
	return r, nil
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
		if err := f.send(fr, func(r *reader) bool { return r.channel == "" || r.channel == fr.Channel }); err != nil {
			return err
		}
	}
	return nil
}

// send hands a frame to the readers wanted, and drops those that are too far behind.
func (f *feed) send(fr frame, wanted func(*reader) bool) error {
	var data []byte
	for r := range f.readers {
		if !wanted(r) {
			continue
		}
		if data == nil {
			var err error
			if data, err = json.Marshal(fr); err != nil {
				return err
			}
		}
		select {
		case r.frames <- data:
		default:
			f.drop(r)
		}
	}
	return nil
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
		if err := f.send(fr, func(other *reader) bool { return other.channel == r.channel }); err != nil {
			return err
		}
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
