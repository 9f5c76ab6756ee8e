package chatguard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
)

// Algorithm is the name of a limit's counting method. Every limit needs one: the zero value is an
// error.
type Algorithm string

// The algorithms.
const (
	TokenBucket Algorithm = "token-bucket" // Burst at once, then one per Refill
	// LeakyBucket releases one message per Every. Up to Queue messages wait, and the verdict's
	// Delay says how long.
	LeakyBucket Algorithm = "leaky-bucket"
	// FixedWindow allows Messages in each window of Every. Windows begin at multiples of Every
	// since 1970.
	FixedWindow Algorithm = "fixed-window"
	// DailyWindow allows Messages per day, week or month: see Period. It ends at ResetAt in the
	// limit's time zone.
	DailyWindow Algorithm = "daily-window"
	// UserWindow allows Messages in a window of Every that begins with the user's first message.
	UserWindow Algorithm = "user-window"
	// SlidingWindow allows Messages in the last period of Every, estimated from the counts of
	// Slices + 1 parts of time.
	SlidingWindow Algorithm = "sliding-window"
	// SlidingLog allows Messages in the last period of Every, exactly.
	SlidingLog Algorithm = "sliding-log"
	// Cascade has two token buckets. The first one has Burst and Refill, the second one has
	// ExtraBurst and ExtraRefill. A message that the first one can't pay is paid by the second one,
	// and has [PriorityLow] priority. One bucket pays the whole cost. A Cascade is the colour-blind
	// marker of RFC 4115.
	Cascade Algorithm = "cascade"
)

// Limit is one named rule with one algorithm. Each algorithm reads its own parameters and rejects
// the others.
type Limit struct {
	Name string `json:"name" toml:"name"` // unique in its policy
	// Title is what users read instead of Name: one line of up to 64 characters, which doesn't
	// begin with / or a full stop. It may change without effect on the usage. If it is empty, users
	// read Name.
	Title     string    `json:"title,omitempty" toml:"title"`
	Algorithm Algorithm `json:"algorithm" toml:"algorithm"`
	// Per says who shares the allowance. With the zero value, each user has their own allowance in
	// each channel.
	Per Scope `json:"per,omitempty" toml:"per"`
	// Mode says whether the limit throttles or only reports, if the policy enforces. With the zero
	// value, it throttles.
	Mode Mode `json:"mode,omitempty" toml:"mode"`

	// Burst is the capacity of a token bucket, or of a cascade's first bucket. Both start full.
	Burst int `json:"burst,omitempty" toml:"burst"`
	// Refill is the time after which a token bucket, or a cascade's first bucket, regains one
	// token.
	Refill time.Duration `json:"refill,omitempty" toml:"refill"`
	// ExtraBurst is the capacity of a cascade's second bucket, which starts full.
	ExtraBurst int `json:"extra_burst,omitempty" toml:"extra_burst"`
	// ExtraRefill is the time after which a cascade's second bucket regains one token.
	ExtraRefill time.Duration `json:"extra_refill,omitempty" toml:"extra_refill"`
	// Queue is the number of messages that may wait in a leaky bucket; 0 means none.
	Queue int `json:"queue,omitempty" toml:"queue"`
	// Messages is the number allowed in one window or log; at most 1,024 in a log.
	Messages int `json:"messages,omitempty" toml:"messages"`
	// Every is the time between two messages of a leaky bucket, or the length of a window or log.
	Every time.Duration `json:"every,omitempty" toml:"every"`
	// Slices is the number of equal parts into which a sliding window is divided, at most 60; 0
	// means 1. With more slices, the estimate is more exact, because only the oldest part is
	// estimated. Slices must divide Every into whole nanoseconds.
	Slices int `json:"slices,omitempty" toml:"slices"`
	// Timezone is the IANA name of the time zone of a daily window. Empty means the policy's time
	// zone.
	Timezone string `json:"timezone,omitempty" toml:"timezone"`
	// ResetAt is the local time "HH:MM" at which the day, week or month of a daily window ends;
	// empty means midnight.
	ResetAt string `json:"reset_at,omitempty" toml:"reset_at"`
	// Period is what a daily window counts by. Empty means a day.
	Period Period `json:"period,omitempty" toml:"period"`
	// FirstDay is the first day of the week, from "monday" to "sunday", if Period is PeriodWeek.
	// Empty means Monday.
	FirstDay string `json:"first_day,omitempty" toml:"first_day"`

	// Reserve is how much of the limit is kept for messages of normal priority. A message of
	// [PriorityLow] priority passes only if there is room for its cost plus Reserve, but spends
	// only its cost. Reserve must be less than what the limit allows at once, for every role. It
	// has no effect unless another limit is a Cascade. A Cascade has no Reserve.
	Reserve int `json:"reserve,omitempty" toml:"reserve"`

	// CountThrottled makes this limit count throttled messages too, whichever limit throttles them.
	CountThrottled bool `json:"count_throttled,omitempty" toml:"count_throttled"`

	// Similar, FromLength, CountEmotes and Strikes are for limits on repeated text, whose Per is
	// PerUserText or PerText.

	// Similar means that similar texts are the same: those that differ only in look-alike letters,
	// numbers, punctuation, a name at the beginning, random letters at the end, or emoji at either
	// end. Without it, texts are the same if they differ only in case, spaces, accents, invisible
	// characters, and in how often a letter is repeated.
	Similar bool `json:"similar,omitempty" toml:"similar"`
	// FromLength is the length from which texts count, in characters after that; at most 500. 0
	// means 12.
	FromLength int `json:"from_length,omitempty" toml:"from_length"`
	// CountEmotes makes messages of KindEmotes count, too.
	CountEmotes bool `json:"count_emotes,omitempty" toml:"count_emotes"`
	// Strikes makes a PerText limit give strikes and penalties to those whose messages it
	// throttles, as other limits do. Otherwise such a message is at most deleted.
	Strikes bool `json:"strikes,omitempty" toml:"strikes"`

	// Roles sets other numbers for users with certain roles. A user with several of these roles
	// gets the numbers of the highest one.
	Roles map[Role]Override `json:"roles,omitempty" toml:"roles"`
}

