package limits

import (
	"slices"
	"strings"
	"time"
)

// unit is what a Calendar divides time into. A longer unit has a higher value.
type unit uint8

const (
	dayUnit unit = iota
	weekUnit
	monthUnit
)

// The names of units and of weekdays, in order.
var (
	unitNames    = []string{"day", "week", "month"}
	weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// Divide returns a calendar of the same zone and time of day that divides time into "day" (or ""),
// "week" or "month". Only a week has a firstDay, from "monday" (or "") to "sunday".
func (c *Calendar) Divide(period, firstDay string) (*Calendar, error) {
	i, err := indexOfName("period", unitNames, period)
	if err != nil {
		return nil, err
	}
	first, err := indexOfName("first_day", weekdayNames, firstDay)
	switch {
	case err != nil:
		return nil, err
	case unit(i) != weekUnit && firstDay != "":
		return nil, MistakeIn("first_day", firstDay, "first_day is %q, but only a week has a first day: set period to \"week\", or leave first_day out", firstDay)
	case unit(i) == dayUnit:
		return c, nil
	}
	name := c.name + " " + unitNames[i]
	if unit(i) == weekUnit {
		name += " " + weekdayNames[first]
	}
	return &Calendar{name: name, location: c.location, resetAt: c.resetAt, unit: unit(i), firstDay: int64(first)}, nil
}

// indexOfName returns the index of a parameter's value in the list of names; 0 if it is empty.
func indexOfName(parameter string, names []string, value string) (int, error) {
	i := slices.Index(names, value)
	if i < 0 && value != "" {
		return 0, MistakeIn(parameter, value, "%s is %q, want %s", parameter, value, strings.Join(names, ", "))
	}
	return max(0, i), nil
}

// maxDaysOfUnit is the number of days in the longest period of each unit.
var maxDaysOfUnit = [...]int64{dayUnit: 1, weekUnit: 7, monthUnit: 31}

// maxLength returns the length of the longest period of the unit, in seconds, without clock
// changes.
func (u unit) maxLength() int64 { return maxDaysOfUnit[u] * secondsPerDay }

// firstDate returns the first date of the period that contains a date. Dates are days since
// 1970-01-01, which was a Thursday.
func (c *Calendar) firstDate(date int64) int64 {
	switch c.unit {
	case weekUnit:
		return date - floorMod(date+3-c.firstDay, 7)
	case monthUnit:
		return date + 1 - int64(dateTime(date).Day())
	}
	return date
}

// nextDate returns the first date of the period after the one that contains a date.
func (c *Calendar) nextDate(date int64) int64 {
	switch c.unit {
	case weekUnit:
		return c.firstDate(date) + 7
	case monthUnit:
		return c.firstDate(c.firstDate(date) + 31) // every month begins within 31 days of the last
	}
	return date + 1
}

// dateTime returns the midnight of a date, in UTC.
func dateTime(date int64) time.Time { return time.Unix(date*secondsPerDay, 0).UTC() }

func floorMod(a, b int64) int64 { return a - b*floorDiv(a, b) }
