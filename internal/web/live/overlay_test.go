package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// The newest are those of a whole sorted list.
func TestBoard_Newest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoard()
		seconds := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 12).Draw(t, "seconds")
		for i, s := range seconds {
			b.put(entry(int64(i+1), fmt.Sprint("u", i), noon.Add(time.Duration(s)*time.Second), time.Duration(i%3)*time.Second), "", chatguard.Message{Cost: 1}, noon.Add(time.Duration(s)*time.Second))
		}
		other := entry(99, "else", noon, time.Hour)
		other.ChannelID = "8"
		b.put(other, "", chatguard.Message{Cost: 1}, noon)
		b.expire(noon.Add(3 * time.Second))
		isWanted := func(t *Throttled) bool { return t.UserID != "u2" }
		want, wantHeld := b.list(channelID, isWanted), 0
		for _, r := range want {
			if r.Held {
				wantHeld++
			}
		}
		slices.SortFunc(want, func(a, b row) int { return compareNewest(&a, &b) })
		most := rapid.IntRange(1, 6).Draw(t, "most")
		held, got := b.newest(channelID, most, isWanted)
		ids := func(list []row) (ids []string) {
			for _, one := range list {
				ids = append(ids, one.UserID)
			}
			return ids
		}
		if want = want[:min(most, len(want))]; held != wantHeld || !slices.Equal(ids(got), ids(want)) {
			t.Errorf("%d held of %q, want %d of %q", held, ids(got), wantHeld, ids(want))
		}
	})
}

func TestThrottled_OverlayName(t *testing.T) {
	for _, test := range []struct{ display, login, want string }{
		{"Anna", "anna", "Anna"},
		{"", "anna", "anna"},
		{"", "", "42"},
		{" \u200b\u2060\u202e ", "anna", "anna"}, // nothing of it can be seen
		{"\u202eanna\u2066\n<b>", "", "anna <b>"},
		{"שלום", "", "שלום"},
		{strings.Repeat("𝕏", 300), "", strings.Repeat("𝕏", 24) + "…"},
	} {
		row := Throttled{UserID: "42", DisplayName: test.display, Login: test.login}
		if got := row.overlayName(); got != test.want || len(got) > maxOverlayName || !utf8.ValidString(got) {
			t.Errorf("%q, %q: %q, want %q", test.display, test.login, got, test.want)
		}
	}
}

func TestThrottled_IsPunished(t *testing.T) {
	timeout, ban, del := chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: time.Minute}, chatguard.Penalty{Action: chatguard.ActionBan}, chatguard.Penalty{Action: chatguard.ActionDelete}
	for _, test := range []struct {
		penalty chatguard.Penalty
		result  journal.Result
		action  chatguard.Action // of the outcome
		want    bool
	}{
		{timeout, journal.Pending, "", true},
		{timeout, journal.Done, chatguard.ActionTimeout, true},
		{ban, journal.Done, chatguard.ActionBan, true},
		{timeout, journal.Failed, chatguard.ActionTimeout, false},
		{timeout, journal.Skipped, chatguard.ActionTimeout, false},
		{timeout, journal.Observed, "", false},
		{del, journal.Done, chatguard.ActionDelete, false},
		{timeout, journal.Done, chatguard.ActionDelete, false}, // Twitch took no more timeouts
		{del, journal.Done, chatguard.ActionTimeout, true},     // one timeout for several messages
	} {
		row := Throttled{Penalty: test.penalty, Outcome: journal.Outcome{Result: test.result, Action: test.action}, Observed: test.result == journal.Observed}
		if got := row.isPunished(); got != test.want {
			t.Errorf("%+v", test)
		}
	}
}

// BenchmarkOverlay measures what one request of an overlay costs while a channel has as many
// throttled users as the board can hold.
func BenchmarkOverlay(b *testing.B) {
	for _, users := range []int{10, MaxRows} {
		b.Run(fmt.Sprint(users), func(b *testing.B) {
			m := newModel(b)
			now := m.opts.Guard.Now()
			for i := range users {
				m.board.put(entry(int64(i+1), fmt.Sprint(i), now, time.Hour), "", chatguard.Message{Cost: 1}, now)
			}
			channel := m.Channels()[0]
			for b.Loop() {
				if o := m.Overlay(channel); o.Observing != true || o.ThrottledUsers != users {
					b.Fatalf("%+v", o)
				}
			}
		})
	}
}
