package irc

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// maxSocketMessage is the maximum size of one WebSocket message, in bytes. Messages are read in
// parts, so a large message needs no more memory than a small one.
const maxSocketMessage = 1 << 20

// transport carries the lines of one connection. One goroutine reads it as a stream. Any goroutine
// may send, but only one at a time. Any goroutine may close it.
type transport interface {
	io.ReadCloser
	// send writes a line including its line ending. It fails if the network doesn't accept the line
	// in time.
	send(line string, within time.Duration) error
}

// dial opens the connection. It uses WebSocket if WebSocketURL is set, or else TCP, with TLS if
// that is configured.
func (i *Conn) dial(ctx context.Context) (transport, error) {
	switch {
	case i.WebSocketURL != "":
		return i.dialSocket(ctx)
	case i.TLS != nil:
		return i.dialTLS(ctx)
	}
	conn, err := i.dialTCP(ctx, cmp.Or(i.Address, plainAddress))
	return stream{conn}, err
}

func (i *Conn) dialTCP(ctx context.Context, address string) (net.Conn, error) {
	if i.Dial != nil {
		return i.Dial(ctx, "tcp", address)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

func (i *Conn) dialTLS(ctx context.Context) (transport, error) {
	address, config := cmp.Or(i.Address, tlsAddress), i.TLS.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config.ServerName = host
	}
	conn, err := i.dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return stream{secure}, nil
}

// dialSocket opens a WebSocket. It keeps no connection for reuse and follows no redirects.
func (i *Conn) dialSocket(ctx context.Context) (transport, error) {
	client := &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: i.Dial, TLSClientConfig: i.TLS, DisableKeepAlives: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	conn, _, err := websocket.Dial(ctx, i.WebSocketURL, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxSocketMessage)
	return &socket{conn: conn}, nil
}

// stream is a transport over TCP, with or without TLS.
type stream struct{ net.Conn }

func (s stream) send(line string, within time.Duration) error {
	if err := s.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	_, err := s.Write([]byte(line))
	return err
}

// socket is a transport over WebSocket. Twitch sends whole lines, several per message. The reader
// ignores message boundaries, so a line may span messages.
type socket struct {
	conn    *websocket.Conn
	message io.Reader // current message; nil between two
}

// Read reads until data has arrived. It has no context; closing the socket ends it.
func (s *socket) Read(p []byte) (int, error) {
	for {
		if s.message == nil {
			_, message, err := s.conn.Reader(context.Background())
			switch websocket.CloseStatus(err) {
			case websocket.StatusNormalClosure, websocket.StatusGoingAway:
				return 0, io.EOF
			}
			if err != nil {
				return 0, err
			}
			s.message = message
		}
		n, err := s.message.Read(p)
		if err == io.EOF {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *socket) send(line string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, []byte(line))
}

func (s *socket) Close() error { return s.conn.CloseNow() }