// Period is what a daily window counts by.
type Period string

// The periods. Each begins and ends at ResetAt in the limit's time zone, whatever its length: a
// month has 28 to 31 days, and a day with a clock change 23 or 25 hours.
const (
	PeriodDay   Period = "day"
	PeriodWeek  Period = "week"  // begins on FirstDay
	PeriodMonth Period = "month" // begins on the 1st
)

// TokenBucketLimit returns a limit that allows burst messages at once, and one more per refill.
func TokenBucketLimit(name string, burst int, refill time.Duration) Limit {
	return Limit{Name: name, Algorithm: TokenBucket, Burst: burst, Refill: refill}
}

// LeakyBucketLimit returns a limit that releases one message per every, while at most queue others
// wait.
func LeakyBucketLimit(name string, every time.Duration, queue int) Limit {
	return Limit{Name: name, Algorithm: LeakyBucket, Every: every, Queue: queue}
}

// FixedWindowLimit returns a limit that allows a number of messages in each window of length every.
// The windows begin at multiples of every since 1970.
func FixedWindowLimit(name string, messages int, every time.Duration) Limit {
	return Limit{Name: name, Algorithm: FixedWindow, Messages: messages, Every: every}
}

// DailyWindowLimit returns a limit that allows a number of messages per day. The day ends at
// midnight in the policy's time zone. Set Timezone and ResetAt for another zone or time, and Period
// for a week or a month.
func DailyWindowLimit(name string, messages int) Limit {
	return Limit{Name: name, Algorithm: DailyWindow, Messages: messages, ResetAt: "00:00"}
}

// UserWindowLimit returns a limit that allows a number of messages in a window of length every. The
// window begins with the user's first message.
func UserWindowLimit(name string, messages int, every time.Duration) Limit {
	return Limit{Name: name, Algorithm: UserWindow, Messages: messages, Every: every}
}

// SlidingWindowLimit returns a limit that allows a number of messages in the last period of length
// every, estimated from two counts. Set Slices for a more exact estimate.
func SlidingWindowLimit(name string, messages int, every time.Duration) Limit {
	return Limit{Name: name, Algorithm: SlidingWindow, Messages: messages, Every: every}
}

// SlidingLogLimit returns a limit that allows a number of messages, at most 1,024, in the last
// period of length every, exactly.
func SlidingLogLimit(name string, messages int, every time.Duration) Limit {
	return Limit{Name: name, Algorithm: SlidingLog, Messages: messages, Every: every}
}

