package app

import (
	"context"
	"net/url"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/access"
)

// Address returns the dashboard's address.
func (a *App) Address() string { return a.site.Address(a.address) }

// SignInLink returns a link that signs the owner in to the dashboard. It works once, within
// persist.SignInTime.
func (a *App) SignInLink(ctx context.Context) (string, error) {
	code, err := a.SignInCode(ctx)
	if err != nil {
		return "", err
	}
	return a.site.Link(a.address, code), nil
}

// SignInCode returns the code of such a link.
func (a *App) SignInCode(ctx context.Context) (string, error) {
	return a.Host.Store.Tokens.NewSignInCode(ctx, auth.Identity{Name: auth.OwnerName, Access: auth.Own}, 0)
}

// Site returns the configured address of the dashboard.
func Site(w config.Web) access.Site {
	s := access.Site{Listen: w.Listen, TLSCert: w.TLSCert, TLSKey: w.TLSKey, Token: string(w.Token)}
	if w.PublicURL != "" {
		s.PublicURL, _ = url.Parse(w.PublicURL) // validated with the configuration
	}
	for _, p := range w.TrustedProxies {
		s.TrustedProxies = append(s.TrustedProxies, p.Prefix)
	}
	return s
}
