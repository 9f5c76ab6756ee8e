package persist

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
)

func TestFlush_StartsEveryInterval(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path, &Options{FlushInterval: time.Second})
		g := guardOf(t, s, policy())
		stop := startRun(t, s, g)
		for i := range 3 {
			<-time.After(time.Second / 2) // half-way between two flushes
			say(t, g, fmt.Sprint(i), time.Now())
			if rows := s.figures.state.Get(); rows != uint64(2*i) {
				t.Errorf("%d rows before flush %d", rows, i+1)
			}
			<-time.After(time.Second / 2)
			synctest.Wait()
			if h, rows := s.Health(), s.figures.state.Get(); rows != uint64(2*i+2) || !h.LastFlush.Equal(time.Now()) || h.Lag != 0 {
				t.Errorf("after flush %d: %d rows, %+v", i+1, rows, h)
			}
		}
		stop()
		must(t, s.Close())
	})
}

func TestFlush_RefusedBeforeRestore(t *testing.T) {
	t.Parallel()
	s := open(t, newFilledDatabase(t), nil)
	g, err := chatguard.New(policy(), nil)
	must(t, err)
	if err := s.Run(ctx, g); !errors.Is(err, errNotRestored) {
		t.Fatalf("got %v", err)
	}
	s.exec(t, "ALTER TABLE state RENAME TO elsewhere") // the load fails
	if _, err := s.Restore(ctx, g); err == nil {
		t.Fatal("restored from nowhere")
	}
	if err := s.Run(ctx, g); !errors.Is(err, errNotRestored) {
		t.Fatalf("got %v", err)
	}
}

func TestFlush_IdleWritesNothing(t *testing.T) {
	t.Parallel()
	now := start
	path := newDatabase(t)
	s := open(t, path, &Options{Now: func() time.Time { return now }})
	g := guardOf(t, s, policy())
	s.Observe(throttledMessage(1, "c1", "u", time.Second)) // pending at the restart
	s.mustFlush(t, g)
	must(t, s.Close())

	s = open(t, path, &Options{Now: func() time.Time { return now }})
	g = guardOf(t, s, policy())
	s.runTurn(ctx, g)
	now = now.Add(time.Second)
	before := snapshot(t, path)
	s.runTurn(ctx, g)
	if h := s.Health(); !h.LastFlush.Equal(start) {
		t.Errorf("%+v", h)
	}
	if !reflect.DeepEqual(before, snapshot(t, path)) {
		t.Error("the database has changed")
	}
}

// TestFlush_EndedContextSaves checks that the end of the context isn't treated as a database error,
// even before the first flush or during one.
func TestFlush_EndedContextSaves(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, g := openWithGuard(t, &Options{Now: at(start), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	say(t, g, "u", start)
	must(t, s.Run(endedContext, g))
	if log.Len() != 0 {
		t.Errorf("logged %s", &log)
	}
	s.wantRows(t, "state", 2) // one for each limit
}
