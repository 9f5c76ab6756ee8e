package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// Grants makes, lists and ends what gives people and programs access: tokens, sign-in links and
// sessions. Its methods must be safe for concurrent use. An error that isn't described here means
// that the database is failing.
type Grants interface {
	// Grants returns what is valid.
	Grants(ctx context.Context) (auth.Grants, error)
	// NewToken creates a named token that is valid for ttl; 0 means until it is revoked. The error
	// is an auth.TakenError if the name already has a token.
	NewToken(ctx context.Context, who auth.Identity, ttl time.Duration) (token string, err error)
	// NewSignInCode creates a code that allows one sign-in within ttl; 0 means the usual time.
	NewSignInCode(ctx context.Context, who auth.Identity, ttl time.Duration) (code string, err error)
	// Revoke ends a name's token, sign-in links and sessions.
	Revoke(ctx context.Context, name string) (auth.Revoked, error)
	// EndSessionByID and EndLink end the session or the link with an ID, and return whose it was.
	// ok is false if there is none.
	EndSessionByID(ctx context.Context, id string) (who auth.Identity, ok bool, err error)
	EndLink(ctx context.Context, id string) (who auth.Identity, ok bool, err error)
}

// grants answers requests about tokens, sign-in links and sessions.
type grants struct {
	store  Grants // nil if there are none
	access *access.Authenticator
	record func(context.Context, journal.Audit) (saved bool, err error) // nil means no audit
	made   *chatguard.Guard                                             // limits how many a person makes
	now    func() time.Time
	log    *slog.Logger
}

// The limits of making tokens and links.
const (
	makeBurst  = 20               // at once, per person
	makeRefill = 30 * time.Second // until one more is allowed
	mostTokens = 1000             // valid at the same time
	longestTTL = 10 * 365 * 24 * time.Hour
)

func newGrants(o *Options, with *access.Authenticator) (*grants, error) {
	made, err := access.NewBucketGuard("grants", makeBurst, makeRefill, o.Live.Guard.Now)
	return &grants{o.Grants, with, o.Record, made, o.Live.Guard.Now, o.Live.Log}, err
}

// shownGrants is the answer to GET /access.
type shownGrants struct {
	auth.Grants
	// Session is the ID of the caller's own session; empty if a token identifies the caller.
	Session string `json:"session,omitempty"`
}

// getAccess is GET /access.
func (h *grants) getAccess(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	all, err := h.store.Grants(r.Context())
	if err != nil {
		return errUnreadable("Tokens and sessions can't be listed now", err)
	}
	h.access.AddSessions(&all)
	slices.SortStableFunc(all.Sessions, func(a, b auth.Session) int { return b.Begun.Compare(a.Begun) })
	return problem.WriteJSON(w, shownGrants{all, h.access.SessionOf(who)})
}

// tokenWanted is the body of POST /tokens.
type tokenWanted struct {
	Name string      `json:"name"`
	Role auth.Access `json:"role"`
	// Expires is how long the token is valid, such as "90d". Without it, the token never expires.
	Expires string `json:"expires,omitempty"`
}

// madeToken is the answer to POST /tokens. Nothing else ever contains the token.
type madeToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires,omitzero"`
}

// postToken is POST /tokens.
func (h *grants) postToken(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted tokenWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	ttl, err := expiryOf(wanted.Expires)
	if err != nil {
		return err
	}
	if err := h.checkWanted(r.Context(), who, auth.CheckTokenName(wanted.Name), wanted.Role, auth.Roles()); err != nil {
		return err
	}
	if err := h.checkCount(r.Context()); err != nil {
		return err
	}
	token, err := h.store.NewToken(r.Context(), auth.Identity{Name: wanted.Name, Access: wanted.Role}, ttl)
	if errors.As(err, new(auth.TakenError)) {
		return problem.New(http.StatusConflict, "%s already has a token. End it first, or choose another name.", wanted.Name)
	}
	if err != nil {
		return problem.New(http.StatusServiceUnavailable, "No token can be made now: the database is failing.").Because(err)
	}
	made, detail := madeToken{Token: token}, journal.TokenDetail{Name: wanted.Name, Role: string(wanted.Role)}
	if ttl > 0 {
		made.Expires = h.now().Add(ttl)
		detail.Expires = made.Expires
	}
	h.audit(r.Context(), who, journal.TokenMade, detail)
	return problem.WriteJSON(w, made)
}

// linkWanted is the body of POST /links.
type linkWanted struct {
	Name string      `json:"name"`
	Role auth.Access `json:"role"`
}

// madeLink is the answer to POST /links.
type madeLink struct {
	Link string `json:"link" jsonschema:"Signs in once, within 15 minutes. Its host is the request's, or that of the public URL."`
}

