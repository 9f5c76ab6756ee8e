package chatguard

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// EntryID identifies one throttled message in the journal. IDs increase with time, fit a JSON
// number, and are never 0.
type EntryID int64

// Verdict is the decision on one message. It is plain data: it can be copied, and it holds no
// reference to the Guard.
type Verdict struct {
	At        time.Time // the message's time
	ChannelID string
	UserID    string

	// Allowed says that the message may be shown. Most callers need only this field.
	Allowed bool
	// Observed says that the message would have been throttled if the limit had been enforced.
	// Allowed is then true.
	Observed bool
	Exempt   bool // not judged, because of the user's role or the message's kind
	// Never says that waiting doesn't help: the message costs more than a limit can ever hold.
	Never bool
	// Degraded says that the store was failing. Recent usage may be lost when the process ends;
	// with Options.Shared, the decision may not include what other Guards have allowed.
	Degraded bool
	// Priority is PriorityLow if a Cascade's second bucket pays for the message. A chat may show an
	// allowed message of that priority smaller or folded. A throttled message has it if the second
	// bucket would have paid for it; a Reserve then applied to it. Policies that observe set
	// Priority, too.
	Priority Priority

	// Limit is the limit that throttles the message, or would if it were enforced. It is empty if
	// all limits allow the message.
	Limit string
	// Tightest is the limit that Remaining and ResetAt describe. It is Limit if a limit throttles
	// the message, and otherwise the limit with the least remaining. It is empty if Exempt, or if
	// there are no limits.
	Tightest string
	// Remaining is how many messages of cost 1 the Tightest limit would still allow. It is -1 if
	// Exempt, or if there are no limits.
	Remaining int
	// RetryAfter is counted from At: the same message would pass at At+RetryAfter, and not 1 ns
	// sooner. It is 0 if the message passes, or if Never is set.
	RetryAfter time.Duration
	// Delay is how long to hold an allowed message before delivery, counted from At. It is 0 if the
	// policy observes.
	Delay time.Duration
	// ResetAt is when the Tightest limit's usage will have expired. It is zero if Exempt, or if
	// there are no limits.
	ResetAt time.Time

	// EntryID is the journal entry of a throttled or observed message; otherwise 0.
	EntryID EntryID
	// Penalty is what to do with the message and its author. It is the zero value if Allowed.
	Penalty Penalty
	WouldBe Penalty // penalty that an Observed message would get if enforced
	// Strikes is the author's number of strikes after a throttled or observed message.
	Strikes   int
	NewStrike bool // the message gave the latest of these strikes

	// Spent is how much of the message's cost was spent. It is 0 if the message is throttled or
	// exempt. Refund gives it back.
	Spent int
	// Late is how much later than At the message counted. A message that arrives out of order
	// counts at the time of its author's latest message. Refund needs Late. Pardon needs Late,
	// Counted and Series of a throttled or observed message.
	Late time.Duration
	// Counted is the part of a throttled message's cost that was counted in every limit with
	// CountThrottled.
	Counted int
	Series  uint8 // identifies a series of strikes; changes when they lapse

	granted int          // part of Remaining
	atNow   bool         // At is the time of the Guard's clock
	roles   limits.Roles // the author's own, for Quotas and Refund
}

// Throttled reports whether a limit throttled the message, or would have throttled it if it were
// enforced.
func (v Verdict) Throttled() bool { return v.throttled() }

// throttled is Throttled without a copy of the verdict.
func (v *Verdict) throttled() bool { return !v.Allowed || v.Observed }

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, as used in a Retry-After
// header. It is 0 if the message passes or if waiting never helps.
func (v Verdict) RetryAfterSeconds() int { return int(roundUp(v.RetryAfter, time.Second)) }

// MaySpeakAt returns when the message would be allowed. It returns At if the message is allowed
// now, and the zero time if Never is set.
func (v Verdict) MaySpeakAt() time.Time {
	if v.Never {
		return time.Time{}
	}
	return v.At.Add(v.RetryAfter)
}

// String describes the verdict in one line for logs: "allowed, 2 left of burst", "throttled by
// burst, retry after 4s".
func (v Verdict) String() string {
	switch {
	case v == Verdict{}:
		return "not judged"
	case v.Exempt:
		return "allowed, exempt"
	case v.throttled() && v.Never:
		return v.outcome() + ", waiting never helps"
	case v.throttled():
		return fmt.Sprintf("%s, retry after %s", v.outcome(), v.RetryAfter)
	case v.Priority == PriorityLow:
		return fmt.Sprintf("allowed at low priority, %d left of %s", v.Remaining, v.Tightest)
	case v.Tightest == "" && v.Degraded:
		return "allowed, degraded"
	case v.Tightest == "":
		return "allowed, no limits"
	}
	return fmt.Sprintf("allowed, %d left of %s", v.Remaining, v.Tightest)
}

