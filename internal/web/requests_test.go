package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
)

// policyPath is the API path of the tests' channel's policy.
const policyPath = "/api/v1/channels/" + channelID + "/policy"

// spammerPath is the API path of the spammer.
const spammerPath = channelPath + "/users/42"

// owned adjusts a request to be the owner's.
var owned = []func(*http.Request){asOwner}

// setHeader returns a function that sets one header of a request.
func setHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func setHost(name string) func(*http.Request) {
	return func(r *http.Request) { r.Host = name }
}

// as adds a session of somebody with this access to a request.
func (d *dashboard) as(access auth.Access) func(*http.Request) {
	d.Helper()
	code, err := d.store.Tokens.NewSignInCode(d.Context(), auth.Identity{Name: "some " + string(access), Access: access}, 0)
	if err != nil {
		d.Fatal(err)
	}
	return addCookie(d.signIn(map[string]string{"code": code}))
}

// wantProblem fails the test unless the answer is a problem with that status and text.
func (d *dashboard) wantProblem(name, method, path string, body any, adjust []func(*http.Request), status int, says string) {
	d.Helper()
	a := d.do(method, path, body, adjust...)
	if a.StatusCode != status || !strings.Contains(string(a.body), says) || a.Header.Get("Content-Type") != "application/problem+json" {
		d.Errorf("%s: %s %s %v: %s %s, want %d and %s", name, method, path, body, a.Status, a.body, status, says)
	}
}

// wantStatus fails the test unless the answer to a request has that status.
func (d *dashboard) wantStatus(what string, status int, method, path string, body any, adjust ...func(*http.Request)) {
	d.Helper()
	if a := d.do(method, path, body, adjust...); a.StatusCode != status {
		d.Errorf("%s: %s %s: %s %s, want %d", what, method, path, a.Status, a.body, status)
	}
}

// parseURL parses a valid URL.
func parseURL(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u
}

// mountInSite makes the dashboard part of a site whose users are named by a header.
func mountInSite(o *Options) {
	o.Access.Authorize = func(r *http.Request) (who auth.Identity, ok bool) {
		name := r.Header.Get("Who")
		return auth.Identity{Name: name, Access: auth.View, From: auth.FromSite}, name != ""
	}
}

// setCheckSpace adds the prefix "check:" to the IDs that servers send, as the command does.
func setCheckSpace(o *Options) { o.Check.Space = "check:" }
