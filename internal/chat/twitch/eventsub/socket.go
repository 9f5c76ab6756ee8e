package eventsub

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Limits of a socket.
const (
	maxFrame     = 64 << 10         // bytes
	keepalive    = 30 * time.Second // silence after which Twitch must send a keepalive
	maxKeepalive = 10 * time.Minute
	// drainFor is how long a replaced socket is still read, for the rest of its events.
	drainFor = 5 * time.Second
)

// Errors that end a socket or a session.
var (
	errNoWelcome = errors.New("EventSub sent no welcome")
	errBadMove   = errors.New("the reconnect address isn't valid")
)

// socket is one EventSub WebSocket. Only the library writes to it, for pongs and closes: Twitch
// closes a socket on which it receives anything else.
type socket struct {
	conn     *websocket.Conn
	session  string // the ID that subscriptions refer to
	ctx      context.Context
	end      context.CancelCauseFunc
	patience time.Duration // silence after which the socket counts as dead
	welcome  time.Time     // time of the welcome by our clock
	saidAt   time.Time     // time of the welcome by the server's clock; zero if not sent

	frame bytes.Buffer // the last frame; used only by the reader

	mu sync.Mutex
	// watchdog ends the socket after too long a silence. Once the watchdog runs, mu guards it and
	// the next field.
	watchdog *time.Timer
	retired  bool // frames no longer reset the watchdog
}

// openSocket dials and waits for the welcome, both within the handshake timeout. The socket lives
// until it is closed or ctx ends.
func openSocket(ctx context.Context, client *http.Client, address string, timing twitch.Timing, now func() time.Time) (*socket, error) {
	handshake, cancel := context.WithTimeoutCause(ctx, timing.Handshake, twitch.ErrHandshake)
	defer cancel()
	conn, _, err := websocket.Dial(handshake, address, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, fmt.Errorf("can't reach EventSub: %w", removeURL(cmp.Or(context.Cause(handshake), err)))
	}
	conn.SetReadLimit(maxFrame)
	_, text, err := conn.Read(handshake)
	if err != nil {
		conn.CloseNow()
		return nil, cmp.Or(context.Cause(handshake), closeReason(err))
	}
	welcome, err := readFrame(text)
	if session := welcome.Payload.Session; err != nil || welcome.Metadata.Kind != frameWelcome || !twitch.IsID(session.ID) {
		conn.CloseNow()
		return nil, errNoWelcome
	}
	return newSocket(ctx, conn, welcome, timing, now()), nil
}

func newSocket(ctx context.Context, conn *websocket.Conn, welcome frame, timing twitch.Timing, now time.Time) *socket {
	k := &socket{conn: conn, session: welcome.Payload.Session.ID, welcome: now, saidAt: welcome.Metadata.At.Time}
	k.ctx, k.end = context.WithCancelCause(ctx)
	promised := keepalive
	if told := welcome.Payload.Session.Keepalive; told > 0 && told <= int64(maxKeepalive/time.Second) {
		promised = time.Duration(told) * time.Second
	}
	k.patience = promised + timing.PongWithin
	k.watchdog = time.AfterFunc(k.patience, func() { k.end(twitch.ErrSilent) })
	return k
}

// twitchTime converts a time of our clock to Twitch's. It counts from the welcome, so a later
// change of our clock has no effect.
func (k *socket) twitchTime(at time.Time) time.Time {
	if k.saidAt.IsZero() {
		return at
	}
	return k.saidAt.Add(at.Sub(k.welcome))
}

// clockTolerance is the smallest difference between our clock and Twitch's that is reported.
const clockTolerance = time.Minute

// clockDifference returns the difference between our clock and Twitch's at the welcome.
func (k *socket) clockDifference() time.Duration {
	return k.twitchTime(k.welcome).Sub(k.welcome).Abs()
}

// formatMinutes formats a duration in hours and minutes.
func formatMinutes(d time.Duration) string {
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// next waits for the next frame and returns it. The frame is valid until the next call. The error
// says why there is no frame.
func (k *socket) next() ([]byte, error) {
	k.frame.Reset()
	_, frame, err := k.conn.Reader(k.ctx)
	if err == nil {
		_, err = k.frame.ReadFrom(frame)
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(k.ctx), closeReason(err))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.retired {
		k.watchdog.Reset(k.patience)
	}
	return k.frame.Bytes(), nil
}

// retire ends the socket once the remaining events have had time to arrive.
func (k *socket) retire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retired = true
	k.watchdog.Reset(drainFor)
}

func (k *socket) close() {
	k.watchdog.Stop()
	k.end(nil)
	k.conn.CloseNow()
}

// badMove is the code with which Twitch closes a socket whose address it doesn't know.
const badMove = 4007

// closeCodes are Twitch's other reasons to close a socket.
var closeCodes = map[websocket.StatusCode]string{
	4000: "a fault of its own",
	4001: "it received something, and a client may not send anything",
	4002: "a ping was not answered",
	4003: "there was no subscription in time",
	4004: "the time to reconnect had run out",
	4005: "its network was too slow",
	4006: "its network failed",
}

// closeReason describes why reading failed.
func closeReason(err error) error {
	code := websocket.CloseStatus(err)
	switch reason, known := closeCodes[code]; {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("a frame of EventSub: %w", twitch.TooLong)
	case code == badMove:
		return fmt.Errorf("%w (%d: %w)", twitch.ErrClosed, code, errBadMove)
	case known:
		return fmt.Errorf("%w (%d: %s)", twitch.ErrClosed, code, reason)
	case code >= 0:
		return fmt.Errorf("%w (%d)", twitch.ErrClosed, code)
	}
	return twitch.Broken(err)
}

// removeURL removes the address from an error, because a reconnect address is secret.
func removeURL(err error) error {
	if failed := new(url.Error); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// sessionURL returns the address for a new session.
func sessionURL(base string) (string, error) {
	u, err := url.Parse(cmp.Or(base, defaultURL))
	if err != nil {
		return "", fmt.Errorf("EventSub's address: %w", err)
	}
	query := u.Query()
	query.Set("keepalive_timeout_seconds", fmt.Sprint(int(keepalive/time.Second)))
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// mayMove reports whether a server may redirect us from one address to another. An encrypted
// connection never moves to an unencrypted one.
func mayMove(from, to string) bool {
	a, errA := url.Parse(cmp.Or(from, defaultURL))
	b, errB := url.Parse(to)
	return errA == nil && errB == nil && b.Host != "" && (b.Scheme == "wss" || b.Scheme == "ws" && a.Scheme == "ws")
}
