package persist

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// observeEntry queues an entry and its message.
func (q *queue) observeEntry(id int) {
	m, v := throttledMessage(id, "c1", fmt.Sprint(id), time.Second)
	q.observe(&m, &v)
}

// summary lists the pending records: the users of the timeline, the entries, and the entries of the
// outcomes.
func (r *records) summary() (list []string) {
	messages := slices.SortedFunc(r.messages(), func(a, b *timelineRow) int { return compareByNumber(*a, *b) })
	for _, row := range messages {
		list = append(list, row.UserID)
	}
	for _, e := range r.entries {
		list = append(list, fmt.Sprint("entry ", e.ID))
	}
	for _, o := range r.outcomes {
		list = append(list, fmt.Sprint("outcome ", o.Entry))
	}
	return list
}

func (q *queue) summary() []string {
	r := q.allRecords()
	return r.summary()
}

func TestQueue_DropsTimelineFirst(t *testing.T) {
	t.Parallel()
	q := queue{limit: 7}
	q.report(outcome(100, journal.Done, ""))
	for id := 1; id <= 3; id++ {
		q.observeEntry(id)
	}
	taken := q.take()
	q.observeEntry(4)
	q.putBack(taken) // 9 records
	for _, step := range []struct {
		what    func()
		want    []string
		dropped Dropped
	}{
		{func() {}, []string{"3", "4", "entry 1", "entry 2", "entry 3", "entry 4", "outcome 100"}, Dropped{Timeline: 2}},
		{func() { q.observeEntry(5) }, []string{"5", "entry 1", "entry 2", "entry 3", "entry 4", "entry 5", "outcome 100"}, Dropped{Timeline: 4}},
		{func() { q.report(outcome(101, journal.Done, "")) },
			[]string{"entry 1", "entry 2", "entry 3", "entry 4", "entry 5", "outcome 100", "outcome 101"}, Dropped{Timeline: 5}},
		{func() { q.observeEntry(6) },
			[]string{"entry 2", "entry 3", "entry 4", "entry 5", "entry 6", "outcome 100", "outcome 101"}, Dropped{Timeline: 6, Journal: 1}},
	} {
		step.what()
		if got := q.summary(); !slices.Equal(got, step.want) || q.dropped != step.dropped {
			t.Errorf("holds %q, want %q; dropped %+v, want %+v", got, step.want, q.dropped, step.dropped)
		}
	}
}

func TestQueue_DropsOldestOutcomes(t *testing.T) {
	t.Parallel()
	q := queue{limit: 2}
	for id := 1; id <= 3; id++ {
		q.report(outcome(id, journal.Done, ""))
	}
	if got := q.summary(); !slices.Equal(got, []string{"outcome 2", "outcome 3"}) || q.dropped.Journal != 1 {
		t.Errorf("holds %q, dropped %+v", got, q.dropped)
	}
	q.take()
	if r := q.take(); r.len() != 0 {
		t.Errorf("taken twice: %+v", r)
	}
}

func TestQueue_KeepsOrderOfOutcomes(t *testing.T) {
	t.Parallel()
	q := queue{limit: 10}
	q.report(outcome(1, journal.Failed, "first"))
	q.report(outcome(2, journal.Failed, "first"))
	taken := q.take()
	q.report(outcome(1, journal.Done, ""))
	q.observeEntry(2)
	q.putBack(taken)
	r := q.take()
	if len(r.outcomes) != 2 || r.outcomes[0].Reason != "first" || r.outcomes[1].Result != journal.Done {
		t.Errorf("%+v", r.outcomes)
	}
	if r.entries[0].Outcome.Reason != "first" {
		t.Errorf("the entry lacks its outcome: %+v", r.entries[0])
	}
}

