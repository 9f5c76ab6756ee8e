package checkclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer returns an answer with that status and body.
func answer(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
}

// document returns a handler that answers with a problem document.
func document(status int, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"detail": %q}`, detail)
	}
}

// wantUnchecked fails the test unless messages pass unchecked, without an error.
func wantUnchecked(t *testing.T, client *checkclient.Client) {
	t.Helper()
	m := from("1")
	m.Cost = 5
	v, err := client.Check(t.Context(), m)
	if err != nil || !v.Allowed || !v.Degraded || v.Tightest != "" || v.Remaining != -1 || v.Spent != 0 || v.Key() != m.Key() || v.At.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	if taken, v, err := client.CheckUpTo(t.Context(), m); taken != 5 || err != nil || !v.Allowed || !v.Degraded {
		t.Errorf("up to: %d, %v, %v", taken, v, err)
	}
	if err := client.Refund(t.Context(), v); err != nil {
		t.Errorf("a refund of an unchecked message: %v", err)
	}
	v.Spent = 1
	if err := client.Refund(t.Context(), v); !errors.Is(err, checkclient.ErrUnavailable) {
		t.Errorf("a refund: %v", err)
	}
}

// Messages pass unchecked if chatguard can't be reached, or hangs.
func TestClient_FailsOpen_NoServer(t *testing.T) {
	hung, err := net.Listen("tcp", "127.0.0.1:0") // it never accepts
	must(t, err)
	defer hung.Close()
	for _, address := range []string{hung.Addr().String(), "127.0.0.1:1"} {
		wantUnchecked(t, newClient(t, "http://"+address, &checkclient.Options{Timeout: 50 * time.Millisecond}))
		client := newClient(t, "http://"+address, &checkclient.Options{Timeout: 50 * time.Millisecond, FailClosed: true})
		if v, err := client.Check(t.Context(), from("1")); !errors.Is(err, checkclient.ErrUnavailable) || v.Allowed {
			t.Errorf("closed: %v, %v", v, err)
		}
	}
}

// Messages pass unchecked if something else answers, or if chatguard fails.
func TestClient_FailsOpen_NoVerdict(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"a page":              func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"no verdict":          func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"allowed": true}`) },
		"null":                func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `null`) },
		"nothing":             func(http.ResponseWriter, *http.Request) {},
		"too busy":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"a bad gateway":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"a closed connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"at":`)
		},
		"a problem":             document(http.StatusServiceUnavailable, "Tokens can't be checked now."),
		"too many wrong tokens": document(http.StatusTooManyRequests, "Too many wrong tokens from your address."),
		"too slow":              document(http.StatusRequestTimeout, "The request took too long."),
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handle)
			defer s.Close()
			wantUnchecked(t, newClient(t, s.URL, &checkclient.Options{MaxFailures: 100}))
		})
	}
}

// A verdict that doesn't say how much may be shown is no answer to CheckUpTo.
func TestClient_CheckUpTo_NoTaken(t *testing.T) {
	client := newClient(t, "http://localhost", &checkclient.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
		return answer(http.StatusOK, "application/json", verdict), nil
	})})
	if taken, v, err := client.CheckUpTo(t.Context(), from("1")); taken != 1 || err != nil || !v.Degraded {
		t.Errorf("%d, %v, %v", taken, v, err)
	}
}

// A mistake is an error that says the fix, however often it happens. Nothing is allowed then.
func TestClient_Mistakes(t *testing.T) {
	const document = "application/problem+json; charset=utf-8"
	for _, c := range []struct {
		answer *http.Response
		says   string
	}{
		{answer(401, document, `{"detail": "This token is unknown."}`), "checkclient: status 401: This token is unknown."},
		{answer(403, document, `{"detail": "anna has view access; this needs check access."}`),
			`this needs check access. "chatguard token make NAME --role check" makes a token with that access.`},
		{answer(404, document, `{"detail": "There is no such page."}`), "without /api/v1."},
		{answer(404, "text/plain", "not found"), "The answer isn't chatguard's. The base URL must be the dashboard's address, without /api/v1."},
		{answer(422, document, `{"detail": "cost is -1."}`), "status 422: cost is -1."},
		{&http.Response{StatusCode: 301, Header: http.Header{"Location": {"https://localhost/api/v1/check"}}, Body: http.NoBody},
			`The base URL redirects to "https://localhost/api/v1/check". Use the address to which it leads.`},
	} {
		text, _ := io.ReadAll(c.answer.Body) // from memory
		client := newClient(t, "http://localhost", &checkclient.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
			a := *c.answer
			a.Body = io.NopCloser(bytes.NewReader(text))
			return &a, nil
		})})
		for range 5 {
			v, err := client.Check(t.Context(), from("1"))
			var mistake *checkclient.Error
			if !errors.As(err, &mistake) || mistake.Status != c.answer.StatusCode || !strings.Contains(err.Error(), c.says) || v != (chatguard.Verdict{}) {
				t.Errorf("%v, %v, want %s", v, err, c.says)
			}
		}
		if err := client.Refund(t.Context(), chatguard.Verdict{Spent: 1}); !errors.As(err, new(*checkclient.Error)) {
			t.Errorf("a refund: %v", err)
		}
	}
}

