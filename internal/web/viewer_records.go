package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/recent"
	"github.com/chatguard/chatguard/internal/roles"
)

const (
	// viewerRecordAge is how long a viewer's record is used before it is read again.
	viewerRecordAge = time.Minute
	// viewerRecordsKept is the minimum number of records that are remembered; the maximum is twice
	// that.
	viewerRecordsKept = 20_000
	// viewerReads is the maximum number of records read at the same time, so that other requests
	// are not slowed down.
	viewerReads = 2
)

// viewerRecord is what the database knows about a viewer in a channel.
type viewerRecord struct {
	read  time.Time
	roles chatguard.Roles // when last seen
	// silence is a timeout or ban from before the start; nil if none is known.
	silence *journal.Silence
	lifted  bool // a person has lifted the last timeout or ban
}

type viewerKey struct{ channel, user string }

// viewerRecords reads what the database knows about viewers, and remembers it for a short time. It
// is safe for concurrent use.
type viewerRecords struct {
	store    Records
	silences *control.Silences // nil if there are none
	now      func() time.Time
	log      *slog.Logger
	reading  chan struct{} // has a value for each read in progress

	mu      sync.Mutex
	known   recent.Map[viewerKey, viewerRecord]
	failing bool // the last read has failed
}

func newViewerRecords(store Records, silences *control.Silences, now func() time.Time, log *slog.Logger) *viewerRecords {
	return &viewerRecords{
		store: store, silences: silences, now: now, log: log, reading: make(chan struct{}, viewerReads),
		known: recent.Map[viewerKey, viewerRecord]{Size: viewerRecordsKept, Span: viewerRecordAge},
	}
}

// get returns the record of a viewer. While the database is failing, it returns the record that was
// read last.
func (s *viewerRecords) get(ctx context.Context, channelID, userID string) (viewerRecord, error) {
	key := viewerKey{channelID, userID}
	known, ok := s.lookUp(key)
	if ok {
		return known, nil
	}
	if !take(ctx, s.reading) {
		return known, ctx.Err()
	}
	defer func() { <-s.reading }()
	fresh, err := s.load(ctx, key)
	if ctx.Err() != nil {
		return known, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != (err != nil) {
		if s.failing = err != nil; s.failing {
			s.log.Warn("what is recorded about viewers can't be read", "error", err)
		}
	}
	if err != nil {
		fresh = known
	}
	fresh.read = s.now()
	s.known.Set(key, fresh, fresh.read)
	return fresh, nil
}

// lookUp returns the last record of a viewer. ok is false if it must be read again.
func (s *viewerRecords) lookUp(key viewerKey) (r viewerRecord, ok bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok = s.known.Get(key)
	return r, ok && now.Sub(r.read) < viewerRecordAge
}

// load reads a record.
func (s *viewerRecords) load(ctx context.Context, key viewerKey) (r viewerRecord, err error) {
	person, _, err := s.store.Person(ctx, key.channel, key.user)
	r.roles = roles.Without(person.Roles, roles.FirstTimer) // the next message isn't the first
	if key.user == key.channel {                            // on Twitch, a channel has the ID of its broadcaster
		r.roles = append(roles.Without(r.roles, roles.Broadcaster), roles.Broadcaster)
	}
	if err == nil && s.silences != nil {
		var liftedAt time.Time
		r.silence, liftedAt = s.silences.Of(ctx, journal.Target{ChannelID: key.channel, UserID: key.user})
		r.lifted = !liftedAt.IsZero()
	}
	return r, err
}

// forget marks the record of a viewer as changed, so that it is read again.
func (s *viewerRecords) forget(channelID, userID string) {
	key := viewerKey{channelID, userID}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.known.Get(key); ok {
		r.read = time.Time{}
		s.known.Set(key, r, s.now())
	}
}
