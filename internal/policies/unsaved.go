package policies

import (
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// unsaved holds the channels whose policy in force is not written yet, because the database was
// failing when the policy was changed. The zero value is empty. It is safe for concurrent use.
type unsaved struct {
	mu    sync.Mutex
	since map[string]time.Time // time of the channel's last change
	first map[string]int       // number of the first unsaved revision
}

// note records whether a channel's last change is saved. If it is saved, so are the earlier
// changes.
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

// hasRevision reports whether a revision of a channel is not written yet.
func (u *unsaved) hasRevision(channel string, number int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	first, ok := u.first[channel]
	return ok && number >= first
}

// take removes and returns the channels whose policy has been saved since.
func (u *unsaved) take(d journal.Database, now time.Time) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var saved []string
	for channel, since := range u.since {
		if d.HasWritten(since, now) {
			u.forget(channel)
			saved = append(saved, channel)
		}
	}
	slices.Sort(saved)
	return saved
}
