package persist

import (
	"context"
	"embed"
	"errors"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Schema is the schema of chatguard's database.
var Schema = func() sqlite.Schema {
	steps, err := sqlite.ReadMigrations(migrationFiles)
	if err != nil {
		panic(err) // a test has checked the names
	}
	return sqlite.Schema{Mark: 0x63686774, Steps: steps} // "chgt"
}()

// Open opens the database at path and owns it until Close. It creates a missing database and
// migrates an older one. The error names the file and the fix; it is an *OwnedError if another
// process owns the database. Open refuses a database that is damaged, of a newer version or of
// another program, and leaves it unchanged. It accepts a database that is read-only or locked by
// another program; Run then retries until it can write.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	full := opts.withDefaults()
	db, err := Schema.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := newStore(ctx, db, full)
	if err != nil {
		return nil, err
	}
	for _, check := range []func(string) error{sqlite.CheckMode, sqlite.CheckFolder} {
		if err := check(db.Path); err != nil {
			full.Logger.Warn(err.Error())
		}
	}
	if was := db.Migrated; was != 0 {
		full.Logger.Info("migrated the database to the current version", "database", db.Path, "from", was, "to", len(Schema.Steps), "copy", sqlite.CopyPath(db.Path, was))
	}
	return s, nil
}

// OpenMemory returns a Store on a database in memory, which exists as long as the Store.
func OpenMemory(ctx context.Context, opts *Options) (*Store, error) {
	db, err := Schema.OpenMemory(ctx)
	if err != nil {
		return nil, err
	}
	full := opts.withDefaults()
	full.Metrics = metrics.NewSet() // a memory store has nothing to report
	return newStore(ctx, db, full)
}

// OpenTokens opens the sign-in part of an existing database, whether or not another process owns
// it.
func OpenTokens(ctx context.Context, path string, opts *Options) (*signin.Tokens, error) {
	db, err := Schema.OpenBeside(ctx, path)
	if err != nil {
		return nil, err
	}
	return signin.New(db, opts.withDefaults().Now), nil
}

// newStore returns a Store on a database with the current schema. If it returns an error, it has
// closed the database.
func newStore(ctx context.Context, db *sqlite.DB, opts Options) (*Store, error) {
	s := &Store{Tokens: signin.New(db, opts.Now), db: db, opts: opts, lastLook: lastLook, isLost: make(chan struct{})}
	s.commits = &commits{wake: make(chan struct{}, 1), saves: func() bool { return !db.InMemory() && !s.health.isFailing() }}
	s.journalTable = &journalTable{db, &s.queue}
	s.timelineTable = &timelineTable{db, &s.queue}
	s.notebook = &notebook{}
	s.people = &people{db, &s.queue, s.notebook}
	s.changes = &changes{commits: s.commits, db: db, people: s.people, now: opts.Now}
	s.channels = &channels{db: db}
	s.settings = &settings{commits: s.commits, db: db, pending: pending[settingKey, string]{limit: maxChanges}}
	s.streams = &streams{db: db}
	s.webhooks = &webhooks{db: db}
	s.forgettings = &forgettings{commits: s.commits, db: db, notes: s.notebook, compact: func(ctx context.Context) error {
		return s.inDatabase(func() error { return db.Compact(ctx) })
	}}
	now := opts.Now()
	s.queue.limit, s.queue.wake = opts.QueueSize, s.commits.wake
	// Start at another number than earlier processes did, so that messages of the same time have
	// different numbers.
	s.queue.number = now.Unix()
	s.sweeper = &sweeper{db: db, opts: &s.opts, wanted: s.commits.wake, prints: map[string]int64{}}
	if db.InMemory() {
		s.sweeper.used = db.Used
	}
	s.health.h = Health{State: OK, Since: now}
	s.flushing.Name = "preparing a flush"
	err := s.changes.load(ctx)
	if err == nil {
		err = s.notebook.load(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.Tokens.Preload(ctx)
	s.register(opts.Metrics)
	return s, nil
}
