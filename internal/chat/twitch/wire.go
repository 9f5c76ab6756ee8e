package twitch

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

// maxSocketMessage bounds one message of a WebSocket, in bytes. It is read in parts, so a large one needs no more memory than a small one.
const maxSocketMessage = 1 << 20

// wire carries the lines of one connection. One goroutine reads it, as a stream; one at a time sends; any may close it.
type wire interface {
	io.ReadCloser
	// send writes a line with its end, which the network has to take in the time given.
	send(line string, within time.Duration) error
}

// dial opens the connection: over WebSocket where an address for that is given, else over TCP, with TLS where that is configured.
func (i *IRC) dial(ctx context.Context) (wire, error) {
	switch {
	case i.WebSocketURL != "":
		return i.dialSocket(ctx)
	case i.TLS != nil:
		return i.dialTLS(ctx)
	}
	conn, err := i.dialTCP(ctx, cmp.Or(i.Address, plainAddress))
	return stream{conn}, err
}

func (i *IRC) dialTCP(ctx context.Context, address string) (net.Conn, error) {
	if i.Dial != nil {
		return i.Dial(ctx, "tcp", address)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

func (i *IRC) dialTLS(ctx context.Context) (wire, error) {
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

// dialSocket opens a WebSocket. Nothing is kept for another connection, and no server may send us elsewhere.
func (i *IRC) dialSocket(ctx context.Context) (wire, error) {
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

// stream is a wire over TCP, with or without TLS.
type stream struct{ net.Conn }

func (s stream) send(line string, within time.Duration) error {
	if err := s.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	_, err := s.Write([]byte(line))
	return err
}

// socket is a wire over WebSocket. Twitch sends whole lines, several in one message; where messages begin means nothing here, so lines that
// are spread over several are read as well.
type socket struct {
	conn    *websocket.Conn
	message io.Reader // the one being read; nil between two
}

// Read waits without a context: closing the socket ends it.
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
