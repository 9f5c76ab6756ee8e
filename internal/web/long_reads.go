package web

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	mostReads         = 4               // long ones under way
	mostReadsOfHolder = 2               // of them
	mostWaitOfHolder  = 6               // more of a holder's that wait for their turn
	readWait          = 2 * time.Second // how long they wait
)

// longReads bounds what scans the database: whoever asks for much at a time holds up neither others nor chat. Some wait for a moment, because a page
// asks for several things at once; the others are refused. It is safe for concurrent use.
type longReads struct {
	all chan struct{} // holds a value for each that is under way

	mu       sync.Mutex
	byHolder map[string]*readsOfHolder // of those who have any
}

type readsOfHolder struct {
	underWay chan struct{}
	n        int // those that wait, too
}

func newLongReads() *longReads {
	return &longReads{all: make(chan struct{}, mostReads), byHolder: map[string]*readsOfHolder{}}
}

// begin waits for a turn, no longer than the patience. The caller ends it with the func returned.
func (l *longReads) begin(ctx context.Context, holder string, patience time.Duration) (end func(), err error) {
	own := l.enter(holder)
	if own == nil {
		return nil, errTooManyReads()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !take(ctx, own.underWay) {
		l.leave(holder)
		return nil, errTooManyReads()
	}
	if !take(ctx, l.all) {
		<-own.underWay
		l.leave(holder)
		return nil, errTooManyReads()
	}
	return func() {
		<-l.all
		<-own.underWay
		l.leave(holder)
	}, nil
}

// take puts a value into a channel, and reports false if the context ends first.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter counts one more of the holder's; it returns nil if there are too many.
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
	return refuse(http.StatusTooManyRequests, "Too many long searches are under way. Try again in %d s.", readWait/time.Second).after(readWait)
}

// readLong runs what scans the database for a caller, when it is its turn. It doesn't cover the answer's way to the caller, who may be slow.
func readLong[T any](ctx context.Context, reads *longReads, who caller, patience time.Duration, do func() (T, error)) (result T, err error) {
	end, err := reads.begin(ctx, who.name, patience)
	if err != nil {
		return result, err
	}
	defer end()
	return do()
}
