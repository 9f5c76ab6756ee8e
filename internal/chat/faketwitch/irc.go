package faketwitch

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

// writeTimeout is how long a client may refuse to read before it is cut off.
const writeTimeout = 30 * time.Second

// client is one connection to the chat. What it is and where it joined is guarded by the Server's mu.
type client struct {
	srv  *Server
	conn net.Conn

	writing sync.Mutex // held while something is written

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
		c := &client{srv: s, conn: conn, joined: make(map[string]bool)}
		s.mu.Lock()
		hangUp := s.closed || s.faults.takeHangUp()
		if !hangUp {
			s.clients[c] = true
			s.wait.Go(c.serve)
		}
		s.asked.connections++
		s.mu.Unlock()
		if hangUp {
			conn.Close()
		}
	}
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
	if c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
		return
	}
	if _, err := c.conn.Write(raw); err != nil {
		c.conn.Close()
	}
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
