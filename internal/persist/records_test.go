package persist

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/turntest"
)

// history is everything that a store was given, in plain lists. The test compares the store's
// records with these lists.
type history struct {
	spoken  []journal.TimelineMessage
	spent   []int                // by each message of spoken
	low     []bool               // whether each message of spoken passed at low priority
	names   map[time.Time]string // display names of the authors, by the times of their messages
	entries []journal.Entry
}

func (h *history) messagesIn(channelID string, since time.Time) (spoken []journal.TimelineMessage) {
	for _, m := range h.spoken {
		if m.ChannelID == channelID && !m.At.Before(since) {
			spoken = append(spoken, m)
		}
	}
	slices.SortStableFunc(spoken, func(a, b journal.TimelineMessage) int { return a.At.Compare(b.At) })
	return spoken
}

// quarters returns what Store.QuarterHours must return: an empty ID stands for all of them.
func (h *history) quarters(channelID, userID string, since time.Time) (list []journal.QuarterHour) {
	spent := map[time.Time]int{}
	for i, m := range h.spoken {
		if (channelID == "" || m.ChannelID == channelID) && (userID == "" || m.UserID == userID) {
			spent[m.At.Truncate(Quarter)] += h.spent[i]
		}
	}
	for at, n := range spent {
		if n > 0 && !at.Before(since.Truncate(Quarter)) {
			list = append(list, journal.QuarterHour{At: at, Spent: n})
		}
	}
	slices.SortFunc(list, func(a, b journal.QuarterHour) int { return a.At.Compare(b.At) })
	return list
}

func (h *history) minutes(since, until time.Time) (list []journal.Minute) {
	minutes := map[string]*journal.Minute{}
	minute := func(channelID string, at time.Time) *journal.Minute {
		isLate := !at.Before(until)
		at = at.Truncate(time.Minute)
		key := fmt.Sprint(at.UnixNano(), channelID)
		if isLate || at.Before(since.Truncate(time.Minute)) {
			return new(journal.Minute)
		}
		if minutes[key] == nil {
			minutes[key] = &journal.Minute{ChannelID: channelID, At: at}
		}
		return minutes[key]
	}
	for i, m := range h.spoken {
		minute(m.ChannelID, m.At).Messages++
		if h.low[i] {
			minute(m.ChannelID, m.At).Low++
		}
	}
	for _, e := range h.entries {
		m := minute(e.ChannelID, e.At)
		m.Throttled++
		if e.Outcome.Result == journal.Observed {
			m.Observed++
		}
	}
	for _, m := range minutes {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b journal.Minute) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ChannelID, b.ChannelID))
	})
	return list
}

func (h *history) people(channelID, text string, n int) []journal.Person {
	last := map[string]journal.Person{}
	for _, m := range h.messagesIn(channelID, time.Time{}) {
		last[m.UserID] = personOf(&timelineRow{TimelineMessage: m, displayName: h.names[m.At]})
	}
	found := []journal.Person{}
	rank := func(p journal.Person) int {
		login, text := strings.ToLower(p.Login), strings.ToLower(text)
		name, key := strings.NewReplacer("Ｌ", "l", "É", "e").Replace(p.DisplayName), strings.NewReplacer("Ｌ", "l", "é", "e").Replace(text)
		return slices.Index([]bool{
			p.UserID == text, strings.HasPrefix(login, text) || name != "" && strings.HasPrefix(name, key), strings.Contains(login, text) || name != "" && strings.Contains(name, key), true,
		}, true)
	}
	for _, p := range last {
		if rank(p) < 3 {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b journal.Person) int { return cmp.Or(rank(a)-rank(b), b.LastSeen.Compare(a.LastSeen)) })
	return found[:min(n, len(found))]
}

func (h *history) entriesMatching(f journal.EntryFilter) []journal.Entry {
	found := []journal.Entry{}
	for _, e := range slices.Backward(h.entries) {
		differs := f.UserID != "" && e.UserID != f.UserID || f.ChannelID != "" && e.ChannelID != f.ChannelID || f.User != "" && e.UserID != f.User && e.Login != strings.ToLower(f.User) || f.Limit != "" && e.Limit != f.Limit ||
			f.Action != "" && journal.Action(e.Outcome.Action).String() != f.Action || f.Result != "" && e.Outcome.Result != f.Result
		late := !f.From.IsZero() && e.At.Before(f.From) || !f.Until.IsZero() && !e.At.Before(f.Until) || f.Before != 0 && e.ID >= f.Before
		if !differs && !late && len(found) < f.N {
			found = append(found, e)
		}
	}
	return found
}

// recordsRun is a store that gets records in any order, with its own clock.
type recordsRun struct {
	*rapid.T
	store *Store
	guard *chatguard.Guard
	now   time.Time
	history
}

