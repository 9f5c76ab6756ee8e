package live

import "testing"

func TestSwitches_ChangeSendsStatus(t *testing.T) {
	m := newModel(t)
	r := joinFeed(t, m.feed, channelID)
	for _, switched := range [][]string{nil, {channelID}} {
		if err := m.announceSwitched(switched); err != nil {
			t.Fatal(err)
		}
		if want := 2 + 2*len(switched); len(r.frames) != want {
			// snapshot and status, then policy and status
			t.Errorf("%v: %d frames, want %d", switched, len(r.frames), want)
		}
	}
}

// Changed does not wait, because its caller may hold a lock that the Server needs.
func TestChanged_NeverWaits(t *testing.T) {
	m := newModel(t)
	m.feed.mu.Lock()
	m.Changed(channelID)
	m.Changed(channelID)
	m.feed.mu.Unlock()
}
