package persist

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// maxChanges is the maximum number of pending changes of each kind: revisions, audits, and
// settings.
const maxChanges = 1000

// ErrTooMany is returned for a change if maxChanges are already pending.
var ErrTooMany = fmt.Errorf("%d changes are already pending: fix the database first", maxChanges)

// changeQueue holds people's changes that aren't in the database yet. It keeps revisions and audits
// in order, and the last value of each setting. It never drops a change. It is safe for concurrent
// use after load.
type changeQueue struct {
	mu           sync.Mutex
	revisions    []revisionRow
	audits       []auditRow
	channels     map[string]string // logins by ID
	settings     map[settingKey]string
	streams      map[streamKey]journal.Stream
	forgettings  []forgetting
	lastRevision map[string]int // by channel ID
	lastAudit    int64
}

// load reads the numbers of the last revisions and the ID of the last audit from the database.
func (c *changeQueue) load(ctx context.Context, db *sqlite.DB) (err error) {
	if c.lastRevision, err = lastRevisions(ctx, db); err != nil {
		return err
	}
	return db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&c.lastAudit) }, "SELECT coalesce(max(id), 0) FROM audit")
}

// addRevision numbers a revision and its audit, and adds them to the pending changes.
func (c *changeQueue) addRevision(r revisionRow, a journal.Audit) (journal.Revision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.revisions) >= maxChanges {
		return r.Revision, ErrTooMany
	}
	r.Number = c.lastRevision[r.ChannelID] + 1
	a.Detail = journal.PolicyDetail{Revision: r.Number}
	if err := c.addAuditLocked(a); err != nil {
		return r.Revision, err
	}
	c.lastRevision[r.ChannelID] = r.Number
	c.revisions = append(c.revisions, r)
	return r.Revision, nil
}

func (c *changeQueue) addAudit(a journal.Audit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addAuditLocked(a)
}

func (c *changeQueue) addAuditLocked(a journal.Audit) error {
	if len(c.audits) >= maxChanges {
		return ErrTooMany
	}
	a.ID = c.lastAudit + 1
	row, err := newAuditRow(a)
	if err != nil {
		return err
	}
	c.lastAudit = a.ID
	c.audits = append(c.audits, row)
	return nil
}

func (c *changeQueue) addChannel(id, login string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.channels == nil {
		c.channels = map[string]string{}
	}
	c.channels[id] = login
}

func (c *changeQueue) addSetting(key settingKey, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.settings[key]; !ok && len(c.settings) >= maxChanges {
		return ErrTooMany
	}
	if c.settings == nil {
		c.settings = map[settingKey]string{}
	}
	c.settings[key] = value
	return nil
}

func (c *changeQueue) addStream(s journal.Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams == nil {
		c.streams = map[streamKey]journal.Stream{}
	}
	c.streams[keyOfStream(s)] = s
}

// waiting is the pending changes at one moment.
type waiting struct {
	revisions []revisionRow
	audits    []auditRow
	channels  map[string]string
	settings  map[settingKey]string
	streams   map[streamKey]journal.Stream

	forgettings []forgetting
}

func (w *waiting) isEmpty() bool {
	return len(w.forgettings) == 0 && len(w.revisions) == 0 && len(w.audits) == 0 && len(w.channels) == 0 && len(w.settings) == 0 && len(w.streams) == 0
}

// peek returns the pending changes. They stay pending.
func (c *changeQueue) peek() waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	return waiting{
		revisions: slices.Clone(c.revisions), audits: slices.Clone(c.audits), channels: maps.Clone(c.channels), settings: maps.Clone(c.settings),
		streams: maps.Clone(c.streams), forgettings: slices.Clone(c.forgettings),
	}
}

// removeStored removes the changes that peek returned, because they are stored now.
func (c *changeQueue) removeStored(w waiting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revisions, c.audits = slices.Delete(c.revisions, 0, len(w.revisions)), slices.Delete(c.audits, 0, len(w.audits))
	c.forgettings = slices.Delete(c.forgettings, 0, len(w.forgettings))
	forget(c.channels, w.channels)
	forget(c.settings, w.settings)
	forget(c.streams, w.streams)
}

// forget deletes the written entries from a map, except entries that have changed since.
func forget[K, V comparable](all, written map[K]V) {
	for key, value := range written {
		if now, ok := all[key]; ok && now == value {
			delete(all, key)
		}
	}
}

func writeChanges(ctx context.Context, tx *sql.Tx, w waiting) error {
	if err := writeRevisions(ctx, tx, w.revisions); err != nil {
		return err
	}
	if err := writeAudits(ctx, tx, w.audits); err != nil {
		return err
	}
	if err := writeChannels(ctx, tx, w.channels); err != nil {
		return err
	}
	if err := writeSettings(ctx, tx, w.settings); err != nil {
		return err
	}
	return writeStreams(ctx, tx, w.streams)
}
