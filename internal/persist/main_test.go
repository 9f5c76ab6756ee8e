package persist

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

func TestMain(m *testing.M) {
	persisttest.Main(m, childRoles)
}

var childRoles = map[string]func(ctx context.Context, path string) error{
	"own":  ownUntilKilled,
	"live": liveUntilKilled,
}

// The names that every test of the package uses.
var (
	must         = persisttest.Must
	wantError    = persisttest.WantError
	databasePath = persisttest.DatabasePath
	policy       = persisttest.Policy
	message      = persisttest.Message
	at           = persisttest.At
	snapshot     = persisttest.Snapshot
	overwrite    = persisttest.Overwrite
	alter        = persisttest.Alter
	startChild   = persisttest.StartChild
	assertSame   = persisttest.AssertSame
	assertEmpty  = persisttest.AssertEmpty
)

var (
	ctx   = context.Background()
	start = persisttest.Start
	quiet = slog.New(slog.DiscardHandler)
)

// endedContext is a context that has ended.
var endedContext = func() context.Context {
	ended, end := context.WithCancel(ctx)
	end()
	return ended
}()

// open opens a store. The end of the test closes it, if it is still open.
func open(t testing.TB, path string, opts *Options) *Store {
	t.Helper()
	if opts == nil {
		opts = &Options{Now: at(start)}
	}
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	s, err := Open(ctx, path, opts)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Databases that tests copy.
var emptyDatabase, filledDatabase persisttest.Template

// newDatabase returns the path of a database without rows.
func newDatabase(t testing.TB) (path string) {
	t.Helper()
	return emptyDatabase.Copy(t, func(path string) { must(t, open(t, path, nil).Close()) })
}

// openWithGuard opens a store in a new file, and returns it with a Guard whose verdicts it
// observes.
func openWithGuard(t testing.TB, opts *Options) (*Store, *chatguard.Guard) {
	t.Helper()
	s := open(t, newDatabase(t), opts)
	return s, guardOf(t, s, policy())
}

// guardOf returns a Guard with the stored state, whose verdicts the store observes.
func guardOf(t testing.TB, s *Store, p chatguard.Policy) *chatguard.Guard {
	t.Helper()
	g, _ := restoreGuard(t, s, p)
	return g
}

func restoreGuard(t testing.TB, s *Store, p chatguard.Policy) (*chatguard.Guard, RestoreStats) {
	t.Helper()
	g, err := chatguard.New(p, &chatguard.Options{Now: s.opts.Now, Observer: s.Observe})
	must(t, err)
	stats, err := s.Restore(ctx, g)
	must(t, err)
	return g, stats
}

// say checks one message of a user in channel c1.
func say(t testing.TB, g *chatguard.Guard, user string, sentAt time.Time) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(ctx, message(user, sentAt))
	must(t, err)
	return v
}

// remaining returns how many more messages the tightest limit would allow the user.
func remaining(t testing.TB, g *chatguard.Guard, user string, sentAt time.Time) int {
	t.Helper()
	v, err := g.Peek(t.Context(), message(user, sentAt))
	must(t, err)
	return v.Remaining + 1 // the verdict counts its own message
}

// dailyPolicy returns a policy with one limit that no test exhausts, so that the remainder tells
// what was spent.
func dailyPolicy() chatguard.Policy {
	p := policy()
	p.Limits = []chatguard.Limit{{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: plenty}}
	return p
}

const plenty = 1_000_000_000

// mustFlush writes everything pending and fails the test on an error.
func (s *Store) mustFlush(t testing.TB, g *chatguard.Guard) {
	t.Helper()
	_, err := s.flush(ctx, g)
	must(t, err)
}

// exec runs a statement on the store's own writing connection.
func (s *Store) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	must(t, s.db.Exec(ctx, statement, args...))
}

// count returns the number that a query finds.
func (s *Store) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	return countIn(t, s.db, query, args...)
}

// textsIn returns the texts that a query finds.
func textsIn(t testing.TB, db *sqlite.DB, query string) (found []string) {
	t.Helper()
	must(t, db.Query(ctx, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		found = append(found, text)
		return err
	}, query))
	return found
}

// wantCount fails the test unless a query finds this number.
func (s *Store) wantCount(t testing.TB, want int, query string, args ...any) {
	t.Helper()
	if n := s.count(t, query, args...); n != want {
		t.Errorf("%s, %.100q: %d, want %d", query, args, n, want)
	}
}

// countRows returns how many records a table has.
func (s *Store) countRows(t testing.TB, table string) int {
	t.Helper()
	return s.count(t, "SELECT count(*) FROM "+table)
}

func (s *Store) wantRows(t testing.TB, table string, want int) {
	t.Helper()
	s.wantCount(t, want, "SELECT count(*) FROM "+table)
}

// wantHealth fails the test unless the store is in this state, with this problem.
func (s *Store) wantHealth(t testing.TB, state State, problem string) {
	t.Helper()
	if h := s.Health(); h.State != state || h.Problem != problem {
		t.Errorf("%+v, want %s %q", h, state, problem)
	}
}

// countIn returns the number that a query finds.
func countIn(t testing.TB, db *sqlite.DB, query string, args ...any) (n int) {
	t.Helper()
	must(t, db.Reader.QueryRowContext(ctx, query, args...).Scan(&n))
	return n
}
