package web

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

// testStore is a persist.Store on the test's own file. It can be made to fail, and records what it
// is given.
type testStore struct {
	*persist.Store
	*signin.Tokens
	close func() // writes everything and closes it

	mu sync.Mutex
	// codes holds the user of each unused sign-in code, under the names that tests give the codes.
	codes     map[string]auth.Identity
	revisions []journal.Revision
	audits    []journal.Audit
	health    journal.Database

	changes failure // of every change
	lookups failure // of looking up sessions and tokens, as after a start with a failing database
	reads   failure // of every other read
}

// failure is an error that a test switches on.
type failure struct {
	mu    sync.Mutex
	cause error
}

// set makes operations fail with err from now on; with nil, they work again.
func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cause = err
}

func (f *failure) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause
}

// emptyDatabase is a database without rows.
var emptyDatabase persisttest.Template

// newDatabase creates an empty database and returns its path.
func newDatabase(t testing.TB) string {
	t.Helper()
	return emptyDatabase.Copy(t, func(path string) {
		s, err := persist.Open(context.Background(), path, &persist.Options{Logger: quiet})
		persisttest.Must(t, err)
		persisttest.Must(t, s.Close())
	})
}

// openStore opens the database at path.
func openStore(t testing.TB, path string, opts *persist.Options) *testStore {
	t.Helper()
	s, err := persist.Open(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	kept := &testStore{Store: s, Tokens: s.Tokens, codes: map[string]auth.Identity{}, health: journal.Database{State: journal.DatabaseOK}}
	kept.addCode("good-code", "anna")
	return kept
}

// run gives the Guard the stored state and writes behind until the store is closed.
func (s *testStore) run(t testing.TB, guard *chatguard.Guard) {
	t.Helper()
	if _, err := s.Restore(context.Background(), guard); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, guard) }()
	s.close = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("writing everything: %v", err)
		}
		if err := s.Store.Close(); err != nil {
			t.Errorf("closing the database: %v", err)
		}
	})
}

// addCode creates an owner's sign-in code with a name that the test chooses.
func (s *testStore) addCode(code, name string) {
	s.addCodeFor(code, auth.Identity{Name: name, Access: auth.Own})
}

func (s *testStore) addCodeFor(code string, who auth.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = who
}

// redeem returns the user of a code and consumes the code.
func (s *testStore) redeem(code string) (who auth.Identity, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, ok = s.codes[code]
	delete(s.codes, code)
	return who, ok
}

func (s *testStore) RedeemCode(ctx context.Context, code string) (session string, who auth.Identity, err error) {
	if who, ok := s.redeem(code); ok {
		if code, err = s.NewSignInCode(ctx, who, 0); err != nil {
			return "", who, err
		}
	}
	return s.Tokens.RedeemCode(ctx, code)
}

func (s *testStore) Session(ctx context.Context, session string) (who auth.Identity, ok bool, err error) {
	if err := s.lookups.err(); err != nil {
		return who, false, err
	}
	return s.Tokens.Session(ctx, session)
}

func (s *testStore) Token(ctx context.Context, token string) (who auth.Identity, ok bool, err error) {
	if err := s.lookups.err(); err != nil {
		return who, false, err
	}
	return s.Tokens.Token(ctx, token)
}

func (s *testStore) EndSession(ctx context.Context, session string) error {
	if err := s.changes.err(); err != nil {
		return err
	}
	return s.Tokens.EndSession(ctx, session)
}

func (s *testStore) Grants(ctx context.Context) (auth.Grants, error) {
	if err := s.lookups.err(); err != nil {
		return auth.Grants{}, err
	}
	return s.Tokens.Grants(ctx)
}

func (s *testStore) Revoke(ctx context.Context, name string) (auth.Revoked, error) {
	if err := s.lookups.err(); err != nil {
		return auth.Revoked{}, err
	}
	return s.Tokens.Revoke(ctx, name)
}

func (s *testStore) EndSessionByID(ctx context.Context, id string) (who auth.Identity, ok bool, err error) {
	if err := s.lookups.err(); err != nil {
		return who, false, err
	}
	return s.Tokens.EndSessionByID(ctx, id)
}

func (s *testStore) EndLink(ctx context.Context, id string) (who auth.Identity, ok bool, err error) {
	if err := s.lookups.err(); err != nil {
		return who, false, err
	}
	return s.Tokens.EndLink(ctx, id)
}

// setState sets the database's state. Changes made while it is not ok are not saved.
func (s *testStore) setState(d journal.Database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = d
}

