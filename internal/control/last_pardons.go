package control

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// lastPardons holds the last pardons that can be undone, one per user. They do not survive a
// restart. The zero value is empty. It is safe for concurrent use.
type lastPardons struct {
	giving turns // taken while a user is pardoned, or a pardon is undone

	mu     sync.Mutex
	of     map[chatguard.Key]*pardon
	lastID int64
}

type pardon struct {
	done   journal.Pardon
	taken  inner.Pardoned
	undone bool
}

// give runs forgive and remembers the pardon if it changed anything. Otherwise it returns the
// earlier pardon of the same messages, if that is still remembered.
func (p *lastPardons) give(
	ctx context.Context, t journal.Target, now time.Time, forgive func(now time.Time) (journal.Pardon, inner.Pardoned, error),
) (done journal.Pardon, err error) {
	end, err := p.giving.take(ctx, t.Key())
	if err != nil {
		return done, err
	}
	defer end()
	done, taken, err := forgive(now)
	if err != nil {
		return done, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if taken.Offences == 0 {
		if before := p.of[t.Key()]; before != nil && !before.undone && before.done.Last == done.Last {
			done = before.done
		}
		done.Again = true
		return done, nil
	}
	p.makeRoom(now)
	p.lastID = max(p.lastID+1, now.UnixMicro())
	done.ID, done.UndoUntil = p.lastID, now.Add(undoable).UTC()
	p.of[t.Key()] = &pardon{done: done, taken: taken}
	return done, nil
}

// makeRoom removes expired pardons, and others if there are too many.
func (p *lastPardons) makeRoom(now time.Time) {
	if p.of == nil {
		p.of = map[chatguard.Key]*pardon{}
	}
	maps.DeleteFunc(p.of, func(_ chatguard.Key, one *pardon) bool { return !now.Before(one.done.UndoUntil) })
	for key := range p.of {
		if len(p.of) < maxPardons {
			return
		}
		delete(p.of, key)
	}
}

// complete stores the completed result of a pardon.
func (p *lastPardons) complete(t journal.Target, done journal.Pardon) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.of[t.Key()]; one != nil && one.done.ID == done.ID {
		done.Again = false
		one.done = done
	}
}

// undo undoes the pardon with the given ID. again is true if it was already undone.
func (p *lastPardons) undo(
	ctx context.Context, t journal.Target, id int64, now time.Time, take func(inner.Pardoned) error,
) (done journal.Pardon, again bool, err error) {
	end, err := p.giving.take(ctx, t.Key())
	if err != nil {
		return done, false, err
	}
	defer end()
	one, ok := p.find(t)
	switch {
	case !ok || one.done.ID != id || !now.Before(one.done.UndoUntil):
		return done, false, ErrNoUndo
	case one.undone:
		return one.done, true, nil
	}
	if err := take(one.taken); err != nil {
		return one.done, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if given := p.of[t.Key()]; given != nil {
		given.undone = true
	}
	return one.done, false, nil
}

// find returns the last pardon of a user.
func (p *lastPardons) find(t journal.Target) (last pardon, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if given := p.of[t.Key()]; given != nil {
		return *given, true
	}
	return last, false
}

// forget drops a user's pardon, so that it can't be undone.
func (p *lastPardons) forget(t journal.Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, t.Key())
}
