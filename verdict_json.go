package chatguard

import (
	"encoding/json"
	"strconv"
	"time"
)

// MarshalJSON writes the form shared by the command line and the HTTP API. Times are RFC 3339 in
// UTC. Waits are rounded up, and retry_after_ms is null if waiting never helps. remaining and
// reset_at are null if the message is exempt or if there are no limits.
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
	if v.Exempt {
		b = append(b, `,"exempt":true`...)
	}
	if v.Degraded {
		b = append(b, `,"degraded":true`...)
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
	return b
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
