package chatguard

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// perMonth returns a limit of a number of messages a month.
func perMonth(messages int) Limit {
	l := DailyWindowLimit("month", messages)
	l.Period = PeriodMonth
	return l
}

func TestPeriod_JSON(t *testing.T) {
	l := DailyWindowLimit("week", 3)
	l.Period, l.FirstDay = PeriodWeek, "sunday"
	data, err := json.Marshal(l)
	must(t, err)
	if want := `"period":"week","first_day":"sunday"`; !strings.Contains(string(data), want) {
		t.Errorf("%s, want %s in it", data, want)
	}
	var read Limit
	if err := json.Unmarshal(data, &read); err != nil || read.Period != PeriodWeek || read.FirstDay != "sunday" {
		t.Errorf("%+v, %v", read, err)
	}
	l.FirstDay = "someday"
	wantMistake(t, l, PolicyError{Limit: "week", Parameter: "first_day", Value: "someday"})
	l.Period, l.FirstDay = PeriodMonth, "sunday"
	wantMistake(t, l, PolicyError{Limit: "week", Parameter: "first_day", Value: "sunday"})
}

// The window of a quota is the present period, so it changes when the next one begins.
func TestPeriod_Quota(t *testing.T) {
	day, week := DailyWindowLimit("day", 9), DailyWindowLimit("week", 9)
	day.Timezone, week.Timezone, week.Period = "Europe/Berlin", "Europe/Berlin", PeriodWeek
	g := newGuardWithLimits(t, day, week, perMonth(9))
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{monday, `"day";q=9;w=86400, "week";q=9;w=604800, "month";q=9;w=2678400`},
		{time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), `"day";q=9;w=86400, "week";q=9;w=604800, "month";q=9;w=2419200`},
		{time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC), `"day";q=9;w=82800, "week";q=9;w=601200, "month";q=9;w=2678400`},
		{time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), `"day";q=9;w=86400, "week";q=9;w=604800, "month";q=9;w=2505600`},
	} {
		m := messageFrom("7", 0)
		m.SentAt = test.at
		if got := quotas(g, mustCheck(t, g, m)); got != test.want {
			t.Errorf("%s: %s, want %s", test.at, got, test.want)
		}
	}
}

// A timeout until the user may write again is at most 14 days long, even if the month lasts longer.
func TestPeriod_RefillTimeout(t *testing.T) {
	var ladder Penalty
	must(t, ladder.UnmarshalText([]byte("timeout refill")))
	g := mustNew(t, Policy{Limits: []Limit{perMonth(1)}, Penalties: Penalties{Ladder: []Penalty{ladder}}}, nil)
	mustCheck(t, g, messageFrom("7", 0))
	v := mustCheck(t, g, messageFrom("7", 1))
	if v.Allowed || v.RetryAfter < 26*24*time.Hour || v.Penalty.Duration != 14*24*time.Hour {
		t.Errorf("%s after %s", v.Penalty, v.RetryAfter)
	}
}

// A grant in a limit without an open window ends with the user's day, and after 24 hours if no
// limit counts by days.
func TestPeriod_Grant(t *testing.T) {
	endOfMonth := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		limits []Limit
		in     string
		until  time.Time
	}{
		{[]Limit{perMonth(3)}, "", endOfMonth},
		{[]Limit{perMonth(3), DailyWindowLimit("daily", 3)}, "", endOfMonth},
		{[]Limit{TokenBucketLimit("burst", 3, time.Hour)}, "", time.Time{}},
		{[]Limit{TokenBucketLimit("burst", 3, time.Hour), perMonth(3)}, "burst", monday.Add(24 * time.Hour)},
		{[]Limit{TokenBucketLimit("burst", 3, time.Hour), perMonth(3), DailyWindowLimit("daily", 3)}, "burst", monday.Truncate(24 * time.Hour).Add(24 * time.Hour)},
	} {
		g := mustNew(t, Policy{Limits: test.limits}, &Options{Now: func() time.Time { return monday }})
		if test.until.IsZero() {
			const want = "chatguard: there is no such limit: the name is missing, and no limit counts by days"
			if _, err := g.Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, test.in, 2); err == nil || err.Error() != want || !errors.Is(err, ErrNoLimit) {
				t.Errorf("%q: %v, want %s", test.in, err, want)
			}
			continue
		}
		if until, err := g.Grant(t.Context(), Key{ChannelID: "1", UserID: "7"}, test.in, 2); err != nil || !until.Equal(test.until) {
			t.Errorf("%q: %s, %v, want %s", test.in, until, err, test.until)
		}
	}
}