// A wrong token and a wrong path are mistakes for the real server, too.
func TestClient_WrongTokenOrPath(t *testing.T) {
	s, _ := serve(t, burst)
	for url, wrong := range map[string]string{s.URL: "wrong", s.URL + "/api/v1": token} {
		client, err := checkclient.New(url, wrong, &checkclient.Options{Timeout: patience})
		must(t, err)
		defer client.CloseIdleConnections()
		if v, err := client.Check(t.Context(), from("1")); !errors.As(err, new(*checkclient.Error)) || v.Allowed {
			t.Errorf("%v, %v", v, err)
		}
	}
}

// If the caller's context ends, Check returns its error. That says nothing about chatguard, so the
// Client doesn't pause.
func TestClient_Context(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan bool, 10)
		client := newClient(t, "http://localhost", &checkclient.Options{Timeout: time.Hour, MaxFailures: 1, Transport: transport(func(r *http.Request) (*http.Response, error) {
			asked <- true
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-asked
				cancel()
			}()
			if v, err := client.Check(ctx, from("1")); !errors.Is(err, context.Canceled) || v.Allowed {
				t.Errorf("cancelled: %v, %v", v, err)
			}
			if v, err := client.Check(ctx, from("1")); !errors.Is(err, context.Canceled) || v.Allowed {
				t.Errorf("cancelled before: %v, %v", v, err)
			}
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			if v, err := client.Check(ctx, from("1")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, checkclient.ErrUnavailable) || v != (chatguard.Verdict{}) {
				t.Errorf("deadline: %v, %v", v, err)
			}
			cancel()
		}
		if len(asked) != 3 {
			t.Errorf("%d requests with a deadline, want 3", len(asked))
		}
	})
}

// The log says what a server answers instead of a verdict.
func TestClient_LogsDetail(t *testing.T) {
	var log bytes.Buffer
	client := newClient(t, "http://localhost", &checkclient.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Transport: transport(func(*http.Request) (*http.Response, error) {
		return answer(http.StatusTooManyRequests, "application/problem+json", `{"detail": "Too many wrong tokens from your address."}`), nil
	})})
	if v, err := client.Check(t.Context(), from("1")); err != nil || !v.Degraded || !strings.Contains(log.String(), "status 429: Too many wrong tokens from your address.") {
		t.Errorf("%v, %v, log %s", v, err, log.String())
	}
}

// The log says once that chatguard fails and once that it answers again, at most once a minute.
func TestClient_Logs(t *testing.T) {
	s, err := start(burst)
	must(t, err)
	defer s.Close()
	var log bytes.Buffer
	down := true
	client := newClient(t, s.URL, &checkclient.Options{
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: s.clock.Now, Pause: time.Second, MaxFailures: 2, Timeout: patience,
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			if down {
				return nil, errors.New("the network is down")
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
	})
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, step := range []struct {
		after        time.Duration
		down         bool
		warns, infos int // in the log so far
	}{
		{0, false, 0, 0}, {0, true, 1, 0}, {0, true, 1, 0}, {0, true, 1, 0}, {time.Second, true, 1, 0}, {time.Second, false, 1, 1},
		{0, true, 1, 1}, {0, false, 1, 1}, {0, true, 1, 1}, {time.Minute, true, 2, 1}, {time.Second, false, 2, 2}, {0, false, 2, 2},
	} {
		s.clock.Advance(step.after)
		down = step.down
		if _, err := client.Check(t.Context(), from("1")); err != nil {
			t.Error(err)
		}
		if warns, infos := strings.Count(log.String(), "level=WARN"), strings.Count(log.String(), "level=INFO"); warns != step.warns || infos != step.infos {
			t.Errorf("%+v: %d, %d\n%s", step, warns, infos, log.String())
		}
	}
	if !strings.Contains(log.String(), "the network is down") || strings.Contains(log.String(), token) {
		t.Errorf("%s", log.String())
	}
}
