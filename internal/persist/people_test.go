package persist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// observeMessage makes the store observe a message, which is throttled if id isn't 0.
func (s *Store) observeMessage(channelID, userID, login string, at time.Time, id int) {
	m := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: userID, Login: login}, SentAt: at}
	s.Observe(m, chatguard.Verdict{At: at, ChannelID: channelID, UserID: userID, Allowed: id == 0, EntryID: chatguard.EntryID(id)})
}

// wantPeople returns a check for the results of a search: the IDs of the users, in their order.
func wantPeople(t *testing.T, when, want string) func([]journal.Person, error) {
	return func(people []journal.Person, err error) {
		t.Helper()
		must(t, err)
		var ids []string
		for _, p := range people {
			ids = append(ids, p.UserID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s finds %q, want %q", when, got, want)
		}
	}
}

func wantUser(t *testing.T, s *Store, when, channelID, login, want string) {
	t.Helper()
	if got, ok, err := s.UserByLogin(ctx, channelID, login); err != nil || got != want || ok != (want != "") {
		t.Errorf("%s: %s in channel %s is %q, %v, %v, want %q", when, login, channelID, got, ok, err, want)
	}
}

func TestUserByLogin(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	wantUser(t, s, "before anybody spoke", "1", "anna", "")
	s.observeMessage("1", "7", "anna", start, 0)
	s.observeMessage("1", "8", "berta", start, 0)
	s.observeMessage("2", "9", "anna", start, 0)
	check := func(when, anna string) {
		t.Helper()
		wantUser(t, s, when, "1", "anna", anna)
		wantUser(t, s, when, "1", "berta", "8")
		wantUser(t, s, when, "2", "anna", "9")
		wantUser(t, s, when, "2", "berta", "")
		wantUser(t, s, when, "3", "anna", "")
	}
	check("in the queue", "7")
	taken := s.queue.take()
	check("while they are written", "7")
	s.observeMessage("1", "77", "anna", start.Add(time.Second), 0) // another user has the name now
	check("while they are written, and another waits", "77")
	s.queue.putBack(taken)
	check("after a flush that failed", "77")
	s.mustFlush(t, g)
	check("stored", "77")
}

// The timeline is deleted sooner than the journal, so some users are found only in the journal.
func TestUserByLogin_InJournal(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	s.observeMessage("1", "7", "anna", start, 1)
	s.observeMessage("1", "8", "anna", start.Add(time.Second), 2)
	s.observeMessage("2", "9", "anna", start.Add(time.Minute), 3)
	s.mustFlush(t, g)
	s.exec(t, "DELETE FROM timeline")
	wantUser(t, s, "journalled", "1", "anna", "8")
	s.observeMessage("1", "7", "anna", start.Add(time.Hour), 0)
	s.mustFlush(t, g)
	wantUser(t, s, "spoken later", "1", "anna", "7")
	s.observeMessage("1", "8", "anna", start.Add(2*time.Hour), 4)
	s.mustFlush(t, g)
	s.exec(t, "DELETE FROM timeline WHERE at = ?", start.Add(2*time.Hour).UnixNano())
	wantUser(t, s, "journalled later", "1", "anna", "8")
}

// A user's name is known for longer than the timeline is kept, and no user has two names.
func TestUserByLogin_OutlivesTimeline(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	s.observeMessage("1", "7", "anna", start, 0)
	s.observeMessage("1", "8", "Anna", start, 0)
	s.observeMessage("1", "9", "berta", start, 0)
	for _, days := range []int{1, 20} {
		now = start.AddDate(0, 0, days)
		s.runTurn(ctx, g)
		wantUser(t, s, fmt.Sprint("after ", days, " days"), "1", "anna", "7")
		wantUser(t, s, fmt.Sprint("after ", days, " days"), "2", "anna", "")
	}
	s.observeMessage("1", "7", "anne", now, 0)
	now = now.Add(time.Hour)
	s.runTurn(ctx, g)
	s.sweeper.at, s.sweeper.idle = time.Time{}, idleWalk{}
	s.runTurn(ctx, g)
	wantUser(t, s, "renamed", "1", "anna", "")
	wantUser(t, s, "renamed", "1", "anne", "7")
	now = now.AddDate(0, 0, 15)
	s.sweeper.at, s.sweeper.idle = time.Time{}, idleWalk{}
	s.runTurn(ctx, g)
	wantUser(t, s, "not seen for 35 days", "1", "berta", "")
}

// A user who has another login by now doesn't have the former one, which the platform may have
// given to somebody else.
func TestUserByLogin_Renamed(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	s.observeMessage("1", "7", "anna", start, 1)
	s.observeMessage("1", "7", "annanew", start.Add(time.Second), 2)
	s.observeMessage("1", "7", "anna", start.Add(-time.Second), 0) // arrives late
	check := func(when string) {
		t.Helper()
		wantUser(t, s, when, "1", "anna", "")
		wantUser(t, s, when, "1", "annanew", "7")
	}
	check("in the queue")
	must(t, s.changes.addAudit(journal.Audit{At: start, Author: "berta", Action: journal.UserReset, ChannelID: "1", UserID: "7"}))
	s.mustFlush(t, g)
	check("stored")
	if audits, err := s.Audits(ctx, journal.AuditFilter{ChannelID: "1", User: "Anna", N: 10}); len(audits) != 1 || err != nil {
		t.Errorf("by the former login, the audit has %v, %v", audits, err)
	}
	now = start.Add(time.Hour)
	s.runTurn(ctx, g)
	check("rolled up")
	s.NoteChannel("2", "elsewhere")
	s.observeMessage("2", "7", "annanewer", start.Add(time.Minute), 0)
	s.mustFlush(t, g)
	now = now.Add(time.Hour)
	s.runTurn(ctx, g)
	wantUser(t, s, "renamed elsewhere", "1", "annanew", "")
	s.exec(t, "DELETE FROM person")
	check("journalled")
	s.observeMessage("1", "8", "anna", now, 0) // somebody else has the login now
	wantUser(t, s, "given to another user", "1", "anna", "8")
}

func TestUsersNamed(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	say := func(userID, login, name string) {
		s.Observe(chatguard.Message{ChannelID: "1", User: chatguard.User{ID: userID, Login: login, DisplayName: name}, SentAt: now},
			chatguard.Verdict{At: now, ChannelID: "1", UserID: userID, Allowed: true})
	}
	check := func(name string, want ...string) {
		t.Helper()
		var ids []string
		people, err := s.UsersNamed(ctx, "1", name)
		must(t, err)
		for _, p := range people {
			ids = append(ids, p.UserID)
		}
		if slices.Sort(ids); !slices.Equal(ids, want) {
			t.Errorf("%q is the name of %q, want %q", name, ids, want)
		}
	}
	say("7", "hansamu", "ハンサム")
	say("8", "hansamuman", "ハンサムマン") // begins like the other name
	say("9", "anna", "Anna")
	for range 2 { // pending, then rolled up
		check("ﾊﾝｻﾑ", "7")
		check("ハンサ")
		check("ハンザム")
		check("")
		now = now.Add(time.Hour)
		s.mustFlush(t, g)
		s.runTurn(ctx, g)
	}
	say("10", "another", "ハンサム")
	check("ハンサム", "10", "7")
	say("7", "hansamu", "Hansamu") // no longer
	check("ハンサム", "10")
}
