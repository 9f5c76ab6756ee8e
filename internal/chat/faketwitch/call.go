package faketwitch

import (
	"io"
	"net/http"
	"net/url"
	"time"
)

// call is a request to an endpoint.
type call struct {
	at     time.Time
	user   account  // owner of the token
	scopes []string // scopes of the token
	query  url.Values
	body   []byte
}

// receive records when a request arrived, and reads it.
func (s *state) receive(r *http.Request) (*Request, call) {
	c := call{at: s.opts.Now(), query: r.URL.Query()}
	// ignore the error: a truncated body isn't valid JSON
	c.body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20))
	return &Request{At: c.at, Client: r.RemoteAddr, Method: r.Method, Path: r.URL.Path, Query: c.query, Header: r.Header, Body: string(c.body)}, c
}
