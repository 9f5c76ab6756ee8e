package chatguard

import (
	"encoding/json"
	"testing"
	"time"
)

// plainVerdict is the form for encoding/json without custom code.
type plainVerdict struct {
	At           time.Time  `json:"at"`
	Channel      string     `json:"channel"`
	UserID       string     `json:"user_id"`
	Allowed      bool       `json:"allowed"`
	Limit        string     `json:"limit"`
	Remaining    *int       `json:"remaining"`
	RetryAfterMS *int64     `json:"retry_after_ms"`
	DelayMS      int64      `json:"delay_ms"`
	ResetAt      *time.Time `json:"reset_at"`
	Never        bool       `json:"never"`
	Observed     bool       `json:"observed"`
	Penalty      Penalty    `json:"penalty"`
	WouldBe      *Penalty   `json:"would_be,omitempty"`
	Exempt       bool       `json:"exempt,omitempty"`
	Degraded     bool       `json:"degraded,omitempty"`
	Entry        EntryID    `json:"entry,omitempty"`
	Strikes      int        `json:"strikes,omitempty"`
	NewStrike    bool       `json:"new_strike,omitempty"`
}

func TestVerdict_JSONMatchesEncodingJSON(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	at := time.Date(2026, 1, 5, 20, 0, 0, 120_000_000, berlin)
	timeout := Penalty{Action: Timeout, Duration: 10 * time.Minute}
	n := func(n int64) *int64 { return &n }
	left := func(n int) *int { return &n }
	utc, later := at.UTC(), at.Add(12*time.Second).UTC()
	for _, test := range []struct {
		v    Verdict
		want plainVerdict
	}{
		{Verdict{At: at, ChannelID: "1", UserID: "7", Allowed: true, Tightest: "burst", Remaining: 2, ResetAt: later.In(berlin)},
			plainVerdict{At: utc, Channel: "1", UserID: "7", Allowed: true, Remaining: left(2), RetryAfterMS: n(0), ResetAt: &later}},
		{Verdict{At: at, ChannelID: "1", UserID: "7", Limit: "burst", RetryAfter: 3*time.Second + 1, ResetAt: later, EntryID: 99, Penalty: timeout, Strikes: 2, NewStrike: true},
			plainVerdict{At: utc, Channel: "1", UserID: "7", Limit: "burst", Remaining: left(0), RetryAfterMS: n(3001), ResetAt: &later, Entry: 99, Penalty: timeout, Strikes: 2, NewStrike: true}},
		{Verdict{At: at, Allowed: true, Observed: true, WouldBe: timeout, Limit: "burst", Delay: 1500 * time.Microsecond, ResetAt: later, Degraded: true},
			plainVerdict{At: utc, Allowed: true, Observed: true, WouldBe: &timeout, Limit: "burst", Remaining: left(0), RetryAfterMS: n(0), DelayMS: 2, ResetAt: &later, Degraded: true}},
		{Verdict{At: at, Never: true, Limit: "x", ResetAt: later}, plainVerdict{At: utc, Never: true, Limit: "x", Remaining: left(0), ResetAt: &later}},
		{Verdict{At: at, Allowed: true, Exempt: true, Remaining: -1}, plainVerdict{At: utc, Allowed: true, Exempt: true, RetryAfterMS: n(0)}},
		{Verdict{At: at, ChannelID: "a\"b\\c<d>&\u2028\x00", UserID: "é\xff\n"}, plainVerdict{At: utc, Channel: "a\"b\\c<d>&\u2028\x00", UserID: "é\xff\n", RetryAfterMS: n(0)}},
	} {
		want, err := json.Marshal(test.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.v.AppendJSON([]byte("x")); string(got) != "x"+string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, err := json.Marshal(test.v); err != nil || string(got) != string(want) {
			t.Errorf("json.Marshal: %s, %v\nwant %s", got, err, want)
		}
	}
}