// CascadeLimit returns a limit that allows burst messages at once, and one more per refill. Beyond
// these, it allows extraBurst messages at low priority, and one more per extraRefill.
func CascadeLimit(name string, burst int, refill time.Duration, extraBurst int, extraRefill time.Duration) Limit {
	return Limit{Name: name, Algorithm: Cascade, Burst: burst, Refill: refill, ExtraBurst: extraBurst, ExtraRefill: extraRefill}
}

// NoQueue is the Queue of an [Override] that allows no waiting messages. In JSON and TOML it is
// written as 0. If queue is omitted there, the limit's own value applies.
const NoQueue = -1

// Override replaces a limit's capacity or refill for some users. A zero field keeps the limit's own
// value; see [NoQueue].
type Override struct {
	Burst       int           `json:"burst,omitempty" toml:"burst"`
	Refill      time.Duration `json:"refill,omitempty" toml:"refill"`
	ExtraBurst  int           `json:"extra_burst,omitempty" toml:"extra_burst"`
	ExtraRefill time.Duration `json:"extra_refill,omitempty" toml:"extra_refill"`
	Queue       int           `json:"queue,omitempty" toml:"queue"`
	Messages    int           `json:"messages,omitempty" toml:"messages"`
}

// MarshalJSON writes durations as text: "4s".
func (l Limit) MarshalJSON() ([]byte, error) {
	type plain Limit
	return json.Marshal(struct {
		plain
		Refill      textDuration `json:"refill,omitempty"`
		ExtraRefill textDuration `json:"extra_refill,omitempty"`
		Every       textDuration `json:"every,omitempty"`
	}{plain(l), textDuration(l.Refill), textDuration(l.ExtraRefill), textDuration(l.Every)})
}

// UnmarshalJSON reads what MarshalJSON writes and rejects unknown keys.
func (l *Limit) UnmarshalJSON(data []byte) error {
	type plain Limit
	var in struct {
		plain
		Refill      textDuration `json:"refill"`
		ExtraRefill textDuration `json:"extra_refill"`
		Every       textDuration `json:"every"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*l = Limit(in.plain)
	l.Refill, l.ExtraRefill, l.Every = time.Duration(in.Refill), time.Duration(in.ExtraRefill), time.Duration(in.Every)
	return nil
}

// MarshalJSON writes durations as text: "4s".
func (o Override) MarshalJSON() ([]byte, error) {
	type plain Override
	out := struct {
		plain
		Refill      textDuration `json:"refill,omitempty"`
		ExtraRefill textDuration `json:"extra_refill,omitempty"`
		Queue       *int         `json:"queue,omitempty"`
	}{plain: plain(o), Refill: textDuration(o.Refill), ExtraRefill: textDuration(o.ExtraRefill)}
	if o.Queue != 0 {
		places := max(0, o.Queue)
		out.Queue = &places
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes and rejects unknown keys.
func (o *Override) UnmarshalJSON(data []byte) error {
	type plain Override
	var in struct {
		plain
		Refill      textDuration `json:"refill"`
		ExtraRefill textDuration `json:"extra_refill"`
		Queue       *int         `json:"queue"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*o = Override(in.plain)
	o.Refill, o.ExtraRefill = time.Duration(in.Refill), time.Duration(in.ExtraRefill)
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

// textDuration is a duration that JSON represents as text.
type textDuration time.Duration

// MarshalText writes a duration in short form: "4s", "30m".
func (d textDuration) MarshalText() ([]byte, error) {
	return []byte(durations.Format(time.Duration(d))), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *textDuration) UnmarshalText(text []byte) error {
	parsed, err := durations.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration (want 4s, 30m, 24h, 30d)", text)
	}
	*d = textDuration(parsed)
	return nil
}

func strictJSON(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

const day = 24 * time.Hour

// FormatWait formats a duration for people, rounded up so that nobody retries too early: "4 s", "12
// min", "3 h 12 min", "5 days". A negative duration is "0 s".
func FormatWait(d time.Duration) string {
	seconds := roundUp(d, time.Second)
	minutes := (seconds + 59) / 60
	switch {
	case seconds < 120:
		return strconv.FormatInt(max(0, seconds), 10) + " s"
	case minutes < 120:
		return strconv.FormatInt(minutes, 10) + " min"
	case minutes < 48*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d days", (minutes+24*60-1)/(24*60))
}