// postLink is POST /links.
func (h *grants) postLink(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted linkWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	if err := h.checkWanted(r.Context(), who, auth.CheckTokenName(wanted.Name), wanted.Role, auth.PeoplesRoles()); err != nil {
		return err
	}
	code, err := h.store.NewSignInCode(r.Context(), auth.Identity{Name: wanted.Name, Access: wanted.Role}, 0)
	if err != nil {
		return problem.New(http.StatusServiceUnavailable, "No link can be made now: the database is failing.").Because(err)
	}
	h.audit(r.Context(), who, journal.LinkMade, journal.TokenDetail{Name: wanted.Name, Role: string(wanted.Role)})
	return problem.WriteJSON(w, madeLink{h.access.Link(r, code)})
}

// checkWanted returns a problem if the name or the role can't be used, or if the caller has made
// too many tokens and links. wrongName is the error about the name, or nil.
func (h *grants) checkWanted(ctx context.Context, who access.Caller, wrongName error, role auth.Access, roles []auth.Access) error {
	if wrongName != nil {
		return problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(wrongName))
	}
	if !slices.Contains(roles, role) {
		return problem.New(http.StatusUnprocessableEntity, "The role must be one of %s.", listed(roles))
	}
	v, err := h.made.Check(ctx, chatguard.Message{ChannelID: "grants", User: chatguard.User{ID: who.Author()}})
	switch {
	case err != nil:
		return err
	case !v.Allowed:
		return problem.New(http.StatusTooManyRequests, "You have made many tokens and links. Wait a moment.").After(v.RetryAfter)
	}
	return nil
}

func listed(roles []auth.Access) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ", ")
}

// checkCount returns a problem if there are too many tokens.
func (h *grants) checkCount(ctx context.Context) error {
	all, err := h.store.Grants(ctx)
	if err != nil {
		return errUnreadable("No token can be made now", err)
	}
	if len(all.Tokens) >= mostTokens {
		return problem.New(http.StatusConflict, "There are %d tokens. End some first.", len(all.Tokens))
	}
	return nil
}

// expiryOf parses how long a token is valid; 0 means forever.
func expiryOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	ttl, err := durations.Parse(text)
	if err != nil || ttl < time.Minute || ttl > longestTTL {
		return 0, problem.New(http.StatusUnprocessableEntity, "\"expires\" must be a duration from \"1m\" to \"3650d\", such as \"90d\", not %s.", problem.Quote(text))
	}
	return ttl, nil
}

// deleteToken is DELETE /tokens/{name}. It also ends the name's links and sessions.
func (h *grants) deleteToken(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	name := r.PathValue("name")
	ended, err := h.store.Revoke(r.Context(), name)
	switch {
	case err != nil:
		return errUnended(err)
	case ended == auth.Revoked{}:
		return problem.New(http.StatusNotFound, "%s has no token, no link and no session.", problem.Quote(name))
	}
	h.audit(r.Context(), who, journal.TokenEnded, journal.RevokedDetail{Name: name, Tokens: ended.Tokens, Links: ended.Links, Sessions: ended.Sessions})
	return problem.WriteJSON(w, ended)
}

// deleteSession is DELETE /sessions/{session}.
func (h *grants) deleteSession(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.end(w, r, who, journal.SessionEnded, "session", func(ctx context.Context, id string) (auth.Identity, bool, error) {
		if whose, ok := h.access.EndSession(id); ok {
			return whose, true, nil
		}
		return h.store.EndSessionByID(ctx, id)
	})
}

// deleteLink is DELETE /links/{link}.
func (h *grants) deleteLink(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.end(w, r, who, journal.LinkEnded, "link", func(ctx context.Context, id string) (auth.Identity, bool, error) {
		return h.store.EndLink(ctx, id)
	})
}

// end ends the session or link whose ID is in the request's path. kind is the name of that path
// parameter.
func (h *grants) end(
	w http.ResponseWriter, r *http.Request, who access.Caller, action journal.AuditAction, kind string, end func(ctx context.Context, id string) (auth.Identity, bool, error),
) error {
	whose, ok, err := end(r.Context(), r.PathValue(kind))
	switch {
	case err != nil:
		return errUnended(err)
	case !ok:
		return problem.New(http.StatusNotFound, "This has already ended. Load the list again.")
	}
	h.audit(r.Context(), who, action, journal.SignInDetail{Name: whose.Name, From: string(whose.From), Role: string(whose.Access)})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func errUnended(cause error) error {
	return problem.New(http.StatusServiceUnavailable, "This can't be ended now: the database is failing. Try again later.").Because(cause)
}

// audit records a change of the whole installation.
func (h *grants) audit(ctx context.Context, who access.Caller, action journal.AuditAction, detail journal.Detail) {
	if h.record == nil {
		return
	}
	_, err := h.record(ctx, journal.Audit{At: h.now().UTC(), Author: who.Author(), Action: action, Detail: detail})
	if err != nil {
		h.log.Error("a change of access can't be recorded in the audit", "author", who.Author(), "action", action, "error", err)
	}
}