var channelIDs, userIDs = rapid.SampledFrom([]string{"a", "b", "\xff"}), rapid.SampledFrom([]string{"1", "2", "3"})

// speak sends a message at any time around now, which may be throttled or observed.
func (r *recordsRun) speak() {
	at := r.now.Add(time.Duration(rapid.Int64Range(-int64(40*time.Minute), int64(time.Minute)).Draw(r.T, "at")))
	// Make the times distinct, because otherwise it isn't defined who spoke last.
	at = at.Truncate(time.Microsecond).Add(time.Duration(len(r.spoken)))
	m := chatguard.Message{
		ID: "m", ChannelID: channelIDs.Draw(r.T, "channel"), SentAt: at, Cost: rapid.IntRange(1, 3).Draw(r.T, "cost"),
		User: chatguard.User{
			ID: userIDs.Draw(r.T, "user"), Login: rapid.SampledFrom([]string{"anna", "Anne", "joanna", "1", "a\u2028b"}).Draw(r.T, "login"),
			DisplayName: rapid.SampledFrom([]string{"", "長い", "Ｌana", "Émile an"}).Draw(r.T, "display name"),
			Roles:       rapid.SampledFrom([]chatguard.Roles{nil, {roles.VIP}}).Draw(r.T, "roles"),
		},
	}
	v, spent := chatguard.Verdict{At: at, ChannelID: m.ChannelID, UserID: m.User.ID, Allowed: true}, 0
	v.Priority = rapid.SampledFrom([]chatguard.Priority{"", chatguard.PriorityLow}).Draw(r.T, "priority")
	switch rapid.SampledFrom([]string{"allowed", "throttled", "counted", "observed", "exempt"}).Draw(r.T, "verdict") {
	case "allowed":
		spent = m.Cost
	case "exempt":
		v.Exempt = true
	case "counted":
		v.Counted, spent = m.Cost-1, m.Cost-1
		fallthrough
	case "throttled":
		v.Allowed, v.Penalty = false, chatguard.Penalty{Action: chatguard.ActionDelete}
		v.EntryID, v.Limit = chatguard.EntryID(len(r.entries)+1), rapid.SampledFrom([]string{"burst", "daily"}).Draw(r.T, "limit")
	case "observed":
		v.Observed, v.WouldBe = true, chatguard.Penalty{Action: penalties.Warn}
		v.EntryID, v.Limit = chatguard.EntryID(len(r.entries)+1), "daily"
	}
	r.store.Observe(m, v)
	r.names[at] = m.User.DisplayName
	r.spoken = append(r.spoken, journal.TimelineMessage{At: at, ChannelID: m.ChannelID, UserID: m.User.ID, Login: m.User.Login, Roles: m.User.Roles, Cost: m.Cost})
	r.spent, r.low = append(r.spent, spent), append(r.low, v.Priority == chatguard.PriorityLow && v.Allowed && !v.Observed)
	if v.EntryID != 0 {
		e := journal.NewEntry(m, v)
		e.ResetAt, e.MaySpeakAt.Time, e.Outcome.At = utc(e.ResetAt), utc(e.MaySpeakAt.Time), utc(e.Outcome.At)
		r.entries = append(r.entries, e)
	}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

func (r *recordsRun) report() {
	if len(r.entries) == 0 {
		return
	}
	e := &r.entries[rapid.IntRange(0, len(r.entries)-1).Draw(r.T, "entry")]
	if e.Outcome.Result == journal.Observed {
		return
	}
	e.Outcome = journal.Outcome{
		Entry: e.ID, At: r.now, Action: rapid.SampledFrom([]chatguard.Action{chatguard.ActionDelete, chatguard.ActionTimeout}).Draw(r.T, "action"),
		Result: rapid.SampledFrom([]journal.Result{journal.Done, journal.Failed, journal.Skipped}).Draw(r.T, "result"),
	}
	r.store.Report(e.Outcome)
}

func (r *recordsRun) flush() {
	if _, err := r.store.flush(ctx, r.guard); err != nil {
		r.Fatal(err)
	}
}

// flushUnconfirmed stores pending records like a flush that hasn't reported its success yet, or
// reports a failure.
func (r *recordsRun) flushUnconfirmed() {
	timeline, entries := r.store.queue.parts()
	if rapid.Bool().Draw(r.T, "before it is stored") {
		r.check()
	}
	err := r.store.db.Write(ctx, func(tx *sql.Tx) error { return writeParts(ctx, tx, []part{entries, timeline}) })
	if err != nil {
		r.Fatal(err)
	}
	r.check()
	entries.done(ctx, !rapid.Bool().Draw(r.T, "says that it failed"))
}

// advance advances the clock, and rolls up the timeline.
func (r *recordsRun) advance() {
	r.now = r.now.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Minute)).Draw(r.T, "later")))
	r.store.sweeper.at, r.store.sweeper.idle = time.Time{}, idleWalk{}
	if err := r.store.sweeper.sweep(ctx, r.guard, 0); err != nil {
		r.Fatal(err)
	}
}

