package httpguard

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// frameworkWriter is the writer that a framework such as gin gives to handlers, whatever writer the
// middleware has passed on.
type frameworkWriter struct {
	http.ResponseWriter
	written bool
}

func (w *frameworkWriter) Written() bool { return w.written }

func (w *frameworkWriter) WriteHeader(status int) {
	w.written = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *frameworkWriter) Write(b []byte) (int, error) {
	w.written = true
	return w.ResponseWriter.Write(b)
}

func (w *frameworkWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.written = true
	return w.ResponseWriter.(http.Hijacker).Hijack()
}

type frameworkKey struct{}

// framework is a layer that keeps its own writer; handlers get it from hiddenWriter.
func framework(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := &frameworkWriter{ResponseWriter: w}
		next.ServeHTTP(modern{own}, r.WithContext(context.WithValue(r.Context(), frameworkKey{}, own)))
	})
}

func hiddenWriter(r *http.Request) *frameworkWriter {
	return r.Context().Value(frameworkKey{}).(*frameworkWriter)
}

// A session whose handler takes over the connection behind its back ends, but not without a word.
func TestSession_HiddenWriter(t *testing.T) {
	for _, test := range []struct {
		name   string
		handle func(t *testing.T, w http.ResponseWriter, r *http.Request)
		status int
		cause  error
	}{
		{"takes over by the framework's writer", func(t *testing.T, _ http.ResponseWriter, r *http.Request) {
			serve, _ := takeOver(t, hiddenWriter(r), "anna")
			go serve()
		}, 101, errHidden},
		{"answers by the framework's writer", func(_ *testing.T, _ http.ResponseWriter, r *http.Request) {
			http.Error(hiddenWriter(r), "not in this room", http.StatusForbidden)
		}, 403, context.Canceled},
		{"leaves the answer to the framework", func(*testing.T, http.ResponseWriter, *http.Request) {}, 404, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logged bytes.Buffer
			answerLater := func(next http.Handler) http.Handler {
				return framework(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if next.ServeHTTP(w, r); !hiddenWriter(r).Written() {
						w.WriteHeader(http.StatusNotFound)
					}
				}))
			}
			opts := SessionOptions{Logger: slog.New(slog.NewTextHandler(&logged, nil))}
			d := newDoor(t, connguard.Options{}, opts, answerLater, func(w http.ResponseWriter, r *http.Request) { test.handle(t, w, r) })
			d.Start()
			for range 2 {
				v := d.visit(t, "anna")
				session := <-d.sessions
				<-session.Done()
				if cause := context.Cause(session.Context()); v.status != test.status || cause != test.cause {
					t.Errorf("%d, the session ended because of %v", v.status, cause)
				}
				_, err := session.Check(t.Context(), chatguard.Message{})
				if hidden := test.cause == errHidden; hidden && err != errHidden || !hidden && err != nil {
					t.Errorf("a message after that: %v", err)
				}
				v.close()
			}
			d.Close()
			if warnings := strings.Count(logged.String(), "level=WARN"); (warnings == 1) != (test.cause == errHidden) || warnings > 1 {
				t.Errorf("log %q", &logged)
			}
		})
	}
}

// With Sessions around the framework, the same handler's session ends with its connection.
func TestSession_AroundFramework(t *testing.T) {
	d := newDoor(t, connguard.Options{MaxConnections: 1}, SessionOptions{}, noLayer, framework(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		serve, _ := takeOver(t, hiddenWriter(r), SessionFrom(r.Context()).User().ID)
		go serve()
	})).ServeHTTP)
	d.Start()
	checkOnePlace(t, d, false)
}
