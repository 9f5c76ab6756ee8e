package faketwitch

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// startInMemory starts a server for a test under a simulated clock.
func startInMemory(t *testing.T) *Server {
	t.Helper()
	return start(t, Options{Channels: []string{"gardenhour"}, InMemory: true})
}

// TestMemory_Chat checks that a login to the chat works, too, if the client writes all its lines
// before it reads. It also checks that a deadline expires when it is due.
func TestMemory_Chat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startInMemory(t)
		c := dial(t, s, append(anonymous, "JOIN #gardenhour")...)
		if c.readUntil(" 366 ") == "" {
			t.Fatal("not joined")
		}
		_, err := s.Say(Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		must(t, err)
		if c.readUntil("PRIVMSG #gardenhour :hello") == "" {
			t.Error("heard nothing")
		}
		began := time.Now()
		must(t, c.conn.SetReadDeadline(began.Add(time.Hour)))
		if _, err := c.conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestMemory_Conn checks the guarantees of a connection.
func TestMemory_Conn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := memoryPair(memoryAddr(2), memoryAddr(1))
		stuck := make(chan int)
		go func() {
			n, _ := here.Write(make([]byte, inFlight+1000))
			stuck <- n
		}()
		synctest.Wait() // the write waits for a reader
		must(t, here.SetWriteDeadline(time.Now().Add(time.Second)))
		if n := <-stuck; n != inFlight {
			t.Errorf("wrote %d bytes with nobody reading, want %d", n, inFlight)
		}
		must(t, here.Close())
		if rest, err := io.ReadAll(there); err != nil || len(rest) != inFlight {
			t.Errorf("read %d bytes after the other end closed, %v", len(rest), err)
		}
		if _, err := there.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("writing to a closed end: %v", err)
		}
		if _, err := here.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("reading at a closed end: %v", err)
		}
		if err := here.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a deadline at a closed end: %v", err)
		}
	})
}

// TestMemory_Dial checks that an address without a listener can't be dialed, even if there was one
// before, and that a context ends the wait for a listener that doesn't accept.
func TestMemory_Dial(t *testing.T) {
	var m memory
	l := m.listen()
	if _, err := m.dial(t.Context(), "127.0.0.1:9"); err == nil {
		t.Error("dialled an address where nothing listens")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.dial(ctx, l.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, errors.Join(l.Close(), l.Close()))
	if _, err := m.dial(t.Context(), l.Addr().String()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
