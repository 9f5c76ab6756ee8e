package access

import (
	"net/http"

	"github.com/chatguard/chatguard/internal/auth"
)

// AddSessions adds to g the sessions that the Store does not have: those that were started with the
// Site's token, and those of Members. It also adds when tokens and sessions were last used.
func (a *Authenticator) AddSessions(g *auth.Grants) {
	g.Sessions = append(g.Sessions, a.ownerSessions()...)
	if a.opts.Members != nil {
		g.Sessions = append(g.Sessions, a.opts.Members.List()...)
	}
	for i := range g.Sessions {
		if last := a.uses.last(g.Sessions[i].ID); last.After(g.Sessions[i].Used) {
			g.Sessions[i].Used = last
		}
	}
	for i := range g.Tokens {
		g.Tokens[i].Used = a.uses.last(tokenUse(g.Tokens[i].Identity))
	}
}

// tokenUse returns the ID under which the use of a named token is recorded.
func tokenUse(who auth.Identity) string { return who.Author() }

func (a *Authenticator) ownerSessions() (list []auth.Session) {
	now := a.opts.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for session, ends := range a.owners {
		if now.Before(ends) {
			list = append(list, auth.Session{Identity: siteOwner, ID: SessionID(session), Begun: ends.Add(-sessionLife), Expires: ends})
		}
	}
	return list
}

// EndSession ends one of the sessions that AddSessions adds. ok is false if it isn't one of them.
func (a *Authenticator) EndSession(id string) (who auth.Identity, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for session := range a.owners {
		if SessionID(session) == id {
			delete(a.owners, session)
			return siteOwner, true
		}
	}
	if a.opts.Members == nil {
		return who, false
	}
	for _, s := range a.opts.Members.List() {
		if s.ID == id {
			return s.Identity, a.opts.Members.EndByID(id)
		}
	}
	return who, false
}

// SessionOf returns the ID of the session that identifies the caller, or "" if none does.
func (a *Authenticator) SessionOf(who Caller) string {
	if who.session == "" {
		return ""
	}
	return SessionID(who.session)
}

// Link returns the address that signs in with a code, as the sender of a request reaches the Site.
func (a *Authenticator) Link(r *http.Request, code string) string {
	site := a.opts.Site
	if site.PublicURL != nil {
		return site.Link("", code)
	}
	scheme := "http"
	if site.isSecure(r) {
		scheme = "https"
	}
	return scheme + "://" + r.Host + "/#signin=" + code
}
