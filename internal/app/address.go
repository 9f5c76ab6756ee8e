package app

import (
	"context"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// Address returns the dashboard's address.
func (a *App) Address() string { return a.site.Address(a.address) }

// SignInLink returns a link that signs the owner in to the dashboard. It works once, within
// signin.SignInTime.
func (a *App) SignInLink(ctx context.Context) (string, error) {
	code, err := a.SignInCode(ctx)
	if err != nil {
		return "", err
	}
	return a.site.Link(a.address, code), nil
}

// SignInCode returns a new code that signs the owner in. The code works once, within
// signin.SignInTime.
func (a *App) SignInCode(ctx context.Context) (string, error) {
	return a.Host.Store.Tokens.NewSignInCode(ctx, auth.Identity{Name: auth.OwnerName, Access: auth.Own}, 0)
}

// SignInRedirect returns the address to which Twitch sends people who sign in by authorization
// code.
func (a *App) SignInRedirect() string {
	return browserAddress(a.site, a.address) + twitchsignin.Callback
}

// ViewerAddress returns the address of a channel's page for viewers. Viewers must open it under the
// host name to which Twitch sends them back.
func (a *App) ViewerAddress(login string) string {
	return browserAddress(a.site, a.address) + "viewer/" + login
}