// outcome says whether the limit that throttled the message was enforced.
func (v *Verdict) outcome() string {
	if v.Observed {
		return "allowed, observed by " + v.Limit
	}
	return "throttled by " + v.Limit
}

// LogValue returns the fields that matter in a log: the channel, the user, whether the message is
// allowed, and its priority unless that is normal. For a throttled message, it adds the limit, the
// wait and the penalty.
func (v Verdict) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("channel", v.ChannelID), slog.String("user", v.UserID), slog.Bool("allowed", v.Allowed)}
	if v.Priority != PriorityNormal {
		attrs = append(attrs, slog.String("priority", v.Priority.String()))
	}
	if v.throttled() {
		penalty := v.Penalty
		if v.Observed {
			penalty = v.WouldBe
			attrs = append(attrs, slog.Bool("observed", true))
		}
		attrs = append(attrs, slog.String("limit", v.Limit), slog.Duration("retry_after", v.RetryAfter), slog.String("penalty", penalty.String()))
	}
	return slog.GroupValue(attrs...)
}

// Priority is the priority of a message. The zero value is PriorityNormal.
type Priority uint8

// The priorities.
const (
	PriorityNormal Priority = iota
	// PriorityLow means that a [Cascade] allows the message only beyond what it allows at normal
	// priority. It can't use the Reserve of a limit.
	PriorityLow
)

var priorityNames = [...]string{"normal", "low"}

// String returns the priority's name as used in JSON.
func (p Priority) String() string { return nameOf(priorityNames[:], "priority", p) }

// MarshalText writes "normal" or "low".
func (p Priority) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses "normal" or "low".
func (p *Priority) UnmarshalText(text []byte) error {
	return parseName(priorityNames[:], "priority", text, p)
}

