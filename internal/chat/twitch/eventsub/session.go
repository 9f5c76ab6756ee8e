package eventsub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/clock"
)

// moveWithin is the time in which we must follow a server that requests a reconnect.
const moveWithin = 30 * time.Second

// session is one EventSub session: its subscriptions and the socket that serves them. The server
// may ask for another socket.
type session struct {
	conn    *Conn
	client  *http.Client
	timing  twitch.Timing
	frames  *queue
	userID  string
	began   time.Time      // when welcomed, by the Conn's clock; zero before
	tasks   sync.WaitGroup // readers and the goroutines they started
	recheck chan struct{}  // filled when the subscriptions may need work
	end     context.CancelCauseFunc
	// ids are the IDs of entered channels, by login. Only keepSubscribed uses this field and the
	// next.
	ids map[string]string
	// refused are the channels, by ID, whose moderation events we don't receive.
	refused map[string]refusal

	mu sync.Mutex
	// socket is the active socket. It and the fields below are guarded by mu.
	socket *socket
	moving bool      // a replacement is being opened
	lost   bool      // the socket ended and has no replacement yet
	since  time.Time // when the socket was welcomed
	// quickMoves is how many sockets in a row had to be left soon after their welcome.
	quickMoves int
	// subs are the IDs of the existing subscriptions; an ID is empty if Twitch didn't send it.
	subs map[helix.Subscription]string
	// failed means that a missing subscription may be made later. limit is the error if Twitch
	// allows the account no more subscriptions.
	failed bool
	limit  error
}

func newSession(e *Conn, client *http.Client, timing twitch.Timing, frames *queue) *session {
	return &session{
		conn: e, client: client, timing: timing, frames: frames, userID: e.UserID(), recheck: make(chan struct{}, 1),
		ids: make(map[string]string), refused: make(map[string]refusal), subs: make(map[helix.Subscription]string),
	}
}

// run connects, subscribes and reads until the session ends, and returns why it ended.
func (s *session) run(ctx context.Context) error {
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.tasks.Wait()
	defer s.end(nil)

	address, err := sessionURL(s.conn.URL)
	if err != nil {
		return err
	}
	socket, err := openSocket(ctx, s.client, address, s.timing, s.conn.Clock.Now)
	if err != nil {
		return err
	}
	s.began = s.conn.Clock.Now()
	s.conn.report.Enter(twitch.Connected)
	s.adopt(ctx, socket)
	return s.keepSubscribed(ctx)
}

// adopt makes a socket the session's active one and retires the previous one.
func (s *session) adopt(ctx context.Context, socket *socket) {
	now := s.conn.Clock.Now()
	s.mu.Lock()
	before := s.socket
	s.socket, s.since, s.moving, s.lost = socket, now, false, false
	s.mu.Unlock()
	if before != nil {
		before.retire()
	}
	s.conn.report.Log.Info("twitch chat connected over EventSub", "moved", before != nil)
	if off := socket.clockDifference(); off >= clockTolerance {
		s.conn.report.Trouble(fmt.Errorf("this machine's clock differs from Twitch's by %s: correct it", formatMinutes(off)))
	}
	s.tasks.Go(func() {
		err := s.read(ctx, socket)
		socket.close()
		s.leave(socket, err)
	})
}

// leave records that a socket has ended. It ends the session unless another socket has replaced
// this one or is about to.
func (s *session) leave(socket *socket, err error) {
	if reason := twitch.SkipReason(""); errors.As(err, &reason) {
		s.conn.report.Skip(reason)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket == socket {
		s.lost = true
		if !s.moving {
			s.end(err)
		}
	}
}

// read processes what the server sends on a socket. It handles control frames at once and queues
// the events.
func (s *session) read(ctx context.Context, socket *socket) error {
	queue := s.frames.Fork() // each of two concurrent sockets has its own waiting time
	for {
		text, err := socket.next()
		if err != nil {
			return err
		}
		at := s.conn.Clock.Now()
		s.conn.report.Note(func(st *twitch.Status) { st.Lines++ })
		frame, err := readFrame(text)
		if err != nil {
			s.conn.report.Skip(err)
			continue
		}
		switch frame.Metadata.Kind {
		case frameNotification:
			if !queue.Push(ctx, arrival{at, socket.twitchTime(at), frame}) {
				s.conn.report.Note(func(st *twitch.Status) { st.Dropped++ })
			}
		case frameReconnect:
			s.move(ctx, socket, frame.Payload.Session.ReconnectURL)
		case frameRevocation:
			s.noteRevoked(frame)
		}
	}
}

// move follows the server to another address while the old socket is still read.
func (s *session) move(ctx context.Context, from *socket, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket != from || s.moving {
		return
	}
	s.moving = true
	s.quickMoves++
	if s.conn.Clock.Now().Sub(s.since) >= s.timing.Healthy {
		s.quickMoves = 0
	}
	hasty := s.quickMoves
	s.tasks.Go(func() {
		socket, err := s.follow(ctx, address, hasty)
		if err != nil {
			s.end(err)
			return
		}
		s.adopt(ctx, socket)
		s.scheduleCheck() // requests may have been refused meanwhile
	})
}

// follow opens a socket at the address that the server gave. It retries while the old socket lives.
// It adds delays if the server requests several reconnects in a row.
func (s *session) follow(ctx context.Context, address string, hasty int) (*socket, error) {
	if !mayMove(s.conn.URL, address) {
		return nil, errBadMove
	}
	within, cancel := context.WithTimeout(ctx, moveWithin)
	defer cancel()
	if hasty > 0 {
		if err := clock.Sleep(within, twitch.Backoff(hasty-1, s.timing.BackoffMin, moveWithin/3)); err != nil {
			return nil, err
		}
	}
	for failures := 0; ; failures++ {
		socket, err := openSocket(ctx, s.client, address, s.timing, s.conn.Clock.Now)
		if err == nil {
			return socket, nil
		}
		err = fmt.Errorf("EventSub's reconnect request can't be followed: %w", err)
		if s.isLost() || errors.Is(err, errBadMove) || clock.Sleep(within, twitch.Backoff(failures, s.timing.BackoffMin, s.timing.BackoffMax)) != nil {
			return nil, err
		}
	}
}

func (s *session) isLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// scheduleCheck makes keepSubscribed check the subscriptions soon. It doesn't wait.
func (s *session) scheduleCheck() { chat.WakeUp(s.recheck) }
