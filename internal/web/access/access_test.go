package access

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// siteToken is the Site's token in these tests.
const siteToken = "a-token-that-only-the-owner-knows"

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	quiet = slog.New(slog.DiscardHandler)
)

// newAuthenticator returns an Authenticator for a site with a token. It has no Sessions.
func newAuthenticator(t *testing.T, now func() time.Time) *Authenticator {
	t.Helper()
	a, err := New(Options{Site: Site{Token: siteToken}, Now: now, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAttempts_Parallel(t *testing.T) {
	var refused, compared atomic.Int32
	authenticator := newAuthenticator(t, func() time.Time { return noon })
	a, wrong := authenticator.signIns, authenticator.errToken()
	var guesses sync.WaitGroup
	for i := range 100 {
		guesses.Go(func() {
			err := a.try(t.Context(), netip.MustParseAddr("192.0.2.1"), fmt.Sprint("guess", i), func(string) bool {
				compared.Add(1)
				runtime.Gosched()
				return false
			}, wrong)
			if err == nil {
				t.Error("a wrong guess is let in")
			}
			if errors.Is(err, wrong) {
				refused.Add(1)
			}
		})
	}
	guesses.Wait()
	if refused.Load() != AttemptBurst || compared.Load() != AttemptBurst {
		t.Errorf("%d guesses were answered as wrong, %d were compared", refused.Load(), compared.Load())
	}
}

// If too many sessions are started with the Site's token, the newest ones stay valid.
func TestSessions_OwnersBounded(t *testing.T) {
	now := noon
	a := newAuthenticator(t, func() time.Time { return now })
	var sessions []string
	for range ownersKept + 2 {
		now = now.Add(time.Second)
		sessions = append(sessions, a.beginOwnerSession())
	}
	for i, session := range sessions {
		if holds := a.isOwnerSession(session); holds != (i >= 2) {
			t.Errorf("session %d: %v", i, holds)
		}
	}
}

// Any number of requests may use the right token from one address at once; all are accepted.
func TestAttempts_RightInParallel(t *testing.T) {
	a := newAuthenticator(t, func() time.Time { return noon })
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 200 {
				r := httptest.NewRequest("GET", "/api/v1/status", nil)
				if _, isSites, err := a.tokenHolder(r, siteToken, a.bearers); !isSites || err != nil {
					t.Errorf("refused: %v", err)
					return
				}
			}
		})
	}
	all.Wait()
}
