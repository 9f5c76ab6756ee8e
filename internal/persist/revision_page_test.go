package persist

import (
	"fmt"
	"strings"
	"testing"
)

// addRevisions adds revisions first to last of a channel without the API's bounds, each padded to
// so many bytes.
func (s *Store) addRevisions(t *testing.T, channelID string, first, last, bytes int) {
	t.Helper()
	for number := first; number <= last; number++ {
		changes := "[" + strings.Repeat(" ", max(0, bytes-len("{}[]"))) + "]"
		s.exec(t, "INSERT INTO revision ("+revisionColumns+") VALUES (?, ?, 'anna', ?, '{}', ?)", channelID, number, start.UnixNano()+int64(number), changes)
	}
}

func TestRevisions_Pages(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	s.addRevisions(t, "many", 1, 120, 100)
	s.addRevisions(t, "long", 1, 5, maxRevisionJSON)
	s.addRevisions(t, "odd", 1, 1, 100)
	s.addRevisions(t, "odd", 2, 2, maxRevisionJSON+1)
	for _, c := range []struct {
		channel   string
		before, n int
		want      string
	}{
		{"many", 0, 50, "50 from 120 to 71, more"},
		{"many", 71, 50, "50 from 70 to 21, more"},
		{"many", 21, 50, "20 from 20 to 1"},
		{"many", 21, 20, "20 from 20 to 1"},
		{"many", 2, 1, "1 from 1 to 1"},
		{"many", 1, 50, "0"},
		{"long", 0, 50, "2 from 5 to 4, more"},
		{"long", 4, 50, "2 from 3 to 2, more"},
		{"odd", 0, 50, "2 from 2 to 1, unreadable: it has 524289 bytes, and at most 524288 are read"},
	} {
		revisions, more, err := s.Revisions(ctx, c.channel, c.before, c.n)
		must(t, err)
		got := fmt.Sprint(len(revisions))
		if len(revisions) > 0 {
			got += fmt.Sprintf(" from %d to %d", revisions[0].Number, revisions[len(revisions)-1].Number)
		}
		if more {
			got += ", more"
		}
		for _, r := range revisions {
			if r.Unreadable != nil {
				got += ", unreadable: " + r.Unreadable.Error()
			}
		}
		if got != c.want {
			t.Errorf("%s before %d, up to %d: %s, want %s", c.channel, c.before, c.n, got, c.want)
		}
	}
}

// However much an earlier version stored, the start reads a bounded part, and says what it leaves
// out.
func TestCurrentRevisions_Bounded(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	const fit = maxCurrentJSON / maxRevisionJSON
	for number := range fit + 2 { // a higher number is newer
		s.addRevisions(t, fmt.Sprintf("c%02d", number), number+1, number+1, maxRevisionJSON)
	}
	s.addRevisions(t, "too long", 100, 100, maxRevisionJSON+1)
	current, err := s.CurrentRevisions(ctx)
	must(t, err)
	var left []string
	for _, r := range current {
		if r.Unreadable != nil {
			left = append(left, r.ChannelID)
		}
	}
	if want := "c00, c01, too long"; len(current) != fit+3 || strings.Join(left, ", ") != want {
		t.Errorf("%d revisions without %q, want without %q", len(current), left, want)
	}
}
