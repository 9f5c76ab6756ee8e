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
	first map[string]int       // the number of the first revision that waits
}

// note takes note of whether a channel's last change is saved. One that is has those before it saved, too.
func (u *unsaved) note(channel string, number int, saved bool, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if saved {
		u.forget(channel)
		return
	}
	if u.since == nil {
		u.since, u.first = map[string]time.Time{}, map[string]int{}
	}
	if _, waits := u.since[channel]; !waits {
		u.first[channel] = number
	}
	u.since[channel] = now
}

func (u *unsaved) forget(channel string) {
	delete(u.since, channel)
	delete(u.first, channel)
}

func (u *unsaved) has(channel string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.since[channel]
	return ok
}

// hasRevision reports whether a revision of a channel waits to be written.
func (u *unsaved) hasRevision(channel string, number int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	first, ok := u.first[channel]
	return ok && number >= first
}

// settle forgets the channels whose policy is saved by now, and returns them.
func (u *unsaved) settle(d Database, now time.Time) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var saved []string
	for channel, since := range u.since {
		if d.hasWritten(since, now) {
			u.forget(channel)
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
