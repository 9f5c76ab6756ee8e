package control

import (
	"cmp"
	"time"

	"github.com/chatguard/chatguard"
)

// Raid is the overlay of raid mode. Its zero value lasts ten minutes and changes nothing.
type Raid struct {
	Lasts Duration `json:"lasts"` // default duration; 0 means 10 min
	// StartRate is the number of messages per second at which raid mode starts by itself; 0 means
	// never.
	StartRate int `json:"start_rate"`
	// Burst and Refill are the token bucket that all users share. A Burst of 0 means that there is
	// none.
	Burst  int      `json:"channel_burst"`
	Refill Duration `json:"channel_refill"`
	// FirstTimerBurst and FirstTimerRefill are the numbers for users who write here for the first
	// time, in every token bucket per user. Numbers of 0 change nothing.
	FirstTimerBurst  int      `json:"first_timer_burst"`
	FirstTimerRefill Duration `json:"first_timer_refill"`
}

// lasts returns the default duration.
func (r Raid) lasts() time.Duration { return cmp.Or(time.Duration(r.Lasts), defaultRaid) }

// raidLimit is the name of the limit that all users share in raid mode.
const raidLimit = "raid"

// defaultRaid is the default duration of raid mode, and mostRaid the maximum.
const (
	defaultRaid = 10 * time.Minute
	mostRaid    = 24 * time.Hour
)

// over applies raid mode to a policy.
func (r Raid) over(p chatguard.Policy) chatguard.Policy {
	taken := false
	for i := range p.Limits {
		l := &p.Limits[i]
		taken = taken || l.Name == raidLimit
		if (l.Algorithm == chatguard.TokenBucket || l.Algorithm == chatguard.Cascade) && l.Per == chatguard.PerUser && (r.FirstTimerBurst > 0 || r.FirstTimerRefill > 0) {
			r.narrow(l)
		}
	}
	if r.Burst > 0 && !taken {
		shared := chatguard.TokenBucketLimit(raidLimit, r.Burst, time.Duration(r.Refill))
		shared.Per = chatguard.PerChannel
		p.Limits = append(p.Limits, shared)
	}
	return p
}

// narrow sets the first-timers' numbers in a limit, but never makes the limit looser. Numbers for
// the role Everyone would take precedence over the first-timers' numbers. So narrow first makes
// Everyone's numbers the limit's own numbers. Roles with their own numbers are not affected.
func (r Raid) narrow(l *chatguard.Limit) {
	if l.Roles == nil {
		l.Roles = map[chatguard.Role]chatguard.Override{}
	}
	for role, o := range l.Roles {
		l.Roles[role] = bucketNumbers(*l, o)
	}
	if everyone, ok := l.Roles[chatguard.Everyone]; ok {
		l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill = everyone.Burst, everyone.Refill, everyone.ExtraBurst, everyone.ExtraRefill
		delete(l.Roles, chatguard.Everyone)
	}
	newcomer, ok := l.Roles[chatguard.FirstTimer]
	if !ok {
		newcomer = bucketNumbers(*l, chatguard.Override{})
	}
	if r.FirstTimerBurst > 0 {
		newcomer.Burst = min(r.FirstTimerBurst, newcomer.Burst)
		l.Reserve = min(l.Reserve, newcomer.Burst-1) // a limit holds more than its reserve
		newcomer.ExtraBurst = min(r.FirstTimerBurst, newcomer.ExtraBurst)
	}
	newcomer.Refill = max(time.Duration(r.FirstTimerRefill), newcomer.Refill)
	if l.Algorithm == chatguard.Cascade {
		newcomer.ExtraRefill = max(time.Duration(r.FirstTimerRefill), newcomer.ExtraRefill)
	}
	l.Roles[chatguard.FirstTimer] = newcomer
}

// bucketNumbers returns all numbers of a token-bucket or a cascade for users with that override.
func bucketNumbers(l chatguard.Limit, o chatguard.Override) chatguard.Override {
	return chatguard.Override{
		Burst: cmp.Or(o.Burst, l.Burst), Refill: cmp.Or(o.Refill, l.Refill),
		ExtraBurst: cmp.Or(o.ExtraBurst, l.ExtraBurst), ExtraRefill: cmp.Or(o.ExtraRefill, l.ExtraRefill),
	}
}
