package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// mustBegin takes a turn that must be free.
func (l *longReads) mustBegin(t testing.TB, holder string) (end func()) {
	t.Helper()
	end, err := l.begin(context.Background(), holder, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func isTooMany(err error) bool {
	p, ok := err.(*problem.Problem)
	return ok && p.Status == http.StatusTooManyRequests && p.RetryAfter == 2
}

func TestLongReads_TwoPerHolderFourInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		first := l.mustBegin(t, "anna")
		l.mustBegin(t, "anna")
		began := time.Now()
		if _, err := l.begin(t.Context(), "anna", readWait); !isTooMany(err) || time.Since(began) != readWait {
			t.Errorf("anna's third read: %v after %v", err, time.Since(began))
		}
		l.mustBegin(t, "berta")
		l.mustBegin(t, "clara")
		if _, err := l.begin(t.Context(), "dora", readWait); !isTooMany(err) {
			t.Errorf("a fifth one: %v", err)
		}
		turn := make(chan func())
		go func() { turn <- l.mustBegin(t, "dora") }()
		synctest.Wait()
		first()
		(<-turn)()
		l.mustBegin(t, "anna")
	})
}

func TestLongReads_FewWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		ends := []func(){l.mustBegin(t, "anna"), l.mustBegin(t, "anna")}
		var waiting sync.WaitGroup
		for range mostWaitOfHolder {
			waiting.Go(func() { l.mustBegin(t, "anna")() })
		}
		synctest.Wait()
		began := time.Now()
		if _, err := l.begin(t.Context(), "anna", readWait); !isTooMany(err) || time.Since(began) != 0 {
			t.Errorf("a read beyond the waiting places: %v after %v", err, time.Since(began))
		}
		l.mustBegin(t, "berta")() // other holders are not blocked
		for _, end := range ends {
			end()
		}
		waiting.Wait()
		if len(l.all) != 0 || len(l.byHolder) != 0 {
			t.Errorf("%d places are taken, by %d holders", len(l.all), len(l.byHolder))
		}
	})
}

func TestLongReads_WaiterMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLongReads()
		end := l.mustBegin(t, "anna")
		l.mustBegin(t, "anna")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.begin(gone, "anna", time.Hour); err == nil {
			t.Error("a caller whose request has ended gets a turn")
		}
		end()
		l.mustBegin(t, "anna")
	})
}

// fill takes all turns and waiting places of a holder.
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

func TestLongReads_EveryScan(t *testing.T) {
	d := dash(t, addLimits(t, crowd))
	d.say(spammer, 4)
	free := d.server.reads.fill(t, auth.OwnerName)
	other := setBearer(d.newToken(auth.View))
	user := "/channels/" + channelID + "/users/" + spammer.ID
	for path, long := range map[string]bool{
		"/journal": true, "/journal?format=csv": true, "/audit": true, "/audit?format=csv": true, "/users?q=spam": true, user + "/week": true,
		"/channels/" + channelID + "/policy/revisions": true, "/channels/" + channelID + "/week": true,
		"/status": false, "/rates": false, "/throttled": false, user: false,
	} {
		a := d.do("GET", "/api/v1"+path, nil, asOwner)
		if refused := a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "2"; refused != long {
			t.Errorf("%s: %s, Retry-After %q", path, a.Status, a.Header.Get("Retry-After"))
		}
		d.wantStatus(fmt.Sprintf("%s for another", path), http.StatusOK, "GET", "/api/v1"+path, nil, other)
	}
	if a := d.try(burst(2)); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a preview: %s", a.Status)
	}
	free()
	decode[entryPage](t, d.do("GET", "/api/v1/journal", nil, asOwner))
}
