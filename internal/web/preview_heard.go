package web

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/preview"
)

const (
	mostHeard      = 2_000_000        // messages in one preview: the newest
	mostHeardBytes = 128 << 20        // of messages that are kept for the next preview, about
	heardKept      = 30 * time.Second // how long they are kept: what is older has to be read again
)

// heard is what was said in a channel in the hours before a time.
type heard struct {
	hours    int
	at       time.Time
	timeline *preview.Timeline

	// Under previews.mu:
	basis   basis
	inForce *preview.Outcome // by that basis; nil until it is known
}

// basis is what people are held to at present.
type basis struct {
	policy chatguard.Policy
	own    preview.Own
}

// from is since when there are messages.
func (h *heard) from() time.Time {
	if from := h.timeline.From(); !from.IsZero() {
		return from.UTC()
	}
	return h.at.Add(-time.Duration(h.hours) * time.Hour).UTC()
}

func (h *heard) isOver(now time.Time) bool { return now.Before(h.at) || now.Sub(h.at) >= heardKept }

// previews keep what was read for a preview, because whoever tries a policy soon tries another. They are safe for concurrent use.
type previews struct {
	room int // for what is kept, in bytes

	mu   sync.Mutex
	kept map[string]*heard // by channel
}

func newPreviews() *previews {
	return &previews{room: mostHeardBytes, kept: map[string]*heard{}}
}

// find returns what was read of a channel's last hours just now; nil where nothing was.
func (p *previews) find(channel string, hours int, now time.Time) *heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.kept[channel]; h != nil && h.hours == hours && !h.isOver(now) {
		return h
	}
	return nil
}

// keep keeps what was read of a channel, if there is room for it.
func (p *previews) keep(channel string, h *heard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, channel)
	bytes := h.timeline.Bytes()
	for _, other := range p.kept {
		bytes += other.timeline.Bytes()
	}
	if bytes <= p.room {
		p.kept[channel] = h
	}
}

// forget lets go of what nobody needs any more.
func (p *previews) forget(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for channel, h := range p.kept {
		if h.isOver(now) {
			delete(p.kept, channel)
		}
	}
}

// present returns what would have happened by what people are held to at present.
func (p *previews) present(ctx context.Context, h *heard, b basis) (*preview.Outcome, error) {
	p.mu.Lock()
	known, of := h.inForce, h.basis
	p.mu.Unlock()
	if known != nil && reflect.DeepEqual(of, b) {
		return known, nil
	}
	outcome, err := preview.Judge(ctx, h.timeline, b.policy, b.own)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.basis, h.inForce = b, outcome
	return outcome, nil
}

// hear returns what was said in a channel in the last hours.
func (s *Server) hear(ctx context.Context, channel string, hours int) (*heard, error) {
	now := s.opts.Now()
	if known := s.previews.find(channel, hours, now); known != nil {
		return known, nil
	}
	h := &heard{hours: hours, at: now, timeline: preview.NewTimeline(mostHeard)}
	err := s.opts.Store.Timeline(ctx, channel, now.Add(-time.Duration(hours)*time.Hour), func(said []journal.Spoken) error {
		h.timeline.Add(said)
		runtime.Gosched() // chat goes first
		return ctx.Err()
	})
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "What was said can't be read now: the database is in trouble.").because(err)
	}
	s.previews.keep(channel, h)
	return h, nil
}
