package faketwitch

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// socketMessage is how many bytes of lines go into one message of a WebSocket, unless a single line is longer.
const socketMessage = 16 << 10

// IRCWebSocketURL is where chat listens for IRC over WebSocket, without TLS.
func (s *Server) IRCWebSocketURL() string { return "ws://" + s.web.Addr().String() + "/irc" }

// serveIRCSocket is one client of the chat that came over WebSocket.
func (s *Server) serveIRCSocket(w http.ResponseWriter, r *http.Request) {
	s.wait.Add(1) // net/http forgets a connection that becomes a WebSocket
	defer s.wait.Done()
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // the client has been told
	}
	conn := &socketConn{Conn: websocket.NetConn(context.Background(), socket, websocket.MessageText), socket: socket}
	if c := s.admit(conn); c != nil {
		c.serve()
	}
}

// socketConn is a WebSocket as a stream of lines.
type socketConn struct {
	net.Conn
	socket *websocket.Conn
}

// Write sends whole lines, several in one message, as Twitch does. Only what has no end of line itself becomes a message without one.
func (c *socketConn) Write(raw []byte) (written int, err error) {
	for written < len(raw) {
		n, err := c.Conn.Write(firstMessage(raw[written:]))
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// firstMessage is the beginning of raw that goes into one message.
func firstMessage(raw []byte) []byte {
	if len(raw) <= socketMessage {
		return raw
	}
	end := bytes.LastIndexByte(raw[:socketMessage], '\n')
	if end < 0 {
		end = bytes.IndexByte(raw, '\n')
	}
	if end < 0 {
		return raw
	}
	return raw[:end+1]
}

// Close ends the connection without a word.
func (c *socketConn) Close() error {
	_ = c.SetDeadline(time.Time{}) // stops its timers, and can't fail
	return c.socket.CloseNow()
}
