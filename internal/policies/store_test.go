package policies

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const channel = "1"

// memory has Revisions in memory. It can be made to fail.
type memory struct {
	mu      sync.Mutex
	stored  []journal.Revision // in order
	unsaved bool
	err     error
}

func (m *memory) SaveRevision(_ context.Context, r journal.Revision) (journal.Revision, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return r, false, m.err
	}
	r.Number = 1
	for _, earlier := range m.stored {
		if earlier.ChannelID == r.ChannelID {
			r.Number = earlier.Number + 1
		}
	}
	m.stored = append(m.stored, r)
	return r, !m.unsaved, nil
}

func (m *memory) DiscardRevisions(ctx context.Context, channelID, author string) (journal.Revision, bool, error) {
	return m.SaveRevision(ctx, journal.Revision{ChannelID: channelID, Author: author, At: time.Now()})
}

func (m *memory) Revisions(_ context.Context, channelID string, before, n int) (list []journal.Revision, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Backward(m.stored) {
		if r.ChannelID == channelID && (before == 0 || r.Number < before) {
			list = append(list, r)
		}
	}
	return list[:min(n, len(list))], len(list) > n, m.err
}

func (m *memory) CurrentRevisions(context.Context) (list []journal.Revision, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := map[string]journal.Revision{}
	for _, r := range m.stored {
		last[r.ChannelID] = r
	}
	for _, r := range last {
		if r.Changes != nil || r.Unreadable != nil {
			list = append(list, r)
		}
	}
	return list, m.err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
