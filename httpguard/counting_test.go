package httpguard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// failures counts failed requests only.
func failures(status int) bool { return status >= 400 }

// newCounting returns a handler behind Limit that counts what Counts says.
func newCounting(t *testing.T, counts func(int) bool, handle http.HandlerFunc) *limited {
	l := newLimited(t, nil)
	l.handler = mustLimit(t, l.guard, ByAddress(nil), &LimitOptions{Counts: counts})(handle)
	return l
}

// left returns how many more requests would pass.
func (l *limited) left(t *testing.T) int {
	t.Helper()
	v, err := inner.Of(l.guard).Left(t.Context(), chatguard.Message{ChannelID: MainChannel, User: chatguard.User{ID: "address:192.0.2.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return v.Remaining
}

func TestLimit_CountsByStatus(t *testing.T) {
	successes := func(status int) bool { return !failures(status) }
	for name, test := range map[string]struct {
		counts func(int) bool
		handle http.HandlerFunc
		left   int // of 2, after one request
	}{
		"a success":               {failures, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 2},
		"a success, with a body":  {failures, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hi")) }, 2},
		"a success, with text":    {failures, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hi") }, 2},
		"a success, a file":       {failures, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader("hi")) }, 2},
		"a success, flushed":      {failures, func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); w.WriteHeader(500) }, 2},
		"a failure":               {failures, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 403) }, 1},
		"a failure, after a hint": {failures, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(403) }, 1},
		"a failure, then more":    {failures, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403); w.WriteHeader(200) }, 1},
		"nothing written":         {failures, func(http.ResponseWriter, *http.Request) {}, 1},
		"nothing in the body": {failures, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, strings.NewReader(""))
			w.WriteHeader(403)
		}, 1},
		"only successes, a success":      {successes, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, 1},
		"only successes, a failure":      {successes, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 2},
		"the first status decides":       {successes, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); w.WriteHeader(500) }, 2},
		"only successes, no such method": {successes, func(w http.ResponseWriter, _ *http.Request) { _, _, _ = w.(http.Hijacker).Hijack(); w.WriteHeader(500) }, 2},
	} {
		l := newCounting(t, test.counts, test.handle)
		if h := l.request("", nil).Header(); !strings.Contains(h.Get("RateLimit"), ";r=1") {
			t.Errorf("%s: %v", name, h)
		}
		if got := l.left(t); got != test.left {
			t.Errorf("%s: %d left, want %d", name, got, test.left)
		}
	}
}

// A client that hangs up makes a request fail, and has caused the work all the same.
func TestLimit_CountsHangUps(t *testing.T) {
	for _, test := range []struct {
		status int
		cause  error // of the end of the request's context
		left   int   // of 2, after one request
	}{
		{502, nil, 2}, {499, nil, 2}, {404, nil, 2}, {200, nil, 1},
		{502, context.Canceled, 1}, {499, context.Canceled, 1}, {404, context.Canceled, 2}, {200, context.Canceled, 1},
		{504, context.DeadlineExceeded, 2}, // the server's own
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		if test.cause == context.DeadlineExceeded {
			ctx, hangUp = context.WithDeadline(t.Context(), monday.AddDate(-10, 0, 0))
		}
		l := newCounting(t, func(status int) bool { return status < 400 }, func(w http.ResponseWriter, _ *http.Request) {
			if test.cause == context.Canceled {
				hangUp()
			}
			if ctx.Err() != test.cause {
				t.Errorf("%+v: the context has ended because of %v", test, ctx.Err())
			}
			w.WriteHeader(test.status)
		})
		l.request("", func(r *http.Request) { *r = *r.WithContext(ctx) })
		hangUp()
		if got := l.left(t); got != test.left {
			t.Errorf("%+v: %d left", test, got)
		}
	}
}

func TestLimit_CountsPanics(t *testing.T) {
	l := newCounting(t, failures, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			l.request("", nil)
		}()
	}
	if w := l.request("", nil); w.Code != 429 {
		t.Errorf("after two panics: %d", w.Code)
	}
}

