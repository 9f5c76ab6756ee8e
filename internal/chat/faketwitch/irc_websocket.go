package faketwitch

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// socketMessage is the maximum number of bytes in one WebSocket message, unless a single line is
// longer.
const socketMessage = 16 << 10

// IRCWebSocketURL returns the address of IRC over WebSocket, without TLS.
func (s *chatServer) IRCWebSocketURL() string { return "ws://" + s.web.Addr().String() + "/irc" }

// serveIRCSocket serves one chat client over WebSocket.
func (s *chatServer) serveIRCSocket(w http.ResponseWriter, r *http.Request) {
	s.wait.Add(1) // net/http doesn't track hijacked connections
	defer s.wait.Done()
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered the client
	}
	conn := &socketConn{Conn: websocket.NetConn(context.Background(), socket, websocket.MessageText), socket: socket}
	if c := s.admit(conn); c != nil {
		c.serve()
	}
}

// socketConn presents a WebSocket as a stream of lines.
type socketConn struct {
	net.Conn
	socket *websocket.Conn
}

// Write sends whole lines, several per message, as Twitch does. Only data without any line ending
// is sent as an incomplete line.
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

// firstMessage returns the part of raw that fits into one message.
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

// Close ends the connection without a close frame.
func (c *socketConn) Close() error {
	_ = c.SetDeadline(time.Time{}) // stops its timers; can't fail
	return c.socket.CloseNow()
}
