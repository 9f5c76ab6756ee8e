package policies

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestHistory_Pages(t *testing.T) {
	o := newOffice(t)
	for burst := 4; burst <= 10; burst++ {
		o.mustRevise(burst)
	}
	o.store.stored[2].Policy, o.store.stored[2].Changes, o.store.stored[2].Unreadable = chatguard.Policy{}, nil, errors.New("garbled")
	for _, c := range []struct {
		before, n int
		want      string
	}{
		{0, 3, "7 [{limit.burst.burst 9 10}] false, 6 [{limit.burst.burst 8 9}] false, 5 [{limit.burst.burst 7 8}] false, more"},
		{5, 2, "4 [{limit.burst.burst 3 7}] false, 3 [{limit.burst.burst 5 3}] false garbled, more"}, // compared with the file
		{3, 2, "2 [{limit.burst.burst 4 5}] false, 1 [{limit.burst.burst 3 4}] false"},
		{1, 2, ""},
	} {
		past, more, err := o.History(t.Context(), channel, c.before, c.n)
		must(t, err)
		var got []string
		for _, r := range past {
			got = append(got, strings.TrimSpace(fmt.Sprint(r.Number, " ", r.Difference, " ", r.Discarded, " ", r.Unreadable)))
		}
		if more {
			got = append(got, "more")
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%d before %d:\n%s, want\n%s", c.n, c.before, text, c.want)
		}
	}
	if _, err := o.Revert(t.Context(), Request{ChannelID: channel}, 3); !errors.As(err, new(*Error)) {
		t.Errorf("back to a revision that can't be read: %v", err)
	}
}

func TestRevise_TooOften(t *testing.T) {
	o := newOffice(t)
	for i := range changeBurst {
		o.mustRevise(4 + i%2)
	}
	var tooOften *TooOftenError
	if _, err := o.revise(9); !errors.As(err, &tooOften) || tooOften.Wait <= 0 || tooOften.Wait > changeRefill {
		t.Errorf("one change too many: %v", err)
	}
	if _, err := o.revise(-1); !errors.As(err, new(*Error)) {
		t.Errorf("a mistake is named first: %v", err)
	}
	if _, err := o.Discard(t.Context(), Request{ChannelID: "2", Author: "berta"}); !errors.As(err, new(*TooOftenError)) {
		t.Errorf("in another channel: %v", err)
	}
	must(t, errorOf(o.Discard(t.Context(), Request{ChannelID: channel, Author: "carla"})))
}

// A ladder that an earlier version accepted neither stops the start nor fills the log.
func TestRestore_LongLadder(t *testing.T) {
	o := newOffice(t)
	long := bursting(5)
	long.Penalties.Ladder = make([]chatguard.Penalty, 100_000)
	o.store.stored = []journal.Revision{{ChannelID: channel, Number: 1, At: time.Now(), Policy: long, Changes: []journal.Change{
		{Key: "penalties.ladder", From: []any{"delete"}, To: make([]any, 100_000)}, {Key: "limit.burst.burst", From: 3.0, To: 5.0},
	}}}
	o.start()
	o.wantBurst(3)
	if log := o.log.String(); len(log) > 2000 || !strings.Contains(log, "the ladder has 100000 steps, want 32 or fewer") {
		t.Errorf("the log has %d bytes: %.2000s", len(log), log)
	}
	long.Penalties.Ladder = long.Penalties.Ladder[:32]
	o.store.stored[0].Policy, o.store.stored[0].Changes = long, Diff(o.file.all, long)
	o.start()
	o.wantBurst(5)
	for line := range strings.Lines(o.log.String()) {
		if len(line) > 1000 {
			t.Errorf("a line of the log has %d bytes: %s", len(line), line)
		}
	}
}