// Requests at the same time can't exceed the limit, although none of them counts in the end.
func TestLimit_CountsFloods(t *testing.T) {
	var inside sync.WaitGroup
	inside.Add(2)
	end := make(chan struct{})
	l := newCounting(t, failures, func(w http.ResponseWriter, _ *http.Request) {
		inside.Done()
		<-end
		w.WriteHeader(204)
	})
	var served sync.WaitGroup
	for range 2 {
		served.Go(func() { l.request("", nil) })
	}
	inside.Wait()
	for range 20 {
		if got := l.request("", nil).Code; got != 429 {
			t.Errorf("while two are in progress: %d", got)
		}
	}
	close(end)
	served.Wait()
	if got := l.left(t); got != 2 {
		t.Errorf("%d left, want 2", got)
	}
}

// Behind a server, the writer streams, sends files, and hands over the connection.
func TestLimit_CountsOnServer(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newCounting(t, failures, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			rc := http.NewResponseController(w)
			if err := errors.Join(rc.EnableFullDuplex(), rc.Flush()); err != nil {
				t.Error(err)
			}
			<-r.Context().Done()
		case "/file":
			http.ServeFile(w, r, file)
		case "/hijack":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\nbye\n")
			_ = conn.Close()
		}
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.1:1234"
		l.handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, path := range []string{"/stream", "/file", "/stream", "/file"} {
		answer, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.left(t); answer.StatusCode != 200 || got != 2 {
			t.Errorf("%s: %d, %d left", path, answer.StatusCode, got)
		}
		if path == "/file" {
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "content" {
				t.Errorf("%q, %v", body, err)
			}
		}
		_ = answer.Body.Close()
	}
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /hijack HTTP/1.1\r\nHost: test\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "101") || l.left(t) != 2 {
		t.Errorf("%q, %v, %d left", line, err, l.left(t))
	}
}

func TestLimit_MaxInFlight(t *testing.T) {
	l := newLimited(t, nil)
	inside, end := make(chan string), make(chan struct{})
	byKey := ByKey("X-User", func(name string) (chatguard.User, bool) { return chatguard.User{ID: name}, true })
	l.handler = mustLimit(t, l.guard, byKey, &LimitOptions{MaxInFlight: 1})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside <- r.Header.Get("X-User")
		if <-end; r.Header.Get("X-Panic") != "" {
			panic(http.ErrAbortHandler)
		}
	}))
	for _, header := range []string{"", "X-Panic"} { // a place is free again after a panic
		l.now = l.now.Add(1 << 40)
		var served sync.WaitGroup
		for _, user := range []string{"anna", "ben"} {
			served.Go(func() {
				defer func() { _ = recover() }()
				l.request(user, func(r *http.Request) { r.Header.Set(header, "1") })
			})
			<-inside
		}
		for range 5 { // spends nothing
			checkAnswer(t, l.request("anna", nil), 429, "Too many of your requests are in progress. Wait for one, then try again.\n",
				map[string]string{"Retry-After": "1", "RateLimit": ""})
		}
		end <- struct{}{}
		end <- struct{}{}
		served.Wait()
	}
	go func() { <-inside; end <- struct{}{} }()
	checkAnswer(t, l.request("anna", nil), 200, "", map[string]string{"RateLimit": `"burst";r=0;t=4`})
}

func TestInFlight_ForgetsUsers(t *testing.T) {
	f := inFlight{most: 2, of: map[string]int{}}
	for range 2 {
		if err := errors.Join(f.enter("anna"), f.enter("anna"), f.enter("ben")); err != nil || f.enter("anna") != ErrInFlight {
			t.Errorf("%v, %v", err, f.of)
		}
		for _, id := range []string{"anna", "ben", "anna"} {
			f.leave(id)
		}
		if len(f.of) != 0 {
			t.Errorf("remembers %v", f.of)
		}
	}
}

// A request that is refused for another reason leaves its place.
func TestLimit_MaxInFlightRefused(t *testing.T) {
	l := newLimited(t, nil)
	l.handler = mustLimit(t, l.guard, ByAddress(nil), &LimitOptions{MaxInFlight: 1})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, want := range []int{200, 200, 429, 429} {
		if w := l.request("", nil); w.Code != want || want == 429 && w.Header().Get("Retry-After") != "4" {
			t.Errorf("%d %v, want %d", w.Code, w.Header(), want)
		}
	}
}