// check compares the store's records with what happened.
func (r *recordsRun) check() {
	channelID, userID := channelIDs.Draw(r.T, "asked channel"), userIDs.Draw(r.T, "asked user")
	since := r.now.Add(-time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(r.T, "since")))
	want := func(what string, got, want any, err error) {
		if err != nil || !reflect.DeepEqual(got, want) {
			r.Fatalf("%s: %v\ngot  %+v\nwant %+v", what, err, got, want)
		}
	}
	for _, asked := range [][2]string{{channelID, userID}, {channelID, ""}, {"", ""}, {"", userID}} {
		quarters, err := r.store.QuarterHours(ctx, asked[0], asked[1], since)
		want(fmt.Sprintf("quarters of an hour of %q", asked), quarters, r.quarters(asked[0], asked[1], since), err)
	}

	var spoken []journal.TimelineMessage
	err := r.store.Timeline(ctx, channelID, since, func(batch []journal.TimelineMessage) error {
		spoken = append(spoken, batch...)
		return nil
	})
	want("timeline", spoken, r.messagesIn(channelID, since), err)

	var minutes []journal.Minute
	until := since.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(r.T, "until")))
	err = r.store.Minutes(ctx, since, until, func(m journal.Minute) error {
		minutes = append(minutes, m)
		return nil
	})
	want("minutes", minutes, r.minutes(since, until), err)

	text, n := rapid.SampledFrom([]string{"", "an", "AN", "nn", "1", "joanna", "nobody", "%", "a\x00", "い", "長", "lan", "émi", "e a"}).Draw(r.T, "text"), rapid.IntRange(1, 4).Draw(r.T, "n")
	found, err := r.store.FindPeople(ctx, channelID, text, n)
	want("people like "+text, found, r.people(channelID, text, n), err)
	p, ok, err := r.store.Person(ctx, channelID, userID)
	all := r.people(channelID, "", 99)
	i := slices.IndexFunc(all, func(p journal.Person) bool { return p.UserID == userID })
	if want("whether there is the person", ok, i >= 0, err); ok {
		want("person", p, all[i], nil)
	}
	some := map[string]journal.Person{}
	for _, p := range all {
		if p.UserID != "1" {
			some[p.UserID] = p
		}
	}
	people, err := r.store.People(ctx, channelID, []string{"2", "nobody", "3"})
	want("some people", people, some, err)

	f := journal.EntryFilter{N: rapid.IntRange(1, 5).Draw(r.T, "entries")}
	maybe := func(name string, set func()) {
		if rapid.IntRange(0, 3).Draw(r.T, name) == 0 {
			set()
		}
	}
	maybe("by channel", func() { f.ChannelID = channelID })
	maybe("by ID", func() { f.UserID = userID })
	maybe("by user", func() { f.User = rapid.SampledFrom([]string{"1", "2", "anna", "Anne"}).Draw(r.T, "wanted user") })
	maybe("by limit", func() { f.Limit = "burst" })
	maybe("by action", func() { f.Action = rapid.SampledFrom([]string{"delete", "timeout", "none"}).Draw(r.T, "wanted action") })
	maybe("by result", func() { f.Result = rapid.SampledFrom(journal.Results).Draw(r.T, "wanted result") })
	maybe("from", func() { f.From = since })
	maybe("until", func() { f.Until = r.now })
	maybe("before", func() { f.Before = chatguard.EntryID(len(r.entries)) })
	entries, err := r.store.Entries(ctx, f)
	want(fmt.Sprintf("entries %+v", f), entries, r.entriesMatching(f), err)
}

// At every moment the records contain everything that happened, exactly once. This holds for any
// order of observing, reporting, writing and rolling up. Records may also be written again, after a
// flush that stored them but returned an error.
func TestRecords_MatchHistory(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		r := &recordsRun{T: rt, now: start, history: history{names: map[time.Time]string{}}}
		r.store = open(t, filepath.Join(dir, fmt.Sprint(runs, ".db")), &Options{Now: func() time.Time { return r.now }})
		r.guard = guardOf(t, r.store, policy())
		steps := []func(){r.speak, r.speak, r.speak, r.report, r.flush, r.flushUnconfirmed, r.advance}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]()
			r.check()
		}
		must(t, r.store.Close())
	})
}

// newLargeStore returns a store with messages of one channel: two batches of the timeline, and as
// many minutes.
func newLargeStore(t *testing.T) *Store {
	t.Helper()
	s, g := openWithGuard(t, &Options{Now: at(start)})
	for i := range 2 * timelineBatch {
		s.observeMessage("1", fmt.Sprint(i), "anna", start.Add(time.Duration(i)*time.Minute), 0)
	}
	s.mustFlush(t, g)
	return s
}

