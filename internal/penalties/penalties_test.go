package penalties

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		ladder []chatguard.Penalty
		rung   int
		want   string
	}{
		{nil, -1, `is empty: name at least one penalty, such as "delete"`},
		{[]chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionDrop}}, 1, `has "drop", which only a chat server can: use "delete"`},
		{[]chatguard.Penalty{{}, {Action: "mute"}}, 1, `has an unknown penalty "mute" (known: delete, warn, timeout 30s, timeout refill, ban, drop)`},
		{[]chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: MaxTimeout + time.Second}}, 0, `has "timeout 336h0m1s": want whole seconds from 1s to 14d, or refill`},
		{[]chatguard.Penalty{
			{}, {Action: chatguard.ActionDelete}, {Action: Warn}, {Action: chatguard.ActionTimeout, Duration: time.Second}, {Action: chatguard.ActionTimeout, Duration: MaxTimeout},
			{Action: chatguard.ActionTimeout, UntilRefill: true}, {Action: chatguard.ActionBan},
		}, 0, ""},
	} {
		switch rung, err := Check(test.ladder); {
		case rung != test.rung, err == nil && test.want != "", err != nil && err.Error() != test.want:
			t.Errorf("%v: %d, %v, want %d, %s", test.ladder, rung, err, test.rung, test.want)
		}
	}
}

func TestRank(t *testing.T) {
	for rank, a := range []chatguard.Action{"", chatguard.ActionDelete, Warn, chatguard.ActionTimeout, chatguard.ActionBan} {
		if Rank(a) != rank || Silences(a) != (rank > 2) {
			t.Errorf("%q has rank %d", a, Rank(a))
		}
	}
	if a := chatguard.ActionDrop; Rank(a) != 0 || Silences(a) {
		t.Errorf("%q has rank %d", a, Rank(a))
	}
}
