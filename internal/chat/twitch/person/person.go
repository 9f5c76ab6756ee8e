// Package person asks Twitch about people with their own tokens: who they are, and in which
// channels they are moderators. A Person has the tokens of one sign-in, in memory only.
//
// It knows nothing about dashboards, sessions and rights.
package person

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

// ModeratorScopes are what a person grants so that Moderates works.
var ModeratorScopes = []string{"user:read:moderated_channels"}

// ErrOther means that a renewed token belongs to another account than before.
var ErrOther = errors.New("the token belongs to another account now")

// Twitch is how to reach Twitch for people who sign in: the application that they authorize, and
// the address of its API. Its fields must not change after the first use. It is safe for concurrent
// use.
type Twitch struct {
	token.Application
	HelixURL string // of Helix; empty means Twitch's
	// Logger receives notes about requests; nil logs nothing.
	Logger *slog.Logger
}

// Account is an account on Twitch. The ID stays the same for good; the login can change.
type Account struct {
	ID    string
	Login string
}

// Person is somebody who has authorized the application. Create one with New. It is safe for
// concurrent use; calls wait for each other. Printing a Person shows no tokens.
type Person struct {
	twitch *Twitch
	helix  *helix.Client
	needs  []string // scopes

	mu sync.Mutex // held while Twitch is asked
	// pair and the fields below are guarded by mu.
	pair    token.Pair
	account Account
	left    bool
}

// String shows no tokens.
func (p *Person) String() string { return "a person on Twitch" }

// LogValue shows no tokens.
func (p *Person) LogValue() slog.Value { return slog.StringValue(p.String()) }

// New returns a Person with these tokens. It sends no request. Identify and Moderates return an
// error if the tokens lack one of the scopes, or belong to another application.
func (t *Twitch) New(pair token.Pair, scopes []string) *Person {
	p := &Person{twitch: t, needs: scopes, pair: pair}
	p.helix = &helix.Client{
		BaseURL: t.HelixURL, HTTP: t.HTTP, Clock: t.Clock, Logger: t.Logger, Once: true,
		ClientID: func() string { return t.ClientID },
		Token:    func(context.Context) (string, error) { return p.pair.Access, nil }, // called while mu is held
	}
	return p
}

// Identify asks Twitch who the person is.
func (p *Person) Identify(ctx context.Context) (Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.identify(ctx)
	return p.account, err
}

// identify asks Twitch whose the token is. The caller holds mu.
func (p *Person) identify(ctx context.Context) error {
	if p.left {
		return twitch.ErrToken
	}
	id, err := p.twitch.Validate(ctx, p.pair)
	switch {
	case err != nil:
		return err
	case p.account.ID != "" && id.UserID != p.account.ID:
		return ErrOther
	}
	for _, scope := range p.needs {
		if !slices.Contains(id.Scopes, scope) {
			return fmt.Errorf("%w: %s", twitch.ErrScope, scope)
		}
	}
	p.account = Account{ID: id.UserID, Login: id.Login}
	return nil
}

// Moderates asks Twitch who the person is, and returns the IDs of the channels in which they are a
// moderator, without their own channel. It needs ModeratorScopes. It renews the token if it has
// expired, and sends each request only once. The error is ErrToken if Twitch no longer accepts the
// token, and ErrOther if the token belongs to another account now. After these errors, the Person
// can't be used any more. Any other error may be temporary.
func (p *Person) Moderates(ctx context.Context) (account Account, channelIDs []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.renewIfDue(ctx); err != nil {
		return Account{}, nil, err
	}
	if err := p.identify(ctx); err != nil {
		return Account{}, nil, err
	}
	channelIDs, err = p.helix.ModeratedChannels(ctx, p.account.ID)
	return p.account, channelIDs, err
}

// renewIfDue renews the token if it has expired. A token that Twitch refuses earlier isn't renewed:
// the person has disconnected the application. The caller holds mu.
func (p *Person) renewIfDue(ctx context.Context) error {
	if p.left || !p.twitch.IsDue(p.pair) {
		return nil
	}
	if p.pair.Refresh == "" {
		return twitch.ErrToken
	}
	// A refresh token may work only once, so finish even if nobody waits any longer.
	pair, err := p.twitch.Renew(context.WithoutCancel(ctx), p.pair)
	if errors.Is(err, token.ErrSecret) {
		return fmt.Errorf("%w (%w)", twitch.ErrUnavailable, token.ErrSecret)
	}
	if err == nil {
		p.pair = pair
	}
	return err
}

// Name asks Twitch for the display name of a person who has been identified.
func (p *Person) Name(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return "", twitch.ErrToken
	}
	self, err := p.helix.Self(ctx)
	switch {
	case err != nil:
		return "", err
	case self.ID != p.account.ID:
		return "", ErrOther
	}
	return self.DisplayName, nil
}

// Leave forgets the tokens, and asks Twitch to forget the access token, too. After an error, the
// access token may stay valid until it expires.
func (p *Person) Leave(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pair := p.pair
	p.pair, p.left = token.Pair{}, true
	if pair.Access == "" {
		return nil
	}
	return p.twitch.Revoke(ctx, pair)
}
