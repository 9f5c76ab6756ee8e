package twitch

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// TokenState is whether the bot has a token that Twitch takes.
type TokenState string

// The states of a token.
const (
	TokenMissing TokenState = "missing" // there is none
	TokenUnknown TokenState = "unknown" // Twitch wasn't asked yet, or can't be
	TokenGood    TokenState = "good"
	TokenRevoked TokenState = "revoked" // Twitch doesn't take it, nor renew it: only a new login helps
)

// TokenStatus is how things are with the bot's token.
type TokenStatus struct {
	State     TokenState
	Identity  Identity  // whose it is, as far as is known; its ExpiresIn is 0
	Missing   []string  // scopes that it lacks for the transport
	Since     time.Time // when the state began
	Detail    string    // what is wrong, in one line with the mend; may be empty
	ExpiresAt time.Time // zero where that isn't known; it is renewed before, where it can be
	Renewable bool      // whether it can; where not, it works until it expires
}

func (s TokenStatus) same(other TokenStatus) bool {
	return s.State == other.State && s.Renewable == other.Renewable && s.Detail == other.Detail && s.ExpiresAt.Equal(other.ExpiresAt) && slices.Equal(s.Missing, other.Missing) &&
		s.Identity.UserID == other.Identity.UserID && s.Identity.Login == other.Identity.Login && s.Identity.ClientID == other.Identity.ClientID
}

// knownTokens is what is known of the tokens.
type knownTokens struct {
	record   tokenRecord
	state    TokenState
	since    time.Time
	trouble  error         // why it isn't good, or what went wrong when Twitch was last asked
	filed    error         // what is wrong with the file
	unsaved  bool          // the file lacks the record
	early    time.Duration // how long before the token expires it is to be renewed
	renewed  time.Time     // when it was, here; zero for never
	vain     int           // renewals in a row that Twitch gave a refused token for
	checkAt  time.Time     // when to ask Twitch about it
	failures int           // to reach Twitch, in a row
	retryAt  time.Time     // when to try again after them
}

// unusable is why there is no sense in using the token.
func (k *knownTokens) unusable() error {
	switch k.state {
	case TokenMissing:
		return errNoToken
	case TokenRevoked:
		return ErrToken
	}
	return nil
}

// mayWork reports whether the token is good, or was when Twitch could last be asked.
func (k *knownTokens) mayWork(now time.Time) bool {
	return k.state == TokenGood || k.state == TokenUnknown && k.failures > 0 && !k.record.due(now, 0)
}

func (r tokenRecord) identity() Identity {
	return Identity{UserID: r.UserID, Login: r.Login, ClientID: r.ClientID, Scopes: r.Scopes}
}

// Status returns how things are with the token.
func (t *Tokens) Status() TokenStatus { return t.statusOf(t.look()) }

func (t *Tokens) statusOf(k knownTokens) TokenStatus {
	s := TokenStatus{
		State: k.state, Identity: k.record.identity(), Since: k.since, ExpiresAt: k.record.Expires, Renewable: t.renewable(k.record.Pair),
	}
	if s.State == "" {
		s.State = TokenUnknown // nobody has looked
	}
	if s.Identity.Scopes != nil {
		s.Missing = MissingScopes(t.Transport, s.Identity.Scopes)
	}
	switch {
	case k.state == TokenMissing:
		s.Detail = errNoToken.Error()
	case k.trouble != nil:
		s.Detail = oneLine(k.trouble.Error())
	case k.filed != nil:
		s.Detail = oneLine(k.filed.Error())
	case len(s.Missing) > 0:
		s.Detail = fmt.Sprintf("the token lacks scopes: %s: run `chatguard login` again", strings.Join(s.Missing, ", "))
	case t.ClientID != "" && k.record.ClientID != "" && t.ClientID != k.record.ClientID:
		s.Detail = "the token was made for another application than twitch.client_id: run `chatguard login` again"
	}
	return s
}

func (t *Tokens) look() knownTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// alter changes what is known, and tells those who want to know where it shows.
func (t *Tokens) alter(change func(*knownTokens)) {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.mu.Lock()
	before := t.known
	change(&t.known)
	if t.known.state != before.state {
		t.known.since = t.now()
	}
	was, is := t.statusOf(before), t.statusOf(t.known)
	differs := !is.same(was) || t.known.failures != before.failures
	if differs && t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	t.mu.Unlock()
	if is.State != was.State || is.Detail != was.Detail {
		t.log(is)
	}
	if t.Changed != nil && !is.same(was) {
		t.Changed(is)
	}
}

func (t *Tokens) log(s TokenStatus) {
	log := loggerOr(t.Logger)
	switch {
	case s.State == TokenRevoked:
		log.Error("twitch: the token is of no use any more", "trouble", s.Detail)
	case s.Detail != "" && s.State != TokenMissing:
		log.Warn("twitch: trouble with the token", "state", s.State, "trouble", s.Detail)
	case s.State == TokenGood:
		log.Info("twitch: the token is good", slog.String("login", s.Identity.Login), slog.Time("expires", s.ExpiresAt))
	}
}
