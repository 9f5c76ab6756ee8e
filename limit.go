package chatguard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Algorithm names how a limit counts.
type Algorithm string

// The algorithms.
const (
	TokenBucket Algorithm = "token-bucket" // Burst at once, then one per Refill
	DailyWindow Algorithm = "daily-window" // Messages a day; the day is the zone's, and ends at ResetAt
)

// Limit is one named rule of one algorithm. Each algorithm reads its own parameters and refuses the others.
type Limit struct {
	Name      string    `json:"name" toml:"name"` // unique in its policy
	Algorithm Algorithm `json:"algorithm" toml:"algorithm"`

	Burst  int           `json:"burst,omitempty" toml:"burst"`   // token-bucket: tokens it holds; it starts full
	Refill time.Duration `json:"refill,omitempty" toml:"refill"` // token-bucket: time until a token has come back

	Messages int    `json:"messages,omitempty" toml:"messages"` // daily-window: allowed in one day
	Timezone string `json:"timezone,omitempty" toml:"timezone"` // daily-window: IANA name; empty means the policy's
	ResetAt  string `json:"reset_at,omitempty" toml:"reset_at"` // daily-window: local time "HH:MM" at which the day ends; empty means midnight

	Roles map[Role]Override `json:"roles,omitempty" toml:"roles"` // other numbers for some roles; the highest role counts
}

// Override replaces the capacity or the refill of a limit for some users. A zero field keeps the limit's own value.
type Override struct {
	Burst    int           `json:"burst,omitempty" toml:"burst"`
	Refill   time.Duration `json:"refill,omitempty" toml:"refill"`
	Messages int           `json:"messages,omitempty" toml:"messages"`
}

// with returns the limit with the override's numbers in place of its own.
func (l Limit) with(o Override) Limit {
	if o.Burst != 0 {
		l.Burst = o.Burst
	}
	if o.Refill != 0 {
		l.Refill = o.Refill
	}
	if o.Messages != 0 {
		l.Messages = o.Messages
	}
	return l
}

// MarshalJSON writes lengths of time as text: "4s".
func (l Limit) MarshalJSON() ([]byte, error) {
	type plain Limit
	return json.Marshal(struct {
		plain
		Refill textDuration `json:"refill,omitempty"`
	}{plain(l), textDuration(l.Refill)})
}

// UnmarshalJSON reads what MarshalJSON writes and refuses unknown keys.
func (l *Limit) UnmarshalJSON(data []byte) error {
	type plain Limit
	var in struct {
		plain
		Refill textDuration `json:"refill"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*l = Limit(in.plain)
	l.Refill = time.Duration(in.Refill)
	return nil
}

// MarshalJSON writes lengths of time as text: "4s".
func (o Override) MarshalJSON() ([]byte, error) {
	type plain Override
	return json.Marshal(struct {
		plain
		Refill textDuration `json:"refill,omitempty"`
	}{plain(o), textDuration(o.Refill)})
}

// UnmarshalJSON reads what MarshalJSON writes and refuses unknown keys.
func (o *Override) UnmarshalJSON(data []byte) error {
	type plain Override
	var in struct {
		plain
		Refill textDuration `json:"refill"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*o = Override(in.plain)
	o.Refill = time.Duration(in.Refill)
	return nil
}

// textDuration is a length of time that JSON spells as text.
type textDuration time.Duration

func (d textDuration) MarshalText() ([]byte, error) {
	return []byte(shortDuration(time.Duration(d))), nil
}

func (d *textDuration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no length of time (want 4s, 30m, 24h)", text)
	}
	*d = textDuration(parsed)
	return nil
}

func strictJSON(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
