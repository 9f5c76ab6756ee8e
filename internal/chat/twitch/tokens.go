package twitch

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
)

// Tokens keep the access token of the bot's account good: they renew it before it expires and when Twitch refuses it, once for all who ask, keep it in a
// file, and take up what another process writes there, a new login say. Fill the fields, then use Tokens from any goroutine; the fields are not to be
// changed after that. Run does what time asks for; Close when done.
//
// Refresh tokens can be used once only, so a new pair is stored before it is used, and two processes with the same file renew it one after the other.
// Trouble of Twitch's or of the disk never makes a token count as refused: that is TokenUnknown, or a Detail.
type Tokens struct {
	AuthURL   string // of the identity server; empty means Twitch's
	ClientID  string // of the application, where the file doesn't say which one the tokens were made for
	File      string // path of the token file; empty keeps the tokens in memory only
	Access    string // from the environment; it and Refresh go into the file when they are new to it, and the file wins after that
	Refresh   string // from the environment
	Transport string // that the token is to do for, as MissingScopes takes it

	HTTP    *http.Client      // nil means one of its own, with timeouts, that follows no redirects
	Logger  *slog.Logger      // nil logs nothing
	Now     func() time.Time  // nil means time.Now
	Changed func(TokenStatus) // told of every change, in order; must not block, nor call anything of Tokens but Status; nil tells nobody

	sleep func(context.Context, time.Duration) error // nil means pause

	own struct {
		once   sync.Once
		server authServer
	}
	loaded  atomic.Bool
	filing  sync.Mutex // held by the one who deals with the file and the identity server; taken before the two below
	onDisk  []byte     // the file's contents when last read or written; guarded by filing
	telling sync.Mutex // held while Changed is told; taken before mu

	mu      sync.Mutex
	known   knownTokens // all below are guarded by mu
	renewal *renewal    // nil while none is under way
	closed  bool
	changed chan struct{} // closed at the next change; nil while nobody waits for one
}

// errNoToken is ErrToken's sister for a bot that never had one.
var errNoToken = errors.New("there is no token of the bot's account: run `chatguard login`")

// Token returns an access token that is good as far as is known. It asks Twitch only where the token is about to expire. ErrToken is for one that was
// refused; ErrUnavailable for one that has expired while Twitch can't be reached.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	if err := t.Load(ctx); err != nil {
		return "", err
	}
	k, now := t.look(), t.now()
	if err := k.unusable(); err != nil {
		return "", err
	}
	if !k.record.due(now, k.early) {
		return k.record.Access, nil
	}
	err := t.renew(ctx, k.record.Access)
	switch {
	case err == nil:
		k = t.look()
		return k.record.Access, k.unusable()
	case !k.record.due(now, 0):
		return k.record.Access, nil // it is good for a moment still
	}
	return "", err
}

// fresh is how long a token that Twitch refuses right after giving it isn't renewed again: something else must be wrong. Where that goes on, it
// is longer each time, but no longer than checkEvery.
const fresh = time.Minute

// stayFresh is for how long the token isn't renewed again because it is refused.
func (k *knownTokens) stayFresh() time.Duration {
	return min(fresh<<min(k.vain, 10), checkEvery)
}

// isFresh reports whether there is no sense in renewing the token because it is refused.
func (k *knownTokens) isFresh(now time.Time) bool {
	return !k.renewed.IsZero() && now.Sub(k.renewed) < k.stayFresh()
}

// Refused is to be called with a token that Twitch has answered with 401. It renews the token, once for all who call meanwhile, and returns nil when
// there is another one to try with. A caller whose context ends leaves; the renewal goes on.
func (t *Tokens) Refused(ctx context.Context, token string) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	k := t.look()
	switch {
	case token != k.record.Access:
		return nil
	case k.unusable() != nil:
		return k.unusable()
	case k.isFresh(t.now()):
		t.alter(func(k *knownTokens) { k.checkAt = t.now() })
		return fmt.Errorf("%w (it is new: look whether twitch.client_id is the application's that it was made for)", ErrToken)
	}
	return t.renew(ctx, token)
}

// Wait returns whose the token is as soon as there is a good one, or the context's error. It needs Run to be running.
func (t *Tokens) Wait(ctx context.Context) (Identity, error) {
	for {
		t.mu.Lock()
		k := t.known
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		if id := k.record.identity(); id.UserID != "" && k.mayWork(t.now()) {
			return id, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Identity{}, ctx.Err()
		}
	}
}

// Close waits for a renewal that is under way, and lets none begin.
func (t *Tokens) Close() {
	t.mu.Lock()
	t.closed = true
	r := t.renewal
	t.mu.Unlock()
	if r != nil {
		<-r.done
	}
	t.server().client.CloseIdleConnections()
}

func (t *Tokens) server() authServer {
	t.own.once.Do(func() {
		t.own.server = authServer{url: t.AuthURL, client: t.HTTP, now: t.now}
		if t.HTTP == nil {
			t.own.server.client = newClient()
		}
	})
	return t.own.server
}

func (t *Tokens) file() tokenFile { return tokenFile{t.File} }

// clientOf is the application that a pair was made for.
func (t *Tokens) clientOf(p Pair) string { return cmp.Or(p.ClientID, t.ClientID) }

func (t *Tokens) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

func (t *Tokens) pause(ctx context.Context, d time.Duration) error {
	if t.sleep == nil {
		return pause(ctx, d)
	}
	return t.sleep(ctx, d)
}
