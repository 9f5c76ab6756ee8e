package limits

import (
	_ "embed" // the names of zones
	"strings"
	"sync"
)

// Timezone is a zone of the IANA database. There is one Timezone for each name, so they can be
// compared. A nil *Timezone stands for the zone of the limits.
type Timezone struct {
	name   string
	number uint64 // 1 for the first; the numbers of another program may differ
}

// zoneNames are the names of Go's zone data, sorted, one a line. With a list of them, a stranger's
// invented name needs no search for a file, and what is kept for each zone has a bound.
//
//go:embed zone_names.txt
var zoneNames string

// zones are all zones by name, and by number.
var zones = sync.OnceValues(func() (byName map[string]*Timezone, byNumber []*Timezone) {
	byName, byNumber = map[string]*Timezone{}, []*Timezone{nil}
	for name := range strings.FieldsSeq(zoneNames) {
		zone := &Timezone{name, uint64(len(byNumber))}
		byName[name], byNumber = zone, append(byNumber, zone)
	}
	return byName, byNumber
})

// TimezoneOf returns the zone of that IANA name, or nil if there is none.
func TimezoneOf(name string) *Timezone {
	if name == "" {
		return nil
	}
	byName, _ := zones()
	return byName[name]
}

// String returns the IANA name. A nil zone is "".
func (z *Timezone) String() string {
	if z == nil {
		return ""
	}
	return z.name
}

// in returns the calendar of the zone that divides time as another calendar does. If the zone's
// data can't be loaded, it returns the other calendar.
func (z *Timezone) in(c *Calendar) *Calendar {
	_, division, _ := strings.Cut(c.name, " ")
	own, err := storedCalendars.find([]byte(z.name+" "+division), c)
	if err != nil {
		return c
	}
	return own
}

// The number of a user's zone shares a word with a count.
const (
	zoneShift = 48
	zoneCount = 1<<zoneShift - 1
)

// withZone returns the word with the number of a zone.
func withZone(word uint64, z *Timezone) uint64 {
	if word &= zoneCount; z != nil {
		word |= z.number << zoneShift
	}
	return word
}

// zoneIn returns the zone whose number the word has.
func zoneIn(word uint64) *Timezone {
	_, byNumber := zones()
	return byNumber[word>>zoneShift]
}
