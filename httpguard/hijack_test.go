package httpguard

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

// userFromHeader identifies users by a header that anybody can write, which is good enough for a
// test.
func userFromHeader(r *http.Request) (chatguard.User, error) {
	return chatguard.User{ID: r.Header.Get("X-User")}, nil
}

// door is a loopback server behind the middleware.
type door struct {
	*httptest.Server
	sessions chan *Session // admitted sessions
}

// layer is a handler in front of the middleware or behind it.
type layer func(http.Handler) http.Handler

// newDoor puts a handler behind the middleware, and both on an HTTP server that is not started yet.
func newDoor(t *testing.T, opts SessionOptions, outer layer, handler http.HandlerFunc) *door {
	t.Helper()
	before := goleak.IgnoreCurrent()
	middleware, err := Sessions(newEnforcingGuard(t, nil, nil), &opts)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{sessions: make(chan *Session, 10)}
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

func TestHijack_AnyLibraryAnyLayer(t *testing.T) {
	layers := map[string]layer{
		"nothing": noLayer,
		"modern":  wrapWriter(func(w http.ResponseWriter) http.ResponseWriter { return modern{w} }),
		"classic": wrapWriter(func(w http.ResponseWriter) http.ResponseWriter { return classic{w} }),
	}
	for library, handler := range libraries(t) {
		for outer := range layers {
			for inner := range layers {
				if inner == "modern" && (library == "hijack" || library == "stream by flusher") {
					continue // these libraries don't call Unwrap
				}
				t.Run(library+", "+outer+" before, "+inner+" behind", func(t *testing.T) {
					d := newDoor(t, SessionOptions{Identify: userFromHeader, MaxConnections: 1}, layers[outer], layers[inner](handler).ServeHTTP)
					d.Start()
					checkOnePlace(t, d, library == "websocket")
				})
			}
		}
	}
}

// checkOnePlace checks that the server admits one connection of each user at a time, and admits the
// user again after it is closed.
func checkOnePlace(t *testing.T, d *door, ws bool) {
	t.Helper()
	enter := func(user string) visit {
		if ws {
			return d.dial(t, user)
		}
		return d.visit(t, user)
	}
	admit := func(user string) visit {
		t.Helper()
		v := enter(user)
		if v.status >= 400 || v.greeting != user+"\n" {
			t.Fatalf("%s isn't let in: %+v", user, v)
		}
		return v
	}
	wantRefused := func(user string) {
		t.Helper()
		if v := enter(user); v.status != 429 || v.retry != "5" {
			t.Fatalf("%s is let in once more: %+v", user, v)
		}
	}
	for range 2 { // if a place were freed twice, two connections would be admitted
		anna := admit("anna")
		first := <-d.sessions
		wantRefused("anna")
		ben := admit("ben")
		second := <-d.sessions
		if first.Context().Err() != nil {
			t.Fatal("the session has ended before its connection")
		}
		anna.close()
		<-first.Done()
		wantRefused("ben")
		ben.close()
		<-second.Done()
	}
}

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

func TestSession_EndsOnPanic(t *testing.T) {
	for name, panics := range map[string]http.HandlerFunc{
		"before": func(http.ResponseWriter, *http.Request) { panic("broken") },
		"after a hijack": func(w http.ResponseWriter, _ *http.Request) {
			if _, _, err := w.(http.Hijacker).Hijack(); err != nil {
				t.Error(err)
			}
			panic("broken")
		},
		"after the end": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
			}
			_ = conn.Close()
			panic("broken")
		},
	} {
		t.Run(name, func(t *testing.T) {
			panicked := make(chan any, 2)
			outer := func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer func() {
						got := recover()
						panicked <- got
						panic(got) // net/http's reaction is part of the test
					}()
					next.ServeHTTP(w, r)
				})
			}
			d := newDoor(t, SessionOptions{Identify: userFromHeader, MaxConnections: 1}, outer, panics)
			d.Start()
			for range 2 {
				conn, err := net.Dial("tcp", d.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: chat\r\nX-User: anna\r\n\r\n")
				if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
					// ends when the connection is closed
					t.Errorf("answer %q, error %v", answer, err)
				}
				_ = conn.Close()
				<-(<-d.sessions).Done()
				if got := <-panicked; got != "broken" {
					t.Errorf("the panic comes out as %v", got)
				}
			}
		})
	}
}

func TestHijack_Connection(t *testing.T) {
	for name, test := range map[string]struct {
		start func(d *door)
		is    func(inner net.Conn) bool
	}{
		"TCP":  {func(d *door) { d.Start() }, func(inner net.Conn) bool { _, ok := inner.(*net.TCPConn); return ok }},
		"TLS":  {func(d *door) { d.StartTLS() }, func(inner net.Conn) bool { _, ok := inner.(*tls.Conn); return ok }},
		"Unix": {func(d *door) { d.startUnix(t) }, func(inner net.Conn) bool { _, ok := inner.(*net.UnixConn); return ok }},
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan net.Conn, 10)
			d := newDoor(t, SessionOptions{Identify: userFromHeader, MaxConnections: 1, MaxConnectionsPerAddress: 2}, noLayer, func(w http.ResponseWriter, r *http.Request) {
				serve, conn := takeOver(t, w.(http.Hijacker), SessionFrom(r.Context()).User().ID)
				conns <- conn
				serve()
			})
			test.start(d)
			checkOnePlace(t, d, false)
			conn := <-conns
			if inner := conn.(interface{ NetConn() net.Conn }).NetConn(); !test.is(inner) {
				t.Errorf("what is within is a %T", inner)
			}
			if _, fast := conn.(io.ReaderFrom); fast != (name == "TCP") {
				t.Errorf("%T reads from files by itself: %v", conn, fast)
			}
		})
	}
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

func TestSessions_NoAddressNoAddressLimit(t *testing.T) {
	d := newDoor(t, SessionOptions{Identify: userFromHeader, MaxConnectionsPerAddress: 1}, noLayer, libraries(t)["stream"])
	d.startUnix(t)
	for _, user := range []string{"anna", "ben"} {
		if v := d.visit(t, user); v.status != 200 {
			t.Fatalf("%s: %+v", user, v)
		}
		if addr := (<-d.sessions).Address(); addr.IsValid() {
			t.Errorf("the address is %s", addr)
		}
	}
}

func TestHijack_Unsupported(t *testing.T) {
	middleware, err := Sessions(newEnforcingGuard(t, nil, nil), &SessionOptions{Identify: Anonymous})
	if err != nil {
		t.Fatal(err)
	}
	bare := struct{ http.ResponseWriter }{httptest.NewRecorder()}
	middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("flush: %v", err)
		}
		w.(http.Flusher).Flush()
		if _, _, err := w.(http.Hijacker).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("hijack: %v", err)
		}
	})).ServeHTTP(bare, httptest.NewRequest("GET", "/", nil))
}
