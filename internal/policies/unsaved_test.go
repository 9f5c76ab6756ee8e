package policies

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWhatIsSavedByNow(t *testing.T) {
	const age = 5 * time.Second // age of the change
	tests := []struct {
		name     string
		database journal.Database
		saved    bool
	}{
		{"failing", journal.Database{State: journal.DatabaseFailing, Lag: time.Minute}, false},
		{"hasn't noticed yet", journal.Database{State: journal.DatabaseOK, Lag: time.Minute}, false},
		{"well again, and hasn't come to it", journal.Database{State: journal.DatabaseOK, Lag: age}, false},
		{"well again", journal.Database{State: journal.DatabaseOK, Lag: age - 1}, true},
		{"there is none", journal.Database{State: journal.DatabaseOff}, false},
	}
	for _, test := range tests {
		var u unsaved
		u.note(channel, 1, false, noon)
		if saved := u.take(test.database, noon.Add(age)); len(saved) > 0 != test.saved || u.has(channel) == test.saved {
			t.Errorf("%s: %q are saved", test.name, saved)
		}
	}
}

func TestASavedChangeHasSavedThoseBefore(t *testing.T) {
	var u unsaved
	u.note("1", 1, false, noon)
	u.note("2", 1, false, noon)
	u.note("1", 2, true, noon)
	if u.has("1") || !u.has("2") {
		t.Errorf("unsaved: %v", u.since)
	}
}
