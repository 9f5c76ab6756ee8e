package persist

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/internal/journal"
)

// ErrTooMany is the error of a change that can't wait, because too many do.
var ErrTooMany = errors.New("1000 changes wait for the database already: mend that first")

// maxChanges is how many revisions, how many audits, and how many settings may wait.
const maxChanges = 1000

// changes are what people have changed and the database doesn't have yet, each kind in its order; of settings the last values. Nothing of it is ever dropped. It is safe
// for concurrent use after load.
type changes struct {
	mu           sync.Mutex
	revisions    []revisionRow
	audits       []auditRow
	channels     map[string]string // logins by ID
	settings     map[settingKey]string
	lastRevision map[string]int // by channel ID
	lastAudit    int64
}

// load reads where the numbers go on.
func (c *changes) load(ctx context.Context, db *database) (err error) {
	if c.lastRevision, err = lastRevisions(ctx, db); err != nil {
		return err
	}
	return explain(db.path, db.reader.QueryRowContext(ctx, "SELECT ifnull(max(id), 0) FROM audit").Scan(&c.lastAudit))
}

// addRevision numbers a revision and its audit, and lets them wait.
func (c *changes) addRevision(r revisionRow, a journal.Audit) (journal.Revision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.revisions) >= maxChanges {
		return r.Revision, ErrTooMany
	}
	r.Number = c.lastRevision[r.ChannelID] + 1
	a.Detail = map[string]int{"revision": r.Number}
	if err := c.addAuditLocked(a); err != nil {
		return r.Revision, err
	}
	c.lastRevision[r.ChannelID] = r.Number
	c.revisions = append(c.revisions, r)
	return r.Revision, nil
}

// last is the number of a channel's last revision; 0 if there is none.
func (c *changes) last(channelID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastRevision[channelID]
}

func (c *changes) addAudit(a journal.Audit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addAuditLocked(a)
}

func (c *changes) addAuditLocked(a journal.Audit) error {
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

func (c *changes) addChannel(id, login string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.channels == nil {
		c.channels = map[string]string{}
	}
	c.channels[id] = login
}

func (c *changes) addSetting(key settingKey, value string) error {
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

// waiting are changes as they were at one moment.
type waiting struct {
	revisions []revisionRow
	audits    []auditRow
	channels  map[string]string
	settings  map[settingKey]string
}

func (w *waiting) empty() bool {
	return len(w.revisions) == 0 && len(w.audits) == 0 && len(w.channels) == 0 && len(w.settings) == 0
}

// look returns what waits, and leaves it waiting.
func (c *changes) look() waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	return waiting{
		revisions: slices.Clone(c.revisions), audits: slices.Clone(c.audits), channels: maps.Clone(c.channels), settings: maps.Clone(c.settings),
	}
}

// stored forgets what look returned.
func (c *changes) stored(w waiting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revisions, c.audits = slices.Delete(c.revisions, 0, len(w.revisions)), slices.Delete(c.audits, 0, len(w.audits))
	forget(c.channels, w.channels)
	forget(c.settings, w.settings)
}

// forget deletes from a map what is in it as it was written.
func forget[K comparable](all, written map[K]string) {
	for key, value := range written {
		if now, ok := all[key]; ok && now == value {
			delete(all, key)
		}
	}
}

func (c *changes) revisionsOf(channelID string) (list []journal.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.revisions {
		if r.ChannelID == channelID {
			list = append(list, r.Revision)
		}
	}
	return list
}

// waitingAudits returns the audits that wait, the oldest first.
func (c *changes) waitingAudits() []auditRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.audits)
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
	return writeSettings(ctx, tx, w.settings)
}
