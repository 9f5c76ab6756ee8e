package token

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/hostile"
)

// State says whether the bot has a token that Twitch accepts.
type State string

// The states of a token.
const (
	Missing State = "missing" // there is no token
	Unknown State = "unknown" // Twitch wasn't asked yet or can't be reached
	Good    State = "good"
	Revoked State = "revoked" // neither accepted nor renewed; needs a new login
)

// Status is the state of the bot's token.
type Status struct {
	State    State
	Identity Identity  // the owner, if known; Identity's ExpiresIn is 0
	Missing  []string  // scopes that the transport needs and the token lacks
	Since    time.Time // start of the state
	// Detail is one line that names the problem and the fix. It may be empty.
	Detail string
	// Trouble is why the token isn't good, or else the error of the last request to Twitch. It is
	// nil without such an error.
	Trouble error
	// ExpiresAt is when the token expires; zero if unknown. The token is renewed before that time
	// if possible.
	ExpiresAt time.Time
	Renewable bool // if false, the token works until it expires
}

func (s Status) isSame(other Status) bool {
	return s.State == other.State && s.Renewable == other.Renewable && s.Detail == other.Detail && s.ExpiresAt.Equal(other.ExpiresAt) && slices.Equal(s.Missing, other.Missing) &&
		s.Identity.UserID == other.Identity.UserID && s.Identity.Login == other.Identity.Login && s.Identity.ClientID == other.Identity.ClientID
}

// knowledge is what is known about the tokens.
type knowledge struct {
	record record
	state  State
	since  time.Time
	// clientID is the argument of the last UseClientID; empty if there was none.
	clientID string
	// trouble is the reason why the token isn't good, or else the error of the last request to
	// Twitch.
	trouble          error
	fileTrouble      error         // what is wrong with the file
	unsaved          bool          // the file doesn't contain the record
	renewEarly       time.Duration // time before expiry at which the token is renewed
	renewed          time.Time     // last renewal by this process; zero for never
	rejectedRenewals int           // consecutive renewals whose token was refused
	checkAt          time.Time     // next validation with Twitch
	failures         int           // consecutive failures to reach Twitch
	retryAt          time.Time     // next try after failures
}

// unusableError returns why the token must not be used, or nil.
func (k *knowledge) unusableError() error {
	switch k.state {
	case Missing:
		return errNoToken
	case Revoked:
		return twitch.ErrToken
	}
	return nil
}

// isUsable reports whether the token is good, or hasn't expired while Twitch can't be asked.
func (k *knowledge) isUsable(now time.Time) bool {
	return k.state == Good || k.state == Unknown && k.failures > 0 && !k.record.isDue(now, 0)
}

func (r record) identity() Identity {
	return Identity{UserID: r.UserID, Login: r.Login, ClientID: r.ClientID, Scopes: r.Scopes}
}

// UseClientID says that the configuration now names another application.
func (t *Store) UseClientID(id string) {
	t.update(func(k *knowledge) { k.clientID = id })
}

// Status returns the status of the token.
func (t *Store) Status() Status { return t.statusOf(t.current()) }

func (t *Store) statusOf(k knowledge) Status {
	s := Status{
		State: k.state, Identity: k.record.identity(), Since: k.since, ExpiresAt: k.record.Expires, Renewable: t.isRenewable(k.record.Pair), Trouble: k.trouble,
	}
	s.State = cmp.Or(s.State, Unknown) // nothing loaded yet
	configured := cmp.Or(k.clientID, t.ClientID)
	if s.Identity.Scopes != nil {
		s.Missing = MissingScopes(t.Transport, s.Identity.Scopes)
	}
	switch {
	case k.state == Missing:
		s.Detail = errNoToken.Error()
	case k.trouble != nil:
		s.Detail = hostile.Detail(k.trouble.Error())
	case k.fileTrouble != nil:
		s.Detail = hostile.Detail(k.fileTrouble.Error())
	case len(s.Missing) > 0:
		s.Detail = fmt.Sprintf("the token lacks scopes: %s: run `chatguard login` again", strings.Join(s.Missing, ", "))
	case configured != "" && k.record.ClientID != "" && configured != k.record.ClientID:
		s.Detail = "the token was made for a different application than twitch.client_id: run `chatguard login` again"
	}
	return s
}

func (t *Store) current() knowledge {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// update changes what is known. If the status has changed, it notifies callers of Wait, and calls
// Changed.
func (t *Store) update(change func(*knowledge)) {
	t.tellMu.Lock()
	defer t.tellMu.Unlock()
	t.mu.Lock()
	before := t.known
	change(&t.known)
	if t.known.state != before.state {
		t.known.since = t.Clock.Now()
	}
	was, is := t.statusOf(before), t.statusOf(t.known)
	differs := !is.isSame(was) || t.known.failures != before.failures
	if differs && t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	t.mu.Unlock()
	if is.State != was.State || is.Detail != was.Detail {
		t.log(is)
	}
	if t.Changed != nil && !is.isSame(was) {
		t.Changed(is)
	}
}

func (t *Store) log(s Status) {
	log := twitch.LoggerOr(t.Logger)
	switch {
	case s.State == Revoked:
		log.Error("twitch: the token is no longer valid", "trouble", s.Detail)
	case s.Detail != "" && s.State != Missing:
		log.Warn("twitch: trouble with the token", "state", s.State, "trouble", s.Detail)
	case s.State == Good:
		log.Info("twitch: the token is good", slog.String("login", s.Identity.Login), slog.Time("expires", s.ExpiresAt))
	}
}
