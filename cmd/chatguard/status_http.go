package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/internal/request"
)

// refusedOnWindows is WSAECONNREFUSED, which differs from syscall.ECONNREFUSED on Windows.
const refusedOnWindows = syscall.Errno(10061)

// askDashboard asks the dashboard at an address by GET /healthz, and by GET /readyz unless only its
// health is asked for.
func askDashboard(ctx context.Context, o statusOptions) (s request.Status, err error) {
	base, err := dashboardURL(o.address)
	if err != nil {
		return s, usageError{err}
	}
	ctx, stop := context.WithTimeout(ctx, time.Duration(o.timeout))
	defer stop()
	client := probeClient(base)
	defer client.CloseIdleConnections()
	s, err = probe(ctx, client, base, "healthz")
	if err == nil && !o.health {
		s, err = probe(ctx, client, base, "readyz")
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, refusedOnWindows):
		err = fmt.Errorf("nothing listens at %s: start chatguard, or give the address that it printed", base)
		return failedStatus(request.NotRunning, err), err
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s hasn't answered within %v", base, time.Duration(o.timeout))
	}
	if err != nil {
		return failedStatus(request.NoAnswer, err), err
	}
	return s, nil
}

// dashboardURL parses the address of a dashboard. It adds a missing scheme.
func dashboardURL(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("--address: want the address of a dashboard, such as http://127.0.0.1:8080")
	}
	return base, nil
}

// probeClient returns a client for probes. It accepts any certificate from this machine. The
// certificate is for the name that people use, and nothing secret is sent.
func probeClient(base *url.URL) *http.Client {
	addr, err := netip.ParseAddr(base.Hostname())
	local := err == nil && addr.IsLoopback() || base.Hostname() == "localhost"
	return &http.Client{Transport: &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     new(net.Dialer).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: local},
	}}
}

// probe sends a GET request to path, and returns the state in the answer.
func probe(ctx context.Context, client *http.Client, base *url.URL, path string) (s request.Status, err error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(path).String(), nil)
	if err != nil {
		return s, err
	}
	answer, err := client.Do(ask)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound && path == "readyz" {
		return request.Status{State: request.OK, Problems: []string{}}, nil // the Lab is only healthy
	}
	var told struct {
		Status  request.State
		Reasons []string
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&told)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return s, err
	case err != nil, told.Status != request.OK && told.Status != request.Degraded && told.Status != request.Unavailable:
		return s, fmt.Errorf("%s answers with status %d, but not as chatguard does: check the address", base, answer.StatusCode)
	}
	s = request.Status{State: told.Status, Problems: append([]string{}, told.Reasons...)}
	if told.Status != request.OK && len(told.Reasons) == 0 {
		s.Problems = append(s.Problems, fmt.Sprintf("%s is %s; only `chatguard status` beside its database, or a person who is signed in, learns why", base, told.Status))
	}
	return s, nil
}