// A message is a substring of a whole chat line, which must not stay in memory because of a name.
func TestQueue_RetainsNoChatLines(t *testing.T) {
	t.Parallel()
	q := queue{limit: 10}
	long := strings.Repeat("x", 10_000) + "é"
	m := chatguard.Message{ChannelID: "c1", User: chatguard.User{ID: "7", Login: long[len(long)-journal.MaxName:], Roles: chatguard.Roles{roles.VIP}}, Cost: 3}
	q.observe(&m, &chatguard.Verdict{At: start})
	q.observe(&m, &chatguard.Verdict{At: start})
	rows := q.timeline.rowsOf("c1").rows
	first, second := rows[0], rows[1]
	want := journal.TimelineMessage{At: start, ChannelID: "c1", UserID: "7", Login: strings.Repeat("x", journal.MaxName-2) + "é", Roles: m.User.Roles, Cost: 3}
	if !reflect.DeepEqual(first.TimelineMessage, want) || !reflect.DeepEqual(second.TimelineMessage, want) || first.number+1 != second.number {
		t.Errorf("got %+v and %+v, want %+v", first, second, want)
	}
}

// say queues that many messages of a channel, each of a user whose ID is the channel's.
func (q *queue) say(channel string, times int) {
	for range times {
		m := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: channel}}
		q.observe(&m, &chatguard.Verdict{At: start})
	}
}

// countByChannel counts the pending messages of each channel.
func (q *queue) countByChannel() map[string]int {
	shares := map[string]int{}
	r := q.allRecords()
	for m := range r.messages() {
		shares[m.ChannelID]++
	}
	return shares
}

func TestQueue_FloodDropsItsOwn(t *testing.T) {
	t.Parallel()
	q := queue{limit: 100}
	for _, step := range []struct {
		channel string
		times   int
		want    map[string]int
		dropped uint64
	}{
		{"calm", 10, map[string]int{"calm": 10}, 0},
		{"flood", 1000, map[string]int{"calm": 10, "flood": 90}, 910},
		{"calm", 20, map[string]int{"calm": 30, "flood": 70}, 930},
		{"another", 60, map[string]int{"calm": 30, "flood": 35, "another": 35}, 990},
		{"calm", 100, map[string]int{"calm": 34, "flood": 33, "another": 33}, 1090},
		{"fresh", 1, map[string]int{"calm": 33, "flood": 33, "another": 33, "fresh": 1}, 1091},
	} {
		q.say(step.channel, step.times)
		if got := q.countByChannel(); !maps.Equal(got, step.want) || q.dropped != (Dropped{Timeline: step.dropped}) {
			t.Errorf("after %d of %s: %v, want %v; dropped %+v, want %d", step.times, step.channel, got, step.want, q.dropped, step.dropped)
		}
	}
	taken := q.take()
	q.say("flood", 100)
	q.say("fresh", 2)
	q.putBack(taken) // 202, of which flood has 133
	if got, want := q.countByChannel(), (map[string]int{"calm": 32, "flood": 33, "another": 32, "fresh": 3}); !maps.Equal(got, want) {
		t.Errorf("put back: %v, want %v", got, want)
	}
	for c, rows := range q.timeline.channels {
		if !slices.IsSortedFunc(rows.rows, compareByNumber) || rows.rows[len(rows.rows)-1].ChannelID != c {
			t.Errorf("%s is in disorder", c)
		}
	}
}

// Channels without pending records take no memory.
func TestQueue_ForgetsEmptyChannels(t *testing.T) {
	t.Parallel()
	q := queue{limit: 10}
	for i := range 1000 {
		q.say(fmt.Sprint(i), 1)
	}
	want := map[string]int{}
	for i := 990; i < 1000; i++ { // the oldest are dropped first
		want[fmt.Sprint(i)] = 1
	}
	if got := q.countByChannel(); !maps.Equal(got, want) || len(q.timeline.channels) != 10 || len(q.timeline.fullest) != 10 {
		t.Errorf("%v, %d channels", got, len(q.timeline.channels))
	}
}

// If the journal fills the queue, no message of the timeline fits.
func TestQueue_JournalBeforeTimeline(t *testing.T) {
	t.Parallel()
	q := queue{limit: 2}
	for id := range 2 {
		q.report(outcome(id, journal.Done, ""))
	}
	for i := range 4 {
		q.say(fmt.Sprint(i/2), 1)
	}
	if n := q.timeline.n; n != 0 || len(q.timeline.channels) != 1 || q.dropped != (Dropped{Timeline: 4}) {
		t.Errorf("%d messages of %d channels wait, dropped %+v", n, len(q.timeline.channels), q.dropped)
	}
}
