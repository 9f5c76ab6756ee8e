package web

import (
	"testing"
	"time"
)

func TestWhatIsSavedByNow(t *testing.T) {
	const age = 5 * time.Second // of the change
	tests := []struct {
		name     string
		database Database
		saved    bool
	}{
		{"failing", Database{State: DatabaseFailing, Lag: time.Minute}, false},
		{"hasn't noticed yet", Database{State: DatabaseOK, Lag: time.Minute}, false},
		{"well again, and hasn't come to it", Database{State: DatabaseOK, Lag: age}, false},
		{"well again", Database{State: DatabaseOK, Lag: age - 1}, true},
		{"there is none", Database{State: DatabaseOff}, false},
	}
	for _, test := range tests {
		var u unsaved
		u.note(channelID, 1, false, noon)
		if saved := u.settle(test.database, noon.Add(age)); len(saved) > 0 != test.saved || u.has(channelID) == test.saved {
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
