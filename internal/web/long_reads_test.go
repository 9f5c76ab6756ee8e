package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// begun takes a turn that has to be free.
func (l *longReads) begun(t testing.TB, holder string) (end func()) {
	t.Helper()
	end, err := l.begin(context.Background(), holder, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func isTooMany(err error) bool {
	p, ok := err.(*problem)
	return ok && p.Status == http.StatusTooManyRequests && p.retryAfter == 2
}

func TestLongReads_TwoForAHolderFourInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		first := l.begun(t, "anna")
		l.begun(t, "anna")
		began := time.Now()
		if _, err := l.begin(t.Context(), "anna", readWait); !isTooMany(err) || time.Since(began) != readWait {
			t.Errorf("a third one of anna's: %v after %v", err, time.Since(began))
		}
		l.begun(t, "berta")
		l.begun(t, "clara")
		if _, err := l.begin(t.Context(), "dora", readWait); !isTooMany(err) {
			t.Errorf("a fifth one: %v", err)
		}
		turn := make(chan func())
		go func() { turn <- l.begun(t, "dora") }()
		synctest.Wait()
		first()
		(<-turn)()
		l.begun(t, "anna")
	})
}

func TestLongReads_FewWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		ends := []func(){l.begun(t, "anna"), l.begun(t, "anna")}
		var waiting sync.WaitGroup
		for range mostWaitOfHolder {
			waiting.Go(func() { l.begun(t, "anna")() })
		}
		synctest.Wait()
		began := time.Now()
		if _, err := l.begin(t.Context(), "anna", readWait); !isTooMany(err) || time.Since(began) != 0 {
			t.Errorf("one too many: %v after %v", err, time.Since(began))
		}
		l.begun(t, "berta")() // others go on
		for _, end := range ends {
			end()
		}
		waiting.Wait()
		if len(l.all) != 0 || len(l.byHolder) != 0 {
			t.Errorf("%d places are taken, by %d holders", len(l.all), len(l.byHolder))
		}
	})
}

func TestLongReads_WhoeverWaitsMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		end := l.begun(t, "anna")
		l.begun(t, "anna")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.begin(gone, "anna", time.Hour); err == nil {
			t.Error("whoever has gone has a turn")
		}
		end()
		l.begun(t, "anna")
	})
}

// fill takes all that a holder may have at a time, with those that wait.
func (l *longReads) fill(t testing.TB, holder string) (free func()) {
	t.Helper()
	for range mostReadsOfHolder + mostWaitOfHolder {
		if l.enter(holder) == nil {
			t.Fatalf("%s has no place left", holder)
		}
	}
	return func() {
		for range mostReadsOfHolder + mostWaitOfHolder {
			l.leave(holder)
		}
	}
}

func TestLongReads_WhateverScans(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	free := d.server.reads.fill(t, owner)
	other := bearing(d.newToken(journal.AccessView))
	user := "/channels/" + channelID + "/users/" + spammer.ID
	for path, long := range map[string]bool{
		"/journal": true, "/journal?format=csv": true, "/audit": true, "/audit?format=csv": true, "/users?q=spam": true, user + "/week": true,
		"/channels/" + channelID + "/policy/revisions": true,
		"/status": false, "/rates": false, "/throttled": false, user: false,
	} {
		a := d.do("GET", "/api/v1"+path, nil, asOwner)
		if refused := a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "2"; refused != long {
			t.Errorf("%s: %s, Retry-After %q", path, a.Status, a.Header.Get("Retry-After"))
		}
		if a := d.do("GET", "/api/v1"+path, nil, other); a.StatusCode != http.StatusOK {
			t.Errorf("%s for another: %s", path, a.Status)
		}
	}
	if a := d.try(burst(2)); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a preview: %s", a.Status)
	}
	free()
	into[entryPage](t, d.do("GET", "/api/v1/journal", nil, asOwner))
}

// refusals calls told for each request that is refused.
type refusals struct {
	slog.Handler
	told func(path string)
}

func (h refusals) Enabled(context.Context, slog.Level) bool { return true }

func (h refusals) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "path" {
			h.told(a.Value.String())
		}
		return true
	})
	return nil
}

// The page asks again by itself.
func TestLongReads_PageAsksAgain(t *testing.T) {
	var free func()
	var once sync.Once
	d := dash(t, func(o *Options) {
		o.Log = slog.New(refusals{slog.DiscardHandler, func(path string) {
			if strings.HasSuffix(path, "/journal") {
				once.Do(func() { free() })
			}
		}})
	})
	d.say(spammer, 4)
	free = d.server.reads.fill(t, "anna")
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(says("hello everyone"))
}
