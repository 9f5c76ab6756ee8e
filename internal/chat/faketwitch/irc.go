package faketwitch

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// writeTimeout is how long a client may refuse to read before it is cut off.
const writeTimeout = 30 * time.Second

// client is one connection to the chat. What it is and where it joined is guarded by the Server's mu.
type client struct {
	srv  *Server
	conn net.Conn

	stalled atomic.Bool // it stays open, but hears nothing any more
	writing sync.Mutex  // held while something is written
	left    int         // lines until it is closed; 0 means that it isn't. writing guards it

	pass     string
	login    string // empty until logged in
	tags     bool   // wants tags
	commands bool   // wants Twitch's own commands
	joined   map[string]bool
}

// acceptChat takes connections until the listener is closed.
func (s *Server) acceptChat() {
	for {
		conn, err := s.irc.Accept()
		if err != nil {
			return
		}
		if c := s.admit(conn); c != nil {
			s.wait.Go(c.serve)
		}
	}
}

// admit makes a connection a client's. It returns nil where it hung up at once instead.
func (s *Server) admit(conn net.Conn) *client {
	s.mu.Lock()
	s.asked.connections++
	if s.closed || s.faults.takeHangUp() {
		s.mu.Unlock()
		conn.Close()
		return nil
	}
	defer s.mu.Unlock()
	c := &client{srv: s, conn: conn, joined: make(map[string]bool), left: s.delivering.closeAfter}
	s.clients[c] = true
	return c
}

// serve reads what the client sends until the connection ends.
func (c *client) serve() {
	defer c.leave()
	lines := bufio.NewScanner(c.conn)
	for lines.Scan() {
		line := lines.Text()
		c.srv.mu.Lock()
		c.srv.asked.addLine(Received{At: c.srv.opts.Now(), Client: c.conn.RemoteAddr().String(), Line: line})
		answer, bye := c.answer(line)
		c.srv.mu.Unlock()
		if c.stalled.Load() {
			continue
		}
		if len(answer) > 0 {
			c.send(answer...)
		}
		if bye {
			return
		}
	}
}

func (c *client) leave() {
	c.conn.Close()
	c.srv.mu.Lock()
	defer c.srv.mu.Unlock()
	delete(c.srv.clients, c)
	c.srv.tellChanged()
}

// send writes lines. A failure shows when the connection is read, so nothing is said about it here.
func (c *client) send(lines ...string) {
	c.write([]byte(strings.Join(lines, "\r\n") + "\r\n"))
}

func (c *client) write(raw []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.stalled.Load() || c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
		return
	}
	raw, last := c.ration(raw)
	if _, err := c.conn.Write(raw); err != nil || last {
		c.conn.Close()
	}
}

// ration cuts off what goes past the lines that the client is still to get, and reports whether it has had all of them then.
func (c *client) ration(raw []byte) (part []byte, last bool) {
	if c.left == 0 {
		return raw, false
	}
	for n, b := range raw {
		if b == '\n' {
			if c.left--; c.left == 0 {
				return raw[:n+1], true
			}
		}
	}
	return raw, false
}

// readers are the clients that joined a channel: those that want tags, and those that don't. The caller holds mu.
func (s *Server) readers(channelLogin string) (tagged, plain []*client) {
	for c := range s.clients {
		switch {
		case c.joined[channelLogin] && c.tags:
			tagged = append(tagged, c)
		case c.joined[channelLogin]:
			plain = append(plain, c)
		}
	}
	return tagged, plain
}

// tellChanged wakes those who wait for clients to join or leave. The caller holds mu.
func (s *Server) tellChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// WaitJoined waits until at least n channels are joined, counting each of each client, or until ctx ends; then it returns the context's error.
func (s *Server) WaitJoined(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		joined, changed := 0, s.changed
		for c := range s.clients {
			joined += len(c.joined)
		}
		s.mu.Unlock()
		if joined >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
