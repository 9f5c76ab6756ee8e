package web

import (
	"slices"
	"sync"
	"time"
)

// unsaved are the channels whose policy in force waits to be written, because the database was in trouble when it was changed. The zero value
// has none. It is safe for concurrent use.
type unsaved struct {
	mu    sync.Mutex
	since map[string]time.Time // when the channel's last change was answered
}

// note takes note of whether a channel's last change is saved. One that is has those before it saved, too.
func (u *unsaved) note(channel string, saved bool, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since == nil {
		u.since = map[string]time.Time{}
	}
	if saved {
		delete(u.since, channel)
	} else {
		u.since[channel] = now
	}
}

func (u *unsaved) has(channel string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.since[channel]
	return ok
}

// settle forgets the channels whose policy is saved by now, and returns them.
func (u *unsaved) settle(d Database, now time.Time) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var saved []string
	for channel, since := range u.since {
		if d.hasWritten(since, now) {
			delete(u.since, channel)
			saved = append(saved, channel)
		}
	}
	slices.Sort(saved)
	return saved
}

// hasWritten reports whether what waited at a time is written by now. That the database is ok isn't enough: it may not have noticed its trouble
// yet, or not have come to everything that waited.
func (d Database) hasWritten(at, now time.Time) bool {
	return d.State == DatabaseOK && at.Before(now.Add(-d.Lag))
}
