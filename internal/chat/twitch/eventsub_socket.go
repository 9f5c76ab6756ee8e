package twitch

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
)

// Bounds of a socket.
const (
	maxFrame     = 64 << 10         // bytes
	keepalive    = 30 * time.Second // after so much silence Twitch is to say that it is still there
	maxKeepalive = 10 * time.Minute
	drainFor     = 5 * time.Second // what is still under way on a socket that was moved on from has arrived by then
)

// What ends a socket or a session.
var (
	errNoWelcome = errors.New("EventSub said no welcome")
	errBadMove   = errors.New("the address to move on to isn't valid")
)

// eventSocket is one WebSocket of EventSub. Nothing is ever written to it but what the library answers by itself, pongs and closes: Twitch
// closes a socket on which it hears anything else.
type eventSocket struct {
	conn     *websocket.Conn
	session  string // the ID by which subscriptions name it
	ctx      context.Context
	end      context.CancelCauseFunc
	patience time.Duration // so much silence means that it is dead
	welcome  time.Time     // when the server said it, by our clock
	saidAt   time.Time     // the same by the server's; zero where it didn't tell

	frame bytes.Buffer // the one that was read last; the reader's only

	mu       sync.Mutex
	watchdog *time.Timer // ends it after the silence; guarded by mu once it runs, as the next
	retired  bool        // it is to end, whatever arrives
}

// openSocket dials and waits for the welcome, both within the time for the handshake. The socket lives until it is closed, or ctx ends.
func openSocket(ctx context.Context, client *http.Client, address string, timing Timing, now func() time.Time) (*eventSocket, error) {
	handshake, cancel := context.WithTimeoutCause(ctx, timing.Handshake, errHandshake)
	defer cancel()
	conn, _, err := websocket.Dial(handshake, address, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, fmt.Errorf("can't reach EventSub: %w", withoutURL(cmp.Or(context.Cause(handshake), err)))
	}
	conn.SetReadLimit(maxFrame)
	_, text, err := conn.Read(handshake)
	if err != nil {
		conn.CloseNow()
		return nil, cmp.Or(context.Cause(handshake), closeReason(err))
	}
	welcome, err := readFrame(text)
	if session := welcome.Payload.Session; err != nil || welcome.Metadata.Kind != frameWelcome || !isID(session.ID) {
		conn.CloseNow()
		return nil, errNoWelcome
	}
	return newEventSocket(ctx, conn, welcome, timing, now()), nil
}

func newEventSocket(ctx context.Context, conn *websocket.Conn, welcome eventFrame, timing Timing, now time.Time) *eventSocket {
	k := &eventSocket{conn: conn, session: welcome.Payload.Session.ID, welcome: now, saidAt: welcome.Metadata.At.Time}
	k.ctx, k.end = context.WithCancelCause(ctx)
	promised := keepalive
	if told := welcome.Payload.Session.Keepalive; told > 0 && told <= int64(maxKeepalive/time.Second) {
		promised = time.Duration(told) * time.Second
	}
	k.patience = promised + timing.PongWithin
	k.watchdog = time.AfterFunc(k.patience, func() { k.end(errSilence) })
	return k
}

// byTwitch is what Twitch's clock says when ours says at. It is counted from the welcome on, so that setting our clock changes nothing.
func (k *eventSocket) byTwitch(at time.Time) time.Time {
	if k.saidAt.IsZero() {
		return at
	}
	return k.saidAt.Add(at.Sub(k.welcome))
}

// clockTolerance is by how much our clock may differ from Twitch's before that is worth telling.
const clockTolerance = time.Minute

// clockOff is by how much our clock differed from Twitch's when it welcomed us.
func (k *eventSocket) clockOff() time.Duration {
	return k.byTwitch(k.welcome).Sub(k.welcome).Abs()
}

// inMinutes writes a length of time without its seconds.
func inMinutes(d time.Duration) string {
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// next waits for the next frame, which stands until the one after that is asked for. The error says why there is none.
func (k *eventSocket) next() ([]byte, error) {
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

// retire lets the socket end once what is still under way has arrived.
func (k *eventSocket) retire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retired = true
	k.watchdog.Reset(drainFor)
}

func (k *eventSocket) close() {
	k.watchdog.Stop()
	k.end(nil)
	k.conn.CloseNow()
}

// badMove is the code that Twitch closes a socket with whose address it doesn't know.
const badMove = 4007

// closeCodes are Twitch's other reasons for closing a socket.
var closeCodes = map[websocket.StatusCode]string{
	4000: "a fault of its own",
	4001: "it heard something, and a client may not say anything",
	4002: "a ping stayed unanswered",
	4003: "there was no subscription in time",
	4004: "the time to move on had run out",
	4005: "its network was too slow",
	4006: "its network failed",
}

// closeReason says in words why reading failed.
func closeReason(err error) error {
	code := websocket.CloseStatus(err)
	switch reason, known := closeCodes[code]; {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("a frame of EventSub: %w", TooLong)
	case code == badMove:
		return fmt.Errorf("%w (%d: %w)", errClosed, code, errBadMove)
	case known:
		return fmt.Errorf("%w (%d: %s)", errClosed, code, reason)
	case code >= 0:
		return fmt.Errorf("%w (%d)", errClosed, code)
	}
	return broken(err)
}

// withoutURL takes the address off an error: one to move on to is a secret.
func withoutURL(err error) error {
	if failed := new(url.Error); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// eventSubAddress is where a new session begins.
func eventSubAddress(base string) (string, error) {
	u, err := url.Parse(cmp.Or(base, eventSubURL))
	if err != nil {
		return "", fmt.Errorf("EventSub's address: %w", err)
	}
	query := u.Query()
	query.Set("keepalive_timeout_seconds", fmt.Sprint(int(keepalive/time.Second)))
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// mayMove reports whether the server at one address may send us on to another: never from an encrypted to a plain one.
func mayMove(from, to string) bool {
	a, errA := url.Parse(cmp.Or(from, eventSubURL))
	b, errB := url.Parse(to)
	return errA == nil && errB == nil && b.Host != "" && (b.Scheme == "wss" || b.Scheme == "ws" && a.Scheme == "ws")
}
