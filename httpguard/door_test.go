package httpguard

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// userFromHeader identifies users by a header that anybody can write, which is good enough for a
// test.
func userFromHeader(r *http.Request) (chatguard.User, error) {
	return chatguard.User{ID: r.Header.Get("X-User")}, nil
}

// door is a loopback server behind the middleware.
type door struct {
	*httptest.Server
	sessions chan *connguard.Session // admitted sessions
}

// layer is a handler in front of the middleware or behind it.
type layer func(http.Handler) http.Handler

// newDoor puts a handler behind the middleware, and both on an HTTP server that is not started yet.
func newDoor(t *testing.T, limits connguard.Options, opts SessionOptions, outer layer, handler http.HandlerFunc) *door {
	t.Helper()
	before := goleak.IgnoreCurrent()
	middleware, err := Sessions(mustDoor(t, newEnforcingGuard(t, nil, nil), limits), userFromHeader, &opts)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{sessions: make(chan *connguard.Session, 10)}
	d.Server = httptest.NewUnstartedServer(outer(middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.sessions <- SessionFrom(r.Context())
		handler(w, r)
	}))))
	d.Config.ErrorLog = quiet
	t.Cleanup(func() {
		d.Close()
		goleak.VerifyNone(t, before)
	})
	return d
}

// visit is a client's connection.
type visit struct {
	status   int
	retry    string // Retry-After
	greeting string // the first line, if admitted
	close    func()
}

// visit opens a connection as a user and requests an upgrade to a protocol of text lines.
func (d *door) visit(t *testing.T, user string) visit {
	t.Helper()
	conn, err := net.Dial(d.Listener.Addr().Network(), d.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if d.TLS != nil {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: chat\r\nConnection: Upgrade\r\nUpgrade: lines\r\nX-User: %s\r\n\r\n", user); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	answer, err := http.ReadResponse(lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := visit{status: answer.StatusCode, retry: answer.Header.Get("Retry-After"), close: func() { _ = conn.Close() }}
	t.Cleanup(v.close) // a closing server waits for its handlers
	if v.status == http.StatusOK {
		lines = bufio.NewReader(answer.Body)
	}
	if v.status < 400 {
		if v.greeting, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// takeOver takes over a connection. serve then sends a greeting, and closes the connection when the
// client closes it.
func takeOver(t *testing.T, hijacker http.Hijacker, name string) (serve func(), conn net.Conn) {
	conn, lines, err := hijacker.Hijack()
	if err != nil {
		t.Error(err)
		return func() {}, nil
	}
	serve = func() {
		fmt.Fprintf(lines, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n%s\n", name)
		_ = lines.Flush()
		_, _ = io.Copy(io.Discard, lines)
		_ = conn.Close()
		_ = conn.Close() // twice, as libraries do
	}
	return serve, conn
}

// libraries returns a handler for each way to talk to clients. Each handler greets with the ID of
// its session's user.
func libraries(t *testing.T) map[string]http.HandlerFunc {
	user := func(r *http.Request) string { return SessionFrom(r.Context()).User().ID }
	return map[string]http.HandlerFunc{
		"websocket": func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			if err := conn.Write(r.Context(), websocket.MessageText, []byte(user(r)+"\n")); err != nil {
				t.Error(err)
			}
			_, _, _ = conn.Read(r.Context())
		},
		"hijack": func(w http.ResponseWriter, r *http.Request) {
			// returns, but the connection stays open
			serve, _ := takeOver(t, w.(http.Hijacker), user(r))
			go serve()
		},
		"hijack by controller": func(w http.ResponseWriter, r *http.Request) {
			serve, _ := takeOver(t, http.NewResponseController(w), user(r))
			serve()
		},
		"stream": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, user(r))
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			<-r.Context().Done()
		},
		"stream by flusher": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, user(r))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	}
}

// modern is a writer that exposes the inner writer's optional methods only through Unwrap.
type modern struct{ http.ResponseWriter }

func (w modern) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// classic is a writer written before Unwrap existed.
type classic struct{ http.ResponseWriter }

func (w classic) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w classic) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.ResponseWriter.(http.Hijacker).Hijack()
}

func wrapWriter(wrap func(http.ResponseWriter) http.ResponseWriter) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(wrap(w), r) })
	}
}

func noLayer(next http.Handler) http.Handler { return next }

// dial is visit over a WebSocket.
func (d *door) dial(t *testing.T, user string) visit {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), d.URL, &websocket.DialOptions{HTTPHeader: http.Header{"X-User": {user}}})
	if err != nil && answer == nil {
		t.Fatal(err)
	}
	v := visit{status: answer.StatusCode, retry: answer.Header.Get("Retry-After")}
	if err != nil {
		return v
	}
	v.close = func() { _ = conn.CloseNow() }
	t.Cleanup(v.close)
	_, greeting, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.greeting = string(greeting)
	return v
}

// startUnix starts the server on a Unix socket.
func (d *door) startUnix(t *testing.T) {
	t.Helper()
	// dir replaces t.TempDir, which is too long for a socket's name on some systems.
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_ = d.Listener.Close()
	if d.Listener, err = net.Listen("unix", filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	d.Start()
}
