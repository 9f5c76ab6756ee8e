package limits

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/turntest"
)

// jump is a jump of a local clock, caused by a change of its zone's offset. At the time at, the
// clock shows local, and it runs evenly from there. Both fields are in seconds; local is read as if
// it were UTC.
type jump struct{ at, local int64 }

// findJumps samples a zone's clock in steps of the first length. If the clock hasn't advanced
// evenly since the last sample, it samples that period in steps of the next length. It returns the
// jumps found with the last length. It misses none: from 2000 to 2037 no zone changes twice in 4
// days.
func findJumps(zone *time.Location, from, to int64, steps ...int64) (jumps []jump) {
	show := func(t int64) int64 {
		_, offset := time.Unix(t, 0).In(zone).Zone()
		return t + int64(offset)
	}
	shown := show(from)
	for t := from; t < to; {
		next := min(t+steps[0], to)
		now := show(next)
		switch {
		case now-shown == next-t:
		case len(steps) > 1:
			jumps = append(jumps, findJumps(zone, t, next, steps[1:]...)...)
		default:
			jumps = append(jumps, jump{next, now})
		}
		t, shown = next, now
	}
	return jumps
}

// startsByClock follows a clock from its first jump to the time to. For every date that begins a
// period, it records when the clock first shows reset or later.
func startsByClock(clock []jump, to, reset int64, begins func(date time.Time) bool) (starts []int64) {
	wanted := clock[0].local - clock[0].local%secondsPerDay + secondsPerDay + reset
	for i, j := range clock {
		end := to
		if i+1 < len(clock) {
			end = clock[i+1].at
		}
		for ; wanted < j.local+end-j.at; wanted += secondsPerDay {
			if begins(time.Unix(wanted, 0).UTC()) {
				starts = append(starts, j.at+max(0, wanted-j.local))
			}
		}
	}
	return starts
}

// periods are those that the test compares, and which dates begin them.
var periods = []struct {
	period, firstDay string
	begins           func(date time.Time) bool
}{
	{"day", "", func(time.Time) bool { return true }},
	{"week", "monday", func(date time.Time) bool { return date.Weekday() == time.Monday }},
	{"week", "sunday", func(date time.Time) bool { return date.Weekday() == time.Sunday }},
	{"week", "friday", func(date time.Time) bool { return date.Weekday() == time.Friday }},
	{"month", "", func(date time.Time) bool { return date.Day() == 1 }},
}

// TestCalendar_AllZones checks that the days, weeks and months of all zones equal those found by
// watching their clocks from 2000 to 2037. With -short a quarter of the zones is compared.
func TestCalendar_AllZones(t *testing.T) {
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	to := time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	var known sync.Map // clocks: equal zones are compared once
	var compared, clocks, misdated atomic.Int64
	zones := allZones(t)
	names, least := turntest.Sample(t, 1, slices.Sorted(maps.Keys(zones))), int64(100)
	if testing.Short() {
		least = 1
	}
	t.Run("zones", func(t *testing.T) {
		for _, name := range names {
			zone := zones[name]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, offset := time.Unix(from, 0).In(zone).Zone()
				clock := append([]jump{{from, from + int64(offset)}}, findJumps(zone, from, to, 12*secondsPerHour, 15*60, 60, 1)...)
				if _, done := known.LoadOrStore(fmt.Sprint(clock), true); done {
					return
				}
				clocks.Add(1)
				for _, resetAt := range []string{"00:00", "00:30", "02:15", "03:00", "12:00", "23:30", "23:59"} {
					calendar, err := NewCalendar("", resetAt)
					must(t, err)
					calendar.location = zone
					for _, p := range periods {
						divided, err := calendar.Divide(p.period, p.firstDay)
						must(t, err)
						starts := slices.Compact(startsByClock(clock, to, calendar.resetAt, p.begins))
						compared.Add(comparePeriods(t, divided, starts, clock))
						if resetAt == "00:00" && p.period == "day" {
							misdated.Add(misdatedStarts(zone, starts))
						}
					}
				}
			})
		}
	})
	t.Logf("compared %d periods of %d clocks; time.Date has another midnight on %d days", compared.Load(), clocks.Load(), misdated.Load())
	if misdated.Load() < least {
		t.Errorf("time.Date is right but for %d days: these clocks are no test", misdated.Load())
	}
}

// comparePeriods fails unless each period of a calendar lasts from one start to the next. It checks
// the periods around each jump of the clock, and one in a thousand others.
func comparePeriods(t *testing.T, calendar *Calendar, starts []int64, clock []jump) (n int64) {
	const around = 6 * secondsPerHour
	for i, start := range starts[:len(starts)-1] {
		want := Period{start, starts[i+1]}
		for len(clock) > 1 && clock[0].at < want.Start-around {
			clock = clock[1:]
		}
		jumped := clock[0].at
		if i%1000 != 0 && (jumped < want.Start-around || want.End+around < jumped) {
			continue
		}
		n++
		for _, at := range []int64{want.Start, min(max(want.Start, jumped), want.End-1), want.End - 1} {
			calendar.recent.Store(nil)
			if got := calendar.PeriodOf(at); got != want {
				t.Errorf("%s, %s: the period of %d is %v, want %v", calendar.location, calendar, at, got, want)
			}
		}
	}
	return n
}

// misdatedStarts returns how many of the starts, which are at midnight, differ from time.Date's
// midnight.
func misdatedStarts(zone *time.Location, starts []int64) (n int64) {
	for _, start := range starts {
		year, month, day := time.Unix(start, 0).In(zone).Date()
		if time.Date(year, month, day, 0, 0, 0, 0, zone).Unix() != start {
			n++
		}
	}
	return n
}

// allZones returns the zones that come with Go, which are those that a binary embeds. Of several
// zones with the same data, it returns only one.
func allZones(t *testing.T) map[string]*time.Location {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatalf("Go's zones: %v", err)
	}
	defer archive.Close()
	zones, seen := map[string]*time.Location{}, map[string]bool{}
	for _, file := range archive.File {
		if file.FileInfo().IsDir() {
			continue
		}
		if _, err := NewCalendar(file.Name, ""); err != nil {
			t.Error(err)
		}
		data, err := readZipped(file)
		must(t, err)
		if seen[string(data)] {
			continue
		}
		seen[string(data)] = true
		if zones[file.Name], err = time.LoadLocationFromTZData(file.Name, data); err != nil {
			t.Fatal(err)
		}
	}
	if len(zones) < 300 {
		t.Fatalf("Go's zones are only %d", len(zones))
	}
	return zones
}

func readZipped(file *zip.File) ([]byte, error) {
	r, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
