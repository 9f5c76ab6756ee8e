package web

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

var errWrongCode = errors.New("wrong code")

// memoryStore is a Store, and that of the switches, which forgets everything when the test ends. It saves what changes while its database is ok.
type memoryStore struct {
	mu         sync.Mutex
	codes      map[string]string // name by code
	sessions   map[string]string // name by session
	revisions  []journal.Revision
	audits     []journal.Audit
	health     Database
	refusing   error // nothing can be changed any more
	unreadable error // nothing can be read
	lookUps    int   // of sessions
}

func newMemoryStore() *memoryStore {
	return &memoryStore{
		codes: map[string]string{"good-code": "anna"}, sessions: map[string]string{}, health: Database{State: DatabaseOK},
	}
}

func (s *memoryStore) RedeemCode(_ context.Context, code string) (session, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.codes[code]
	if !ok {
		return "", "", errWrongCode
	}
	delete(s.codes, code)
	session = rand.Text()
	s.sessions[session] = name
	return session, name, nil
}

func (s *memoryStore) Session(_ context.Context, session string) (name string, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookUps++
	if s.unreadable != nil {
		return "", false, s.unreadable
	}
	name, ok = s.sessions[session]
	return name, ok, nil
}

// asked returns how often sessions were looked up.
func (s *memoryStore) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookUps
}

func (s *memoryStore) EndSession(_ context.Context, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
	return s.refusing
}

func (s *memoryStore) addCode(code, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = name
}

// revoke ends every session.
func (s *memoryStore) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// become changes how the database is.
func (s *memoryStore) become(d Database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = d
}

func (s *memoryStore) database() Database {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health
}

// refuse lets no change be made from now on; with nil they can be again.
func (s *memoryStore) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing = err
}

// hide lets nothing be read from now on; with nil it can be again.
func (s *memoryStore) hide(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreadable = err
}

func (s *memoryStore) SaveRevision(_ context.Context, r journal.Revision) (journal.Revision, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusing != nil {
		return r, false, s.refusing
	}
	if r.Number != 0 {
		return r, false, errors.New("numbered already")
	}
	r.Number = len(s.revisions) + 1
	s.revisions = append(s.revisions, r)
	return r, s.health.State == DatabaseOK, nil
}

func (s *memoryStore) DiscardRevisions(ctx context.Context, channel, author string) (journal.Revision, bool, error) {
	return s.SaveRevision(ctx, journal.Revision{ChannelID: channel, Author: author, At: time.Now()})
}

func (s *memoryStore) Revisions(context.Context, string) ([]journal.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := slices.Clone(s.revisions)
	slices.Reverse(past)
	return past, s.unreadable
}

func (s *memoryStore) Record(_ context.Context, a journal.Audit) (saved bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audits = append(s.audits, a)
	return s.health.State == DatabaseOK, s.refusing
}

func (s *memoryStore) SaveSetting(context.Context, string, string, string) (saved bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health.State == DatabaseOK, s.refusing
}

func (s *memoryStore) Entry(context.Context, chatguard.EntryID) (journal.Entry, bool, error) {
	return journal.Entry{}, false, nil
}

func (s *memoryStore) LastEntries(context.Context, string, string, int) ([]journal.Entry, error) {
	return nil, nil
}