// MarshalJSON writes the form shared by the command line and the HTTP API. Times are RFC 3339 in
// UTC. Waits are rounded up to milliseconds, and retry_after_ms is null if waiting never helps.
// remaining and reset_at are null if the message is exempt or if there are no limits. tightest is
// present if it isn't the same as limit.
func (v Verdict) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// AppendJSON appends what MarshalJSON writes. Use it to write many verdicts: json.Marshal takes
// several times as long.
func (v Verdict) AppendJSON(b []byte) []byte {
	b = appendTime(append(b, `{"at":`...), v.At)
	b = appendText(append(b, `,"channel":`...), v.ChannelID)
	b = appendText(append(b, `,"user_id":`...), v.UserID)
	b = strconv.AppendBool(append(b, `,"allowed":`...), v.Allowed)
	b = appendText(append(b, `,"limit":`...), v.Limit)
	limited := !v.ResetAt.IsZero()
	b = appendNumber(append(b, `,"remaining":`...), int64(v.Remaining), limited)
	b = appendNumber(append(b, `,"retry_after_ms":`...), roundUp(v.RetryAfter, time.Millisecond), !v.Never)
	b = strconv.AppendInt(append(b, `,"delay_ms":`...), roundUp(v.Delay, time.Millisecond), 10)
	b = append(b, `,"reset_at":`...)
	if limited {
		b = appendTime(b, v.ResetAt)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendBool(append(b, `,"never":`...), v.Never)
	b = strconv.AppendBool(append(b, `,"observed":`...), v.Observed)
	b = appendText(append(b, `,"penalty":`...), v.Penalty.String())
	if v.Observed {
		b = appendText(append(b, `,"would_be":`...), v.WouldBe.String())
	}
	return append(v.appendRare(b), '}')
}

// appendRare appends the fields that most verdicts don't have.
func (v *Verdict) appendRare(b []byte) []byte {
	if v.Tightest != v.Limit {
		b = appendText(append(b, `,"tightest":`...), v.Tightest)
	}
	if v.Exempt {
		b = append(b, `,"exempt":true`...)
	}
	if v.Degraded {
		b = append(b, `,"degraded":true`...)
	}
	if v.Priority != PriorityNormal {
		b = appendText(append(b, `,"priority":`...), v.Priority.String())
	}
	if v.EntryID != 0 {
		b = strconv.AppendInt(append(b, `,"entry":`...), int64(v.EntryID), 10)
	}
	if v.Strikes != 0 {
		b = strconv.AppendInt(append(b, `,"strikes":`...), int64(v.Strikes), 10)
	}
	if v.NewStrike {
		b = append(b, `,"new_strike":true`...)
	}
	if v.Spent != 0 {
		b = strconv.AppendInt(append(b, `,"spent":`...), int64(v.Spent), 10)
	}
	if !v.roles.IsEmpty() {
		b = appendNames(append(b, `,"roles":`...), v.roles)
	}
	if v.Late != 0 {
		b = strconv.AppendInt(append(b, `,"late_ns":`...), int64(v.Late), 10)
	}
	if v.Counted != 0 {
		b = strconv.AppendInt(append(b, `,"counted":`...), int64(v.Counted), 10)
	}
	if v.Series != 0 {
		b = strconv.AppendInt(append(b, `,"series":`...), int64(v.Series), 10)
	}
	return b
}

// verdictJSON has the fields that AppendJSON writes.
type verdictJSON struct {
	At         time.Time `json:"at"`
	Channel    *string   `json:"channel"`
	UserID     *string   `json:"user_id"`
	Allowed    *bool     `json:"allowed"`
	Limit      string    `json:"limit"`
	Remaining  *int      `json:"remaining"`
	RetryAfter int64     `json:"retry_after_ms"`
	Delay      int64     `json:"delay_ms"`
	ResetAt    time.Time `json:"reset_at"`
	Never      bool      `json:"never"`
	Observed   bool      `json:"observed"`
	Penalty    Penalty   `json:"penalty"`
	WouldBe    Penalty   `json:"would_be"`
	Tightest   *string   `json:"tightest"`
	Exempt     bool      `json:"exempt"`
	Degraded   bool      `json:"degraded"`
	Priority   Priority  `json:"priority"`
	EntryID    EntryID   `json:"entry"`
	Strikes    int       `json:"strikes"`
	NewStrike  bool      `json:"new_strike"`
	Spent      int       `json:"spent"`
	Late       int64     `json:"late_ns"`
	Counted    int       `json:"counted"`
	Series     uint8     `json:"series"`
	Roles      []string  `json:"roles"`
}

// UnmarshalJSON reads what MarshalJSON writes. The waits are then rounded up to milliseconds, and
// the times are in UTC. Verdict.Hold counts Delay from its call, because the clock that set At may
// differ from this machine's. UnmarshalJSON ignores fields that it doesn't know. It returns an
// error if channel, user_id or allowed is missing.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var in verdictJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if err := in.checkComplete(); err != nil {
		return err
	}
	*v = Verdict{
		At: in.At, ChannelID: *in.Channel, UserID: *in.UserID, Allowed: *in.Allowed, Observed: in.Observed, Exempt: in.Exempt,
		Never: in.Never, Degraded: in.Degraded, Priority: in.Priority, Limit: in.Limit, Tightest: in.Limit, Remaining: -1,
		RetryAfter: milliseconds(in.RetryAfter), Delay: milliseconds(in.Delay),
		ResetAt: in.ResetAt, EntryID: in.EntryID, Penalty: in.Penalty, WouldBe: in.WouldBe, Strikes: in.Strikes,
		NewStrike: in.NewStrike, Spent: in.Spent, Late: time.Duration(in.Late), Counted: in.Counted, Series: in.Series, roles: rolesFrom(in.Roles),
		atNow: true, // the clock that set At may differ from this machine's
	}
	if in.Tightest != nil {
		v.Tightest = *in.Tightest
	}
	if in.Remaining != nil {
		v.Remaining = *in.Remaining
	}
	return nil
}

// milliseconds returns a wait of n milliseconds, at most the longest Duration.
func milliseconds(n int64) time.Duration {
	return time.Duration(max(0, min(n, math.MaxInt64/int64(time.Millisecond)))) * time.Millisecond
}

// checkComplete returns an error if a required field is missing.
func (in *verdictJSON) checkComplete() error {
	for _, field := range []struct {
		name  string
		known bool
	}{{"channel", in.Channel != nil}, {"user_id", in.UserID != nil}, {"allowed", in.Allowed != nil}} {
		if !field.known {
			return fmt.Errorf("chatguard: the JSON isn't a verdict: %s is missing", field.name)
		}
	}
	return nil
}

// rolesFrom returns the roles of an author that a verdict in JSON names.
func rolesFrom(names []string) limits.Roles {
	if len(names) == 0 {
		return limits.Roles{}
	}
	names = names[:min(len(names), limits.MaxRoles)]
	return limits.NewRoleList(names, "").Of(names)
}

// appendNames appends the names of roles as a list in JSON.
func appendNames(b []byte, roles limits.Roles) []byte {
	separator := byte('[')
	for name := range roles.All {
		b = appendText(append(b, separator), name)
		separator = ','
	}
	return append(b, ']')
}

func appendTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// appendNumber appends n if known is true, and null otherwise.
func appendNumber(b []byte, n int64, known bool) []byte {
	if !known {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, n, 10)
}

// appendText appends a text as a JSON string, in the form that encoding/json writes.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(text) // encoding a string can't fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// roundUp rounds a wait up to whole units.
func roundUp(wait, unit time.Duration) int64 {
	n := int64(wait / unit)
	if wait%unit > 0 {
		n++
	}
	return n
}
