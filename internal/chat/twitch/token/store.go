// Package token keeps the access token of the bot's account valid. A Store holds it in memory and
// in a file, and renews it; a DeviceLogin gets the first one. An Application gets tokens of people
// who sign in to the dashboard, which are kept elsewhere.
//
// It knows nothing about chat or Helix.
package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/clock"
)

// Store keeps the access token of the bot's account valid. It renews the token before it expires
// and when Twitch refuses it, once for all callers. It stores the token in a file. It also loads
// what another process writes to the file, for example a new login. Set the fields before the first
// use, and don't change them after that. A Store is safe for concurrent use. Run does the periodic
// work; call Close when done.
//
// A refresh token may work only once. A new pair is therefore stored before it is used, and two
// processes with the same file renew it one after the other. A failure of Twitch or of the disk
// never makes a token count as refused. The state is then Unknown, or the Detail names the failure.
type Store struct {
	AuthURL string // of the identity server; empty means Twitch's
	// ClientID is the application to use if the file doesn't say which one the tokens were made
	// for.
	ClientID string
	// ClientSecret is the secret of that application. It is empty if the application has none, such
	// as one of Twitch's type Public.
	ClientSecret string
	// File is the path of the token file; empty keeps the tokens in memory only.
	File string
	// Access is the access token from the environment. Access and Refresh are stored in the file if
	// the file has never contained them. After that, the file takes precedence.
	Access    string
	Refresh   string // refresh token from the environment
	Transport string // transport for MissingScopes

	// HTTP is the client to use. Nil means a separate client with timeouts that follows no
	// redirects.
	HTTP   *http.Client
	Logger *slog.Logger // nil logs nothing
	Clock  clock.Clock  // the wall clock, unless a test replaces it
	// Changed receives each new Status, in order. It must not block, and may call no method of the
	// Store except Status. Nil means no callback.
	Changed func(Status)

	own struct {
		once   sync.Once
		server authServer
	}
	loaded atomic.Bool
	// fileMu is held while using the file or the identity server. It is acquired before tellMu and
	// mu.
	fileMu sync.Mutex
	// onDisk is the file's content when last read or written. It is guarded by fileMu.
	onDisk []byte
	tellMu sync.Mutex // held while Changed is called; acquired before mu

	mu sync.Mutex
	// known and the fields below are guarded by mu.
	known   knowledge
	renewal *renewal // nil if none is in progress
	closed  bool
	changed chan struct{} // closed at the next change; nil if nobody waits
}

// errNoToken is the error for a bot that never had a token. ErrToken is for one whose token was
// refused.
var errNoToken = errors.New("there is no token of the bot's account: run `chatguard login`")

// Token returns an access token that isn't known to be invalid. It contacts Twitch only if the
// token is about to expire. The error is ErrToken if the token was refused, and ErrUnavailable if
// the token has expired while Twitch can't be reached.
func (t *Store) Token(ctx context.Context) (string, error) {
	if err := t.Load(ctx); err != nil {
		return "", err
	}
	k, now := t.current(), t.Clock.Now()
	if err := k.unusableError(); err != nil {
		return "", err
	}
	if !k.record.isDue(now, k.renewEarly) {
		return k.record.Access, nil
	}
	err := t.renew(ctx, k.record.Access)
	switch {
	case err == nil:
		k = t.current()
		return k.record.Access, k.unusableError()
	case !k.record.isDue(now, 0):
		return k.record.Access, nil // valid for a moment longer
	}
	return "", err
}

// freshFor is the time after a renewal in which a refusal doesn't cause another renewal. If Twitch
// refuses a token that it has just issued, renewing the token doesn't help. If Twitch keeps
// refusing new tokens, the time grows up to checkEvery.
const freshFor = time.Minute

// freshTime returns the time after a renewal in which a refusal doesn't cause another renewal.
func (k *knowledge) freshTime() time.Duration {
	return min(freshFor<<min(k.rejectedRenewals, 10), checkEvery)
}

// isFresh reports whether the token is too new to be renewed because of a refusal.
func (k *knowledge) isFresh(now time.Time) bool {
	return !k.renewed.IsZero() && now.Sub(k.renewed) < k.freshTime()
}

// Refused must be called with a token that Twitch has answered with 401. It renews the token, once
// for all concurrent callers, and returns nil if there is another token to try. The renewal
// continues even if a caller's context ends.
func (t *Store) Refused(ctx context.Context, token string) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	k := t.current()
	switch {
	case token != k.record.Access:
		return nil
	case k.unusableError() != nil:
		return k.unusableError()
	case k.isFresh(t.Clock.Now()):
		t.update(func(k *knowledge) { k.checkAt = t.Clock.Now() })
		return fmt.Errorf("%w (it is new: check that twitch.client_id is the application that it was made for)", twitch.ErrToken)
	}
	return t.renew(ctx, token)
}

// Wait waits for a good token and returns its owner, or the context's error. Run must be running.
func (t *Store) Wait(ctx context.Context) (Identity, error) {
	for {
		t.mu.Lock()
		k := t.known
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		if id := k.record.identity(); id.UserID != "" && k.isUsable(t.Clock.Now()) {
			return id, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Identity{}, ctx.Err()
		}
	}
}

// Close waits for a renewal in progress and prevents new ones.
func (t *Store) Close() {
	t.mu.Lock()
	t.closed = true
	r := t.renewal
	t.mu.Unlock()
	if r != nil {
		<-r.done
	}
	t.server().client.CloseIdleConnections()
}

func (t *Store) server() authServer {
	t.own.once.Do(func() {
		t.own.server = authServer{url: t.AuthURL, client: cmp.Or(t.HTTP, api.NewClient()), now: t.Clock.Now, clientID: t.ClientID, secret: t.ClientSecret}
	})
	return t.own.server
}

func (t *Store) file() file { return file{t.File} }

// clientOf returns the application that a pair was made for.
func (t *Store) clientOf(p Pair) string { return cmp.Or(p.ClientID, t.ClientID) }
