package chatguard

import (
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/sharing"
)

// entryIDs numbers the throttled messages of a Guard. The number changes with each of them. The
// padding puts it on another cache line, so decisions that only read the fields beside it don't
// wait for these writes.
type entryIDs struct {
	_    [cacheLine]byte
	last atomic.Int64
	_    [cacheLine]byte
}

// cacheLine is the maximum number of bytes that processors transfer between caches at a time.
const cacheLine = 128

// next returns the first of n new entry IDs, and the difference between each and the next. rows are
// those that the Guard shares, or nil. If now is zero, next reads their clock when it needs to.
func (e *entryIDs) next(n int, rows *sharing.Rows, now time.Time) (first, step EntryID) {
	switch {
	case n == 0:
		return 0, 0
	case rows != nil:
		if now.IsZero() {
			now = rows.Now()
		}
		return e.nextShared(n, rows, now), sharing.Nodes
	}
	return EntryID(e.last.Add(int64(n)) - int64(n) + 1), 1
}

// nextShared returns the first of n new entry IDs of a Guard that shares rows: a quarter of a
// millisecond, and the number of the Guard, so that the IDs of different Guards differ. The IDs fit
// 53 bits, which is what JSON numbers can have.
func (e *entryIDs) nextShared(n int, rows *sharing.Rows, now time.Time) EntryID {
	for {
		last := e.last.Load()
		first := max(last/sharing.Nodes+1, now.UnixMilli()*4)
		if e.last.CompareAndSwap(last, (first+int64(n)-1)*sharing.Nodes) {
			return EntryID(first*sharing.Nodes + rows.Number(now))
		}
	}
}
