package web

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/simulate"
)

const (
	maxLookback = 2_000_000 // maximum messages in one preview (the newest)
	// maxCacheBytes is the approximate memory for messages that are cached for further previews.
	maxCacheBytes = 128 << 20
	lookbackKept  = 30 * time.Second // how long messages are cached
)

// lookback contains the messages of a channel in the hours before a time.
type lookback struct {
	hours    int
	at       time.Time
	timeline *simulate.Timeline

	// basis and inForce are guarded by previewCache.mu.
	basis   basis
	inForce *simulate.Outcome // the result under basis; nil until computed
}

// basis is the current policy and the current overrides.
type basis struct {
	policy chatguard.Policy
	own    simulate.Overrides
}

// start returns the start of the period that the messages cover.
func (h *lookback) start() time.Time {
	if from := h.timeline.From(); !from.IsZero() {
		return from.UTC()
	}
	return h.at.Add(-time.Duration(h.hours) * time.Hour).UTC()
}

func (h *lookback) isExpired(now time.Time) bool {
	return now.Before(h.at) || now.Sub(h.at) >= lookbackKept
}

// previewCache caches the messages read for a preview, because a moderator who tries one policy
// soon tries another. It is safe for concurrent use.
type previewCache struct {
	room int // maximum bytes of all cached messages

	mu   sync.Mutex
	kept map[string]*lookback // by channel
}

func newPreviewCache() *previewCache {
	return &previewCache{room: maxCacheBytes, kept: map[string]*lookback{}}
}

// find returns the cached messages of a channel's last hours, or nil if there are none.
func (p *previewCache) find(channel string, hours int, now time.Time) *lookback {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.kept[channel]; h != nil && h.hours == hours && !h.isExpired(now) {
		return h
	}
	return nil
}

// keep caches the messages of a channel if there is room.
func (p *previewCache) keep(channel string, h *lookback) {
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

// forget removes entries that are no longer needed.
func (p *previewCache) forget(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.kept, func(_ string, h *lookback) bool { return h.isExpired(now) })
}

// forgetUntil removes entries that are no longer needed, each second until ctx ends.
func (p *previewCache) forgetUntil(ctx context.Context, now func() time.Time) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.forget(now())
		}
	}
}

// currentOutcome returns what would have happened under the current basis.
func (p *previewCache) currentOutcome(ctx context.Context, h *lookback, b basis) (*simulate.Outcome, error) {
	p.mu.Lock()
	known, of := h.inForce, h.basis
	p.mu.Unlock()
	if known != nil && reflect.DeepEqual(of, b) {
		return known, nil
	}
	outcome, err := simulate.Judge(ctx, h.timeline, b.policy, b.own)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.basis, h.inForce = b, outcome
	return outcome, nil
}
