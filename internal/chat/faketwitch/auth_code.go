package faketwitch

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// codeLife is the lifetime of an authorization code.
const codeLife = 10 * time.Minute

// authorization is what an authorization code stands for.
type authorization struct {
	owner    *account
	redirect string
	nonce    string
	scopes   []string
	expires  time.Time
}

// RegisterRedirect registers an address to which people may be sent back after an authorization.
func (s *identityServer) RegisterRedirect(address string) {
	s.locked(func() { s.redirects[address] = true })
}

// checkAuthorize returns why a request for an authorization is invalid and shows an error page, or
// "" if it is valid. The caller holds mu.
func (s *identityServer) checkAuthorize(q url.Values) string {
	switch {
	case q.Get("client_id") != s.opts.ClientID:
		return "invalid client"
	case !s.redirects[q.Get("redirect_uri")]:
		return "Parameter redirect_uri does not match registered URI"
	case q.Get("response_type") != "code":
		return "Response type is not supported"
	}
	return ""
}

// Authorize approves a request for an authorization as the account login, and returns the address
// to which the browser is sent. page is the address of the request.
func (s *identityServer) Authorize(page, login string) (back string, err error) {
	return s.decideAuthorize(page, func(q url.Values) url.Values {
		s.lastID++
		code := fmt.Sprintf("fake0authorization0code%d", s.lastID)
		s.codes[code] = &authorization{
			owner: s.account(login), redirect: q.Get("redirect_uri"), nonce: q.Get("nonce"), scopes: strings.Fields(q.Get("scope")),
			expires: s.opts.Now().Add(codeLife),
		}
		return url.Values{"code": {code}, "scope": {q.Get("scope")}}
	})
}

// DenyAuthorize is like Authorize for a person who denies the request.
func (s *identityServer) DenyAuthorize(page string) (back string, err error) {
	return s.decideAuthorize(page, func(url.Values) url.Values {
		return url.Values{"error": {"access_denied"}, "error_description": {"The user denied you access"}}
	})
}

func (s *identityServer) decideAuthorize(page string, decide func(url.Values) url.Values) (back string, err error) {
	u, err := url.Parse(page)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := u.Query()
	if wrong := s.checkAuthorize(q); wrong != "" {
		return "", errors.New(wrong)
	}
	answer := decide(q)
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	return q.Get("redirect_uri") + "?" + answer.Encode(), nil
}

// showAuthorize asks whether the person authorizes the application, and as which account.
func (s *identityServer) showAuthorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	wrong := s.checkAuthorize(r.URL.Query())
	s.mu.Unlock()
	if wrong != "" {
		showPage(w, pageContent{Title: "Error", Says: []string{wrong}})
		return
	}
	showPage(w, pageContent{
		Title: "Authorize chatguard?", Says: []string{"It learns which account you are. Permissions: " + r.URL.Query().Get("scope")},
		Field: &pageField{"You are signed in as", "account", s.suggestedAccount()}, Buttons: []string{"Authorize", "Deny"},
	})
}

// suggestedAccount returns the account with which the page begins: the broadcaster of the first
// channel, or the bot.
func (s *identityServer) suggestedAccount() string {
	if len(s.opts.Channels) > 0 {
		return s.opts.Channels[0]
	}
	return s.opts.Login
}

// answerAuthorize sends the browser back with the person's decision.
func (s *identityServer) answerAuthorize(w http.ResponseWriter, r *http.Request) {
	account := strings.TrimSpace(r.PostFormValue("account"))
	back, err := "", error(nil)
	if r.PostFormValue("do") == "Deny" || account == "" {
		back, err = s.DenyAuthorize(r.URL.String())
	} else {
		back, err = s.Authorize(r.URL.String(), account)
	}
	if err != nil {
		showPage(w, pageContent{Title: "Error", Says: []string{err.Error()}})
		return
	}
	w.Header().Set("Location", back)
	w.WriteHeader(http.StatusFound)
}

// giveForCode issues a pair of tokens for an authorization code, which works once.
func (s *identityServer) giveForCode(c authCall) reply {
	code := s.codes[c.form.Get("code")]
	switch {
	case s.opts.ClientSecret == "" || c.form.Get("client_secret") != s.opts.ClientSecret:
		return s.refuseSecret(c)
	case code == nil || !c.at.Before(code.expires):
		return authRefusal(http.StatusBadRequest, "Invalid authorization code")
	case c.form.Get("redirect_uri") != code.redirect:
		return authRefusal(http.StatusBadRequest, "Parameter redirect_uri does not match registered URI")
	}
	delete(s.codes, c.form.Get("code"))
	answer := s.issue(code.owner, code.scopes)
	if slices.Contains(code.scopes, "openid") {
		answer.body.(map[string]any)["id_token"] = s.idToken(c.at, code)
	}
	return answer
}

// idToken returns an unsigned ID token. Twitch signs its ID tokens, but clients that receive one
// directly from Twitch needn't check the signature.
func (s *identityServer) idToken(at time.Time, of *authorization) string {
	part := func(v map[string]any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // maps of texts and numbers can always be encoded
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": "none", "typ": "JWT"}) + "." + part(map[string]any{
		"iss": s.AuthURL(), "aud": s.opts.ClientID, "azp": s.opts.ClientID, "sub": of.owner.id, "nonce": of.nonce, "preferred_username": of.owner.displayName,
		"iat": at.Unix(), "exp": at.Add(15 * time.Minute).Unix(),
	}) + ".unsigned"
}
