package httpguard

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chatguard/chatguard/connguard"
)

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
					d := newDoor(t, connguard.Options{MaxConnections: 1}, SessionOptions{}, layers[outer], layers[inner](handler).ServeHTTP)
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
			d := newDoor(t, connguard.Options{MaxConnections: 1}, SessionOptions{}, outer, panics)
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
			d := newDoor(t, connguard.Options{MaxConnections: 1, MaxConnectionsPerAddress: 2}, SessionOptions{}, noLayer, func(w http.ResponseWriter, r *http.Request) {
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

func TestSessions_NoAddressNoAddressLimit(t *testing.T) {
	d := newDoor(t, connguard.Options{MaxConnectionsPerAddress: 1}, SessionOptions{}, noLayer, libraries(t)["stream"])
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
	middleware, err := Sessions(mustDoor(t, newEnforcingGuard(t, nil, nil), connguard.Options{}), Anonymous, nil)
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