func (s *testStore) database() journal.Database {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health
}

func (s *testStore) SaveRevision(ctx context.Context, r journal.Revision) (journal.Revision, bool, error) {
	return s.saveRevision(r, func() (journal.Revision, bool, error) { return s.Store.SaveRevision(ctx, r) })
}

func (s *testStore) DiscardRevisions(ctx context.Context, channel, author string) (journal.Revision, bool, error) {
	return s.saveRevision(journal.Revision{}, func() (journal.Revision, bool, error) { return s.Store.DiscardRevisions(ctx, channel, author) })
}

func (s *testStore) saveRevision(r journal.Revision, keep func() (journal.Revision, bool, error)) (journal.Revision, bool, error) {
	if err := s.changes.err(); err != nil {
		return r, false, err
	}
	r, saved, err := keep()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revisions = append(s.revisions, r)
	return r, saved && s.health.State == journal.DatabaseOK, err
}

func (s *testStore) Record(ctx context.Context, a journal.Audit) (saved bool, err error) {
	if err := s.changes.err(); err != nil {
		return false, err
	}
	saved, err = s.Store.Record(ctx, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audits = append(s.audits, a)
	return saved && s.health.State == journal.DatabaseOK, err
}

func (s *testStore) SaveSetting(ctx context.Context, channel, name, value string) (saved bool, err error) {
	if err := s.changes.err(); err != nil {
		return false, err
	}
	saved, err = s.Store.SaveSetting(ctx, channel, name, value)
	return saved && s.database().State == journal.DatabaseOK, err
}

func (s *testStore) Commit(ctx context.Context) (saved bool) {
	return s.Store.Commit(ctx) && s.database().State == journal.DatabaseOK
}

func (s *testStore) Revisions(ctx context.Context, channel string, before, n int) ([]journal.Revision, bool, error) {
	if err := s.reads.err(); err != nil {
		return nil, false, err
	}
	return s.Store.Revisions(ctx, channel, before, n)
}

func (s *testStore) Entry(ctx context.Context, id chatguard.EntryID) (journal.Entry, bool, error) {
	if err := s.reads.err(); err != nil {
		return journal.Entry{}, false, err
	}
	return s.Store.Entry(ctx, id)
}

func (s *testStore) Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error) {
	if err := s.reads.err(); err != nil {
		return nil, err
	}
	return s.Store.Entries(ctx, wanted)
}

func (s *testStore) Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error) {
	if err := s.reads.err(); err != nil {
		return nil, err
	}
	return s.Store.Audits(ctx, wanted)
}

func (s *testStore) FindPeople(ctx context.Context, channel, text string, n int) ([]journal.Person, error) {
	if err := s.reads.err(); err != nil {
		return nil, err
	}
	return s.Store.FindPeople(ctx, channel, text, n)
}

func (s *testStore) Person(ctx context.Context, channel, user string) (journal.Person, bool, error) {
	if err := s.reads.err(); err != nil {
		return journal.Person{}, false, err
	}
	return s.Store.Person(ctx, channel, user)
}

func (s *testStore) People(ctx context.Context, channel string, users []string) (map[string]journal.Person, error) {
	if err := s.reads.err(); err != nil {
		return nil, err
	}
	return s.Store.People(ctx, channel, users)
}

func (s *testStore) QuarterHours(ctx context.Context, channel, user string, since time.Time) ([]journal.QuarterHour, error) {
	if err := s.reads.err(); err != nil {
		return nil, err
	}
	return s.Store.QuarterHours(ctx, channel, user, since)
}

func (s *testStore) Minutes(ctx context.Context, since, until time.Time, each func(journal.Minute) error) error {
	if err := s.reads.err(); err != nil {
		return err
	}
	return s.Store.Minutes(ctx, since, until, each)
}

// diskFull is the error of the database in these tests.
const diskFull = "the disk is full: free some space"

// breakDatabase makes the database fail, as if it had been failing for that long.
func (d *dashboard) breakDatabase(ago time.Duration) {
	d.store.setState(journal.Database{State: journal.DatabaseFailing, Detail: diskFull, Since: d.now().Add(-ago), Lag: ago, Queued: 1204, Dropped: 3})
}

// repairDatabase ends the trouble of the database, with everything written.
func (d *dashboard) repairDatabase() {
	d.store.setState(journal.Database{State: journal.DatabaseOK, Since: d.now(), LastFlush: d.now()})
}
