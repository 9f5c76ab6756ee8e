package faketwitch

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// inFlight is how many unread bytes an in-memory connection holds before a write blocks, similar to
// a real one.
const inFlight = 64 << 10

// memoryConn is one end of an in-memory connection.
type memoryConn struct {
	in, out     *flow
	here, there net.Addr
}

// memoryPair returns both ends of a connection.
func memoryPair(client, server net.Addr) (atClient, atServer net.Conn) {
	up, down := newFlow(), newFlow()
	return &memoryConn{in: down, out: up, here: client, there: server}, &memoryConn{in: up, out: down, here: server, there: client}
}

func (c *memoryConn) Read(p []byte) (int, error)         { return c.in.read(p) }
func (c *memoryConn) Write(p []byte) (int, error)        { return c.out.write(p) }
func (c *memoryConn) LocalAddr() net.Addr                { return c.here }
func (c *memoryConn) RemoteAddr() net.Addr               { return c.there }
func (c *memoryConn) SetReadDeadline(t time.Time) error  { return c.in.reader.setDeadline(t) }
func (c *memoryConn) SetWriteDeadline(t time.Time) error { return c.out.writer.setDeadline(t) }

func (c *memoryConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *memoryConn) Close() error {
	c.in.reader.close()
	c.out.writer.close()
	return nil
}

// flow is one direction of a connection. It holds the bytes that were written but not yet read.
type flow struct {
	mu             sync.Mutex
	changed        *sync.Cond // signals a change of anything below
	held           []byte
	reader, writer flowEnd
}

// flowEnd is the state of one end of a flow. The flow's mu guards it.
type flowEnd struct {
	flow     *flow
	closed   bool
	deadline time.Time   // zero means none
	alarm    *time.Timer // wakes waiters at the deadline; nil if unset
}

func newFlow() *flow {
	f := &flow{}
	f.changed = sync.NewCond(&f.mu)
	f.reader.flow, f.writer.flow = f, f
	return f
}

// read reads available data and blocks if there is none. Data written before the writer closed can
// still be read.
func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch err := f.reader.err(); {
		case err != nil:
			return 0, err
		case len(f.held) > 0 || len(p) == 0:
			n := copy(p, f.held)
			f.held = f.held[n:]
			f.changed.Broadcast()
			return n, nil
		case f.writer.closed:
			return 0, io.EOF
		}
		f.changed.Wait()
	}
}

// write adds data and blocks while the flow is full.
func (f *flow) write(p []byte) (written int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if err := f.writer.err(); err != nil {
			return written, err
		}
		if f.reader.closed {
			return written, io.ErrClosedPipe
		}
		n := min(len(p), inFlight-len(f.held))
		f.held, p, written = append(f.held, p[:n]...), p[n:], written+n
		f.changed.Broadcast()
		if len(p) == 0 {
			return written, nil
		}
		f.changed.Wait()
	}
}

// err returns why this end can't be used now, or nil. The caller holds the flow's mu.
func (e *flowEnd) err() error {
	switch {
	case e.closed:
		return net.ErrClosed
	case !e.deadline.IsZero() && !time.Now().Before(e.deadline):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// setDeadline sets the deadline for reading or writing.
func (e *flowEnd) setDeadline(t time.Time) error {
	e.flow.mu.Lock()
	defer e.flow.mu.Unlock()
	if e.closed {
		return net.ErrClosed
	}
	e.stopAlarm()
	e.deadline = t
	if !t.IsZero() {
		e.alarm = time.AfterFunc(time.Until(t), e.flow.wake)
	}
	e.flow.changed.Broadcast()
	return nil
}

// stopAlarm stops the timer of the deadline. The caller holds the flow's mu.
func (e *flowEnd) stopAlarm() {
	if e.alarm != nil {
		e.alarm.Stop()
	}
}

func (e *flowEnd) close() {
	e.flow.mu.Lock()
	defer e.flow.mu.Unlock()
	e.closed = true
	e.stopAlarm()
	e.flow.changed.Broadcast()
}

func (f *flow) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed.Broadcast()
}
