package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	mostReads         = 4               // long reads at a time
	mostReadsOfHolder = 2               // long reads at a time per holder
	mostWaitOfHolder  = 6               // pending long reads per holder
	readWait          = 2 * time.Second // maximum wait of a pending long read
)

const (
	usualPage = 100 // default number of records per page
	mostPage  = 500
)

// longReads limits requests that scan the database, so that one caller's large requests delay
// neither other callers nor chat. A few requests per caller wait for a short time, because a page
// sends several at once. The rest are refused. It is safe for concurrent use.
type longReads struct {
	all chan struct{} // has one value per read in progress; nil if only each holder's are limited

	mu       sync.Mutex
	byHolder map[string]*readsOfHolder // contains only holders with reads
}

type readsOfHolder struct {
	underWay chan struct{}
	n        int // reads in progress or pending
}

func newLongReads() *longReads {
	return &longReads{all: make(chan struct{}, mostReads), byHolder: map[string]*readsOfHolder{}}
}

// begin waits for a turn, but no longer than timeout. The caller must call end when the read is
// done.
func (l *longReads) begin(ctx context.Context, holder string, timeout time.Duration) (end func(), err error) {
	own := l.enter(holder)
	if own == nil {
		return nil, errTooManyReads()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if !take(ctx, own.underWay) {
		l.leave(holder)
		return nil, errTooManyReads()
	}
	if l.all != nil && !take(ctx, l.all) {
		<-own.underWay
		l.leave(holder)
		return nil, errTooManyReads()
	}
	return func() {
		if l.all != nil {
			<-l.all
		}
		<-own.underWay
		l.leave(holder)
	}, nil
}

// take sends a value to a channel. It returns false if the context ends first.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter counts a further read of the holder. It returns nil if the holder has too many.
func (l *longReads) enter(holder string) *readsOfHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byHolder[holder]
	if own == nil {
		own = &readsOfHolder{underWay: make(chan struct{}, mostReadsOfHolder)}
		l.byHolder[holder] = own
	}
	if own.n == mostReadsOfHolder+mostWaitOfHolder {
		return nil
	}
	own.n++
	return own
}

func (l *longReads) leave(holder string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.byHolder[holder]; own.n > 1 {
		own.n--
	} else {
		delete(l.byHolder, holder)
	}
}

func errTooManyReads() error {
	return problem.New(http.StatusTooManyRequests, "Too many long searches are in progress. Try again in %d s.", readWait/time.Second).After(readWait)
}

// readLong waits for its turn and runs do, which scans the database for a caller. The turn ends
// before the answer is sent, because the client may be slow.
func readLong[T any](ctx context.Context, reads *longReads, who access.Caller, timeout time.Duration, do func() (T, error)) (result T, err error) {
	end, err := reads.begin(ctx, who.Author(), timeout)
	if err != nil {
		return result, err
	}
	defer end()
	return do()
}

// answerLong answers a request with the result of a long read.
func answerLong[T any](w http.ResponseWriter, r *http.Request, reads *longReads, who access.Caller, read func() (T, error)) error {
	answer, err := readLong(r.Context(), reads, who, readWait, read)
	if err != nil {
		return err
	}
	return problem.WriteJSON(w, answer)
}