func TestRecords_EndEarly(t *testing.T) {
	t.Parallel()
	s := newLargeStore(t)
	enough := errors.New("enough")
	for name, read := range map[string]func(ctx context.Context, each func() error) error{
		"timeline": func(ctx context.Context, each func() error) error {
			return s.Timeline(ctx, "1", start, func([]journal.TimelineMessage) error { return each() })
		},
		"minutes": func(ctx context.Context, each func() error) error {
			return s.Minutes(ctx, start, start.Add(48*time.Hour), func(journal.Minute) error { return each() })
		},
	} {
		calls := 0
		err := read(ctx, func() error {
			calls++
			return enough
		})
		if err != enough || calls != 1 {
			t.Errorf("%s: %d calls, then %v", name, calls, err)
		}
		ending, end := context.WithCancel(ctx)
		calls = 0
		err = read(ending, func() error {
			calls++
			end()
			return nil
		})
		if err != context.Canceled || calls != 1 {
			t.Errorf("%s when its context ends: %d calls, then %v", name, calls, err)
		}
		if err = read(ending, func() error { return enough }); err != context.Canceled {
			t.Errorf("%s after its context's end: %v", name, err)
		}
	}
	if n := s.db.Reader.Stats().InUse; n != 0 {
		t.Errorf("%d connections are still in use", n)
	}
}

// The store writes while a slow reader reads the timeline.
func TestTimeline_ReadDuringWrite(t *testing.T) {
	t.Parallel()
	s := newLargeStore(t)
	g := guardOf(t, s, policy())
	n := 0
	must(t, s.Timeline(ctx, "1", start, func(batch []journal.TimelineMessage) error {
		n += len(batch)
		s.observeMessage("1", "7", "anna", start, 0)
		_, err := s.flush(ctx, g)
		return err
	}))
	if n != 2*timelineBatch {
		t.Errorf("%d messages", n)
	}
}

// While the database can't be read, what is pending is found, and everything else is an error.
func TestRecords_FailingDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, newFilledDatabase(t), nil)
	g := guardOf(t, s, policy())
	failures["damaged page"].harm(t, s)
	s.Observe(throttledMessage(9001, "c1", "new", time.Second))
	s.runTurn(ctx, g)
	want := journal.NewEntry(throttledMessage(9001, "c1", "new", time.Second))
	wantEntry(t, "what waits", &want)(s.Entry(ctx, 9001))
	_, foundEntry, errEntry := s.Entry(ctx, 1)
	_, foundUser, errUser := s.UserByLogin(ctx, "c1", "u")
	if foundEntry || foundUser {
		t.Errorf("found an entry %v, a user %v", foundEntry, foundUser)
	}
	_, errEntries := s.Entries(ctx, journal.EntryFilter{N: 1000})
	_, errOfUser := s.Entries(ctx, journal.EntryFilter{ChannelID: "c1", UserID: "u", N: 1})
	_, errStreams := s.Streams(ctx, "c1", 1)
	errTimeline := s.Timeline(ctx, "c1", start, func([]journal.TimelineMessage) error { return nil })
	errMinutes := s.Minutes(ctx, start, start.Add(48*time.Hour), func(journal.Minute) error { return nil })
	for name, err := range map[string]error{
		"an entry": errEntry, "a user": errUser, "entries": errEntries, "a user's entries": errOfUser, "streams": errStreams,
		"timeline": errTimeline, "minutes": errMinutes,
	} {
		if !isFileError(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A flush that stores an entry and then fails leaves an older version of it in the database. A
// filter that only the older version matches must not return it.
func TestEntries_OutdatedInDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	m := chatguard.Message{ID: "m", ChannelID: "a", SentAt: start, User: chatguard.User{ID: "1"}}
	s.Observe(m, chatguard.Verdict{
		At: start, ChannelID: "a", UserID: "1", EntryID: 1, Limit: "burst", Penalty: chatguard.Penalty{Action: chatguard.ActionDelete},
	})
	_, entries := s.queue.parts()
	must(t, s.db.Write(ctx, func(tx *sql.Tx) error { return entries.write(ctx, tx) }))
	entries.done(ctx, false)
	s.Report(journal.Outcome{Entry: 1, At: start, Action: chatguard.ActionTimeout, Result: journal.Skipped})
	s.queue.take()
	for action, want := range map[string]int{"delete": 0, "timeout": 1} {
		if found, err := s.Entries(ctx, journal.EntryFilter{Action: action, N: 9}); err != nil || len(found) != want {
			t.Errorf("%s: %+v, %v, want %d", action, found, err, want)
		}
	}
}
