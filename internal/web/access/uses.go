package access

import (
	"sync"
	"sync/atomic"
	"time"
)

// uses records when tokens and sessions were last used, to the minute, since the start. A token is
// identified by its name, and a session by its ID. It is safe for concurrent use. The zero value is
// empty.
type uses struct {
	minutes sync.Map // string → *atomic.Int64: minutes since 1970
	count   atomic.Int64
}

// maxUses is the maximum number of tokens and sessions whose use is recorded. If there are more,
// all uses are forgotten.
const maxUses = 10_000

// record records a use of the token or session with an ID.
func (u *uses) record(id string, now time.Time) {
	minute := now.Unix() / 60
	if at, ok := u.minutes.Load(id); ok {
		if at := at.(*atomic.Int64); at.Load() != minute {
			at.Store(minute)
		}
		return
	}
	if u.count.Add(1) > maxUses {
		u.minutes.Clear()
		u.count.Store(1)
	}
	at := &atomic.Int64{}
	at.Store(minute)
	u.minutes.Store(id, at)
}

// last returns when the token or session with an ID was last used, or the zero time.
func (u *uses) last(id string) time.Time {
	at, ok := u.minutes.Load(id)
	if !ok {
		return time.Time{}
	}
	return time.Unix(60*at.(*atomic.Int64).Load(), 0).UTC()
}
