package limits

import (
	"encoding/json"
	"math"
	"time"
)

// RowText is what a row contains, for people. Its JSON form has names in place of codes.
type RowText struct {
	Seq    uint64    `json:"seq"`    // number of the write
	Writer uint32    `json:"writer"` // the process that wrote the row
	Last   time.Time `json:"last,omitzero"`
	// Kept is until when the row is kept, if its contents have no effect any more before then;
	// otherwise zero.
	Kept time.Time `json:"kept_until,omitzero"`
	// Strikes are nil if the user has none.
	Strikes *StrikesText    `json:"strikes,omitempty"`
	Limits  []UsageText     `json:"limits"`
	Given   json.RawMessage `json:"given,omitempty"` // override, grants and pardons
}

// StrikesText is a user's strikes.
type StrikesText struct {
	Count       uint64    `json:"count"`
	Practice    bool      `json:"practice,omitempty"` // given while the policy only observed
	At          time.Time `json:"at,omitzero"`        // of the last
	SilentUntil time.Time `json:"silent_until,omitzero"`
}

// UsageText is the usage of a limit, and the parameters under which it was spent.
type UsageText struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Calendar  string `json:"calendar,omitempty"`
	Capacity  int64  `json:"capacity"`
	Interval  string `json:"interval,omitempty"`
	// ExtraCapacity and ExtraInterval are those of a cascade's second bucket.
	ExtraCapacity int64     `json:"extra_capacity,omitempty"`
	ExtraInterval string    `json:"extra_interval,omitempty"`
	Slices        int       `json:"slices,omitempty"` // of a sliding window that has several
	Until         time.Time `json:"until,omitzero"`   // when the usage no longer has any effect
	State         []uint64  `json:"state"`            // the algorithm's own numbers
}

// DescribeRow returns what a row's bytes contain. It needs no Set.
func DescribeRow(data []byte) (text RowText, err error) {
	in := rowReader{data: data}
	h, err := in.header(nil)
	if err != nil {
		return text, err
	}
	text.Seq, text.Writer, text.Kept, text.Last = h.writes.Seq, h.writes.Writer, moment(uint64(h.kept)), moment(uint64(h.last))
	if h.flags&rowHasStanding != 0 {
		text.Strikes = &StrikesText{
			Count: in.number(maxStrikes), Practice: h.flags&rowPractice != 0, At: moment(in.number(MaxTime - 1)), SilentUntil: moment(in.number(math.MaxInt64)),
		}
	}
	text.Limits = []UsageText{}
	for range in.number(MaxLimits) {
		text.Limits = append(text.Limits, in.describeUsage(h.last))
	}
	if rest := data[in.at:]; h.flags&rowHasGiven != 0 {
		text.Given = rest
		in.bad = in.bad || !json.Valid(rest)
	} else if len(rest) > 0 {
		in.bad = true
	}
	if in.bad {
		return RowText{}, errStateBytes
	}
	return text, nil
}

// describeUsage reads the usage of a limit. The row's last use was at the time last.
func (in *rowReader) describeUsage(last int64) (text UsageText) {
	code, name := in.byte(), in.text()
	a, err := algorithmByCode(code)
	if err != nil {
		in.fail()
		return text
	}
	var spent spending
	if in.usage(&spent, a, nil); in.bad || !a.isValid(&spent.under, spent.state, last) {
		in.fail()
		return text
	}
	text = UsageText{Name: string(name), Algorithm: a.name, Calendar: spent.under.calendar.String(), Capacity: spent.under.capacity, State: trim(spent.state)}
	if spent.under.interval != 0 {
		text.Interval = time.Duration(spent.under.interval).String()
	}
	if buckets := spent.under.buckets; len(buckets) > 1 {
		text.ExtraCapacity, text.ExtraInterval = buckets[1].capacity, time.Duration(buckets[1].interval).String()
	}
	if a.name == slidingWindow.name && spent.under.slices > 1 {
		text.Slices = spent.under.slices
	}
	text.Until = moment(uint64(max(0, a.expiry(&spent.under, spent.state))))
	return text
}

// moment returns a time in nanoseconds since 1970; the zero time for 0 and for never.
func moment(ns uint64) time.Time {
	if ns == 0 || ns >= Never {
		return time.Time{}
	}
	return time.Unix(0, int64(ns)).UTC()
}
