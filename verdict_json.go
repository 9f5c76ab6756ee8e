package chatguard

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

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
	if v.Priority != "" {
		b = appendText(append(b, `,"priority":`...), string(v.Priority))
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
	if !v.Print.IsZero() {
		print, _ := v.Print.MarshalText() // there is no error
		b = append(append(append(b, `,"text_print":"`...), print...), '"')
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
	Print      TextPrint `json:"text_print"`
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
		NewStrike: in.NewStrike, Spent: in.Spent, Late: time.Duration(in.Late), Counted: in.Counted, Series: in.Series, roles: rolesFrom(in.Roles), Print: in.Print,
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
