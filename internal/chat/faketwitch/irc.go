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

// writeTimeout is how long a client may leave data unread before its connection is closed.
const writeTimeout = 30 * time.Second

// chatServer serves chat over IRC. The Server's mu guards all of it except the listener.
type chatServer struct {
	*state
	identity *identityServer
	listener net.Listener
	clients  map[*client]bool
	joining  joinLimits
	faults   chatFaults
}

// client is a connection to the chat. The Server's mu guards its login and channels.
type client struct {
	srv  *chatServer
	conn net.Conn

	stalled atomic.Bool // the connection stays open, but the client receives nothing more
	writing sync.Mutex  // held during a write
	// left is the number of lines to send before the client's connection is closed; 0 means no
	// limit. writing guards it.
	left int

	pass     string
	login    string // empty before the login
	tags     bool   // it requested tags
	commands bool   // it requested Twitch's own commands
	joined   map[string]bool
}

// acceptChat accepts connections until the listener is closed.
func (s *chatServer) acceptChat() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		if c := s.admit(conn); c != nil {
			s.wait.Go(c.serve)
		}
	}
}

// admit creates the client for a connection. It returns nil if it closed the connection instead.
func (s *chatServer) admit(conn net.Conn) *client {
	s.mu.Lock()
	s.asked.connections++
	if s.closed || takeOne(&s.faults.hangUps) {
		s.mu.Unlock()
		conn.Close()
		return nil
	}
	defer s.mu.Unlock()
	c := &client{srv: s, conn: conn, joined: make(map[string]bool), left: s.faults.closeAfter}
	s.clients[c] = true
	return c
}

// serve reads from the client until the connection ends.
func (c *client) serve() {
	defer c.leave()
	lines := bufio.NewScanner(c.conn)
	for lines.Scan() {
		line := lines.Text()
		c.srv.mu.Lock()
		add(&c.srv.asked.lines, Received{At: c.srv.opts.Now(), Client: c.conn.RemoteAddr().String(), Line: line})
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
	c.srv.notifyChanged()
}

// send writes lines. It reports no error, because reading the connection fails as well.
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

// ration returns the part of raw that is within the client's remaining number of lines. last is
// true if no lines remain after it.
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

// readers returns the clients that joined a channel: those that requested tags and those that
// didn't. The caller holds mu.
func (s *chatServer) readers(channelLogin string) (tagged, plain []*client) {
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

// WaitJoined waits until at least n channels are joined, counted per client. If ctx ends first, it
// returns the context's error.
func (s *chatServer) WaitJoined(ctx context.Context, n int) error {
	return s.waitUntil(ctx, func() bool {
		joined := 0
		for c := range s.clients {
			joined += len(c.joined)
		}
		return joined >= n
	})
}

// write sends a line to all clients in the channel.
func (s *chatServer) write(channelLogin, raw string) {
	s.mu.Lock()
	tagged, plain := s.readers(channelLogin)
	s.mu.Unlock()
	for _, c := range tagged {
		c.send(raw)
	}
	_, untagged, _ := strings.Cut(raw, " ")
	for _, c := range plain {
		c.send(untagged)
	}
}

// Flood sends raw bytes to every logged-in client: lines, parts of lines, or anything else. It
// blocks while a client doesn't read.
func (s *chatServer) Flood(raw []byte) {
	s.mu.Lock()
	var all []*client
	for c := range s.clients {
		if c.login != "" {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.write(raw)
	}
}

// SendRaw sends raw lines to every logged-in client.
func (s *chatServer) SendRaw(lines ...string) {
	s.Flood([]byte(strings.Join(lines, "\r\n") + "\r\n"))
}

// IRCAddress returns the address of the chat as host:port, without TLS.
func (s *chatServer) IRCAddress() string { return s.listener.Addr().String() }
