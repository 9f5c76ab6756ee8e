package chatguard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Algorithm names how a limit counts.
type Algorithm string

// The algorithms.
const (
	TokenBucket   Algorithm = "token-bucket"   // Burst at once, then one per Refill
	LeakyBucket   Algorithm = "leaky-bucket"   // one per Every leaves; Queue wait for their turn, and the verdict says how long
	FixedWindow   Algorithm = "fixed-window"   // Messages in each stretch of Every, which begin at multiples of it since 1970
	DailyWindow   Algorithm = "daily-window"   // Messages a day; the day is the zone's, and ends at ResetAt
	UserWindow    Algorithm = "user-window"    // Messages in a stretch of Every that begins with the user's first
	SlidingWindow Algorithm = "sliding-window" // Messages in the last Every, estimated from two counts
	SlidingLog    Algorithm = "sliding-log"    // Messages in the last Every, exact
)

// Limit is one named rule of one algorithm. Each algorithm reads its own parameters and refuses the others.
type Limit struct {
	Name      string    `json:"name" toml:"name"` // unique in its policy
	Algorithm Algorithm `json:"algorithm" toml:"algorithm"`
	Per       Scope     `json:"per,omitempty" toml:"per"`   // who shares the allowance; the zero value is each user in each channel
	Mode      LimitMode `json:"mode,omitempty" toml:"mode"` // whether it throttles where the policy enforces; the zero value does

	Burst    int           `json:"burst,omitempty" toml:"burst"`       // token-bucket: tokens it holds; it starts full
	Refill   time.Duration `json:"refill,omitempty" toml:"refill"`     // token-bucket: time until a token has come back
	Queue    int           `json:"queue,omitempty" toml:"queue"`       // leaky-bucket: places for messages that wait; 0 is none
	Messages int           `json:"messages,omitempty" toml:"messages"` // windows and log: allowed in one; a log's are 1,024 at most
	Every    time.Duration `json:"every,omitempty" toml:"every"`       // leaky-bucket: time between two; windows and log: their length
	Timezone string        `json:"timezone,omitempty" toml:"timezone"` // daily-window: IANA name; empty means the policy's
	ResetAt  string        `json:"reset_at,omitempty" toml:"reset_at"` // daily-window: local time "HH:MM" at which the day ends; empty means midnight

	CountThrottled bool `json:"count_throttled,omitempty" toml:"count_throttled"` // a throttled message counts too, whichever limit throttles it

	Roles map[Role]Override `json:"roles,omitempty" toml:"roles"` // other numbers for some roles; the highest role counts
}

// NoQueue is an [Override]'s Queue of no places, which JSON and TOML write as 0. There, a queue that is left out keeps the limit's own value.
const NoQueue = limits.NoQueue

// Override replaces the capacity or the refill of a limit for some users. A zero field keeps the limit's own value; see [NoQueue].
type Override struct {
	Burst    int           `json:"burst,omitempty" toml:"burst"`
	Refill   time.Duration `json:"refill,omitempty" toml:"refill"`
	Queue    int           `json:"queue,omitempty" toml:"queue"`
	Messages int           `json:"messages,omitempty" toml:"messages"`
}

// with returns the limit with the override's numbers in place of its own.
func (l Limit) with(o Override) Limit {
	l.Burst = cmp.Or(o.Burst, l.Burst)
	l.Refill = cmp.Or(o.Refill, l.Refill)
	l.Queue = max(0, cmp.Or(o.Queue, l.Queue))
	l.Messages = cmp.Or(o.Messages, l.Messages)
	return l
}

// forRoles returns the limit with the numbers that count for somebody with these roles.
func (l Limit) forRoles(roles Roles) Limit {
	for r := int(Broadcaster); r >= 0; r-- {
		if o, ok := l.Roles[Role(r)]; ok && roles.Has(Role(r)) {
			return l.with(o)
		}
	}
	return l
}

// MarshalJSON writes lengths of time as text: "4s".
func (l Limit) MarshalJSON() ([]byte, error) {
	type plain Limit
	return json.Marshal(struct {
		plain
		Refill textDuration `json:"refill,omitempty"`
		Every  textDuration `json:"every,omitempty"`
	}{plain(l), textDuration(l.Refill), textDuration(l.Every)})
}

// UnmarshalJSON reads what MarshalJSON writes and refuses unknown keys.
func (l *Limit) UnmarshalJSON(data []byte) error {
	type plain Limit
	var in struct {
		plain
		Refill textDuration `json:"refill"`
		Every  textDuration `json:"every"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*l = Limit(in.plain)
	l.Refill, l.Every = time.Duration(in.Refill), time.Duration(in.Every)
	return nil
}

// MarshalJSON writes lengths of time as text: "4s".
func (o Override) MarshalJSON() ([]byte, error) {
	type plain Override
	out := struct {
		plain
		Refill textDuration `json:"refill,omitempty"`
		Queue  *int         `json:"queue,omitempty"`
	}{plain: plain(o), Refill: textDuration(o.Refill)}
	if o.Queue != 0 {
		places := max(0, o.Queue)
		out.Queue = &places
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes and refuses unknown keys.
func (o *Override) UnmarshalJSON(data []byte) error {
	type plain Override
	var in struct {
		plain
		Refill textDuration `json:"refill"`
		Queue  *int         `json:"queue"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*o = Override(in.plain)
	o.Refill = time.Duration(in.Refill)
	switch {
	case in.Queue == nil:
	case *in.Queue < 0:
		return fmt.Errorf("queue is %d, want 0 or more", *in.Queue)
	case *in.Queue == 0:
		o.Queue = NoQueue
	default:
		o.Queue = *in.Queue
	}
	return nil
}

// textDuration is a length of time that JSON spells as text.
type textDuration time.Duration

// MarshalText writes a length of time as people do: "4s", "30m".
func (d textDuration) MarshalText() ([]byte, error) {
	return []byte(shortDuration(time.Duration(d))), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *textDuration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no length of time (want 4s, 30m, 24h, 30d)", text)
	}
	*d = textDuration(parsed)
	return nil
}

func strictJSON(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
