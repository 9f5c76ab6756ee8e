package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
)

// balancer sends each request to the next node, in turn. It stands in for Caddy.
type balancer struct {
	addresses []string
	next      atomic.Uint64
	transport http.Transport
}

// newBalancer returns a handler that spreads the messages over the nodes, and passes everything
// else to the page. Close its idle connections at the end.
func newBalancer(page http.Handler, addresses []string) (handler http.Handler, closeIdle func()) {
	b := &balancer{addresses: addresses}
	proxy := &httputil.ReverseProxy{
		Transport: b,
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http"; r.SetXForwarded() },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "The message reached no node: "+err.Error(), http.StatusBadGateway)
		},
	}
	mux := http.NewServeMux()
	mux.Handle("POST /messages", http.MaxBytesHandler(proxy, mostText))
	mux.Handle("/", page)
	return mux, b.transport.CloseIdleConnections
}

// RoundTrip sends a request to the next node that accepts a connection. It never sends a message to
// two nodes, which might both count it.
func (b *balancer) RoundTrip(r *http.Request) (response *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for range b.addresses {
		attempt := r.Clone(r.Context())
		attempt.URL.Host = b.addresses[(b.next.Add(1)-1)%uint64(len(b.addresses))]
		attempt.Body = io.NopCloser(bytes.NewReader(body))
		if response, err = b.transport.RoundTrip(attempt); !isDialError(err) {
			return response, err
		}
	}
	return nil, err
}

func isDialError(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == "dial"
}
