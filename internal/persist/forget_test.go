package persist

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// TestForget_Whole checks that nothing of a deleted user stays in the files, whether chatguard runs
// or not, while another user keeps everything.
func TestForget_Whole(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*Store, string, func()) error{
		"running": func(s *Store, id string, _ func()) error { return s.Forget(ctx, id) },
		"stopped": func(s *Store, id string, stop func()) error {
			stop()
			must(t, s.Close())
			return ForgetUser(ctx, s.db.Path, id, &Options{Logger: quiet})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := openWithGuard(t, &Options{Now: at(start), FlushInterval: time.Hour})
			stop := startRun(t, s, g)
			for _, user := range []string{"forgotten-one", "another-user"} {
				leaveTraces(t, s, g, user)
			}
			if !s.Commit(ctx) {
				t.Fatal("not saved")
			}
			leaveTraces(t, s, g, "forgotten-one") // pending, except in the stopped case
			before, err := FindTraces(ctx, s.db.Path, "@LoginForgotten-One")
			must(t, err)
			if len(before) != 1 || before[0].UserID != "forgotten-one" || len(before[0].Rows) < 5 || !slices.Equal(before[0].Logins, []string{"loginforgotten-one"}) {
				t.Errorf("before: %+v", before)
			}
			must(t, forget(s, "forgotten-one", stop))
			for _, file := range []string{s.db.Path, s.db.Path + "-wal"} {
				if content, err := os.ReadFile(file); err == nil && bytes.Contains(content, []byte("forgotten-one")) {
					t.Errorf("%s still names the user", file)
				}
			}
			if after, err := FindTraces(ctx, s.db.Path, "forgotten-one"); err != nil || len(after) > 0 {
				t.Errorf("after: %+v, %v", after, err)
			}
			if other, err := FindTraces(ctx, s.db.Path, "another-user"); err != nil || len(other) != 1 || len(other[0].Rows) < 5 {
				t.Errorf("of the other user: %+v, %v", other, err)
			}
			if name == "running" {
				if notes := s.Notes("c1", "forgotten-one"); len(notes) > 0 || s.notebook.all != 1 || s.notebook.channels["c1"] != 1 {
					t.Errorf("in memory: %+v, counted %d", notes, s.notebook.all)
				}
				if s.db.IsTouched() {
					t.Error("the own write counts as another program's")
				}
				if s.figures.errors.Get() != 0 {
					t.Error("the emptied log counts as another program's work")
				}
			}
		})
	}
}

// leaveTraces makes a user leave rows in the tables.
func leaveTraces(t testing.TB, s *Store, g *chatguard.Guard, user string) {
	t.Helper()
	for range 9 {
		say(t, g, user, start)
	}
	must(t, g.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c1", UserID: user}, chatguard.UserOverride{Exempt: chatguard.ExemptNever}))
	_, err := s.AddNote(journal.Note{At: start, ChannelID: "c1", UserID: user, Author: "berta", Text: "about " + user})
	must(t, err)
	must(t, s.changes.addAudit(journal.Audit{At: start, Author: "berta", Action: journal.UserReset, ChannelID: "c1", UserID: user}))
}

// TestForget_NotCompacted checks what is said if parts of the rows stay in the files. The command
// can't be repeated then, because it finds nothing any more.
func TestForget_NotCompacted(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	startRun(t, s, g)
	leaveTraces(t, s, g, "anna")
	if !s.Commit(ctx) {
		t.Fatal("not saved")
	}
	wantError(t, s.db.Compact(endedContext), "the rows are deleted, but parts of them may stay in the file until the next user is deleted")
	reading, err := s.db.Reader.Query("SELECT * FROM state")
	must(t, err)
	reading.Next()
	s.exec(t, "PRAGMA busy_timeout = 0")
	wantError(t, s.Forget(ctx, "anna"), "the rows are deleted, but parts of them may stay in the database's log until no program uses the database: it is being read now")
	must(t, reading.Close())
	if found, err := FindTraces(ctx, s.db.Path, "anna"); err != nil || len(found) > 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestForget_EachTable checks that each table with users' IDs is emptied of a user.
func TestForget_EachTable(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	tables := textsIn(t, s.db, "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'user_id' ORDER BY 1")
	known := slices.Sorted(slices.Values(userTables))
	if !slices.Equal(tables, known) {
		t.Errorf("tables with users are %q, but those in userTables %q", tables, known)
	}
}

// TestFindTraces_SameLogin checks that a login that several users have had finds all of them, and
// that an ID comes before a login.
func TestFindTraces_SameLogin(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	for _, user := range []string{"1", "2", "login"} {
		m := message(user, start)
		m.User.Login = "login"
		_, err := g.Check(ctx, m)
		must(t, err)
	}
	startRun(t, s, g)()
	for user, want := range map[string]int{"login": 1, "@login": 3, "Login": 3, "1": 1, "3": 0} {
		if found, err := FindTraces(ctx, s.db.Path, user); err != nil || len(found) != want {
			t.Errorf("%q: %+v, %v", user, found, err)
		}
	}
}
