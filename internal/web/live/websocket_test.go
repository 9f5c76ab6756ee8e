package live

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// oneListener accepts one connection.
type oneListener struct {
	conns chan net.Conn
	ended context.Context
}

func (l oneListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ended.Done():
		return nil, net.ErrClosed
	}
}
func (l oneListener) Close() error   { return nil }
func (l oneListener) Addr() net.Addr { return &net.TCPAddr{} }

// A reader who does not answer the close frame is cut off after closeTimeout.
func TestModel_CloseCutsSilentReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t)
		reader, served := net.Pipe()
		ended, end := context.WithCancel(t.Context())
		listener := oneListener{make(chan net.Conn, 1), ended}
		listener.conns <- served
		go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := m.ServeFeed(w, r, Viewer{Rights: func(context.Context) Rights { return SameRights }}); err != nil {
				t.Error(err)
			}
		}))
		io.WriteString(reader, "GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
		received := bufio.NewReader(reader)
		if a, err := http.ReadResponse(received, nil); err != nil || a.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(a, err)
		}
		go io.Copy(io.Discard, received)
		synctest.Wait()
		if n := m.feed.len(); n != 1 {
			t.Fatalf("%d readers", n)
		}
		began := time.Now()
		m.Close()
		if took := time.Since(began); took != closeTimeout {
			t.Errorf("closing took %s", took)
		}
		end()
		reader.Close()
	})
}
