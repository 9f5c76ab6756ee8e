package twitch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// moveWithin is how long a server that asks to move on gives us for it.
const moveWithin = 30 * time.Second

// eventSession is one session of EventSub: its subscriptions, and the socket that serves them, which the server may replace by another.
type eventSession struct {
	events  *EventSub
	client  *http.Client
	timing  Timing
	frames  *eventQueue
	userID  string
	began   time.Time      // when the server welcomed us, by the EventSub's clock; zero before
	tasks   sync.WaitGroup // readers, and what they started
	uneasy  chan struct{}  // filled when the subscriptions may not be what they should be
	end     context.CancelCauseFunc
	ids     map[string]string     // of the channels that were entered, by login; only keepSubscribed's, as the next
	refused map[string]whyRefused // channels by ID whose moderators we aren't told of

	mu     sync.Mutex
	socket *eventSocket            // the one that lives; guarded by mu, as all below
	moving bool                    // another one is being opened in its place
	lost   bool                    // it has ended, and there is no other yet
	since  time.Time               // when it was welcomed
	hasty  int                     // how many in a row were to be left soon after that
	subs   map[subscription]string // IDs of those there are; empty where Twitch didn't tell it
}

func newEventSession(e *EventSub, client *http.Client, timing Timing, frames *eventQueue) *eventSession {
	return &eventSession{
		events: e, client: client, timing: timing, frames: frames, userID: e.UserID(), uneasy: make(chan struct{}, 1),
		ids: make(map[string]string), refused: make(map[string]whyRefused), subs: make(map[subscription]string),
	}
}

// run connects, makes the subscriptions and reads until the session ends, and says why it ended.
func (s *eventSession) run(ctx context.Context) error {
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.tasks.Wait()
	defer s.end(nil)

	address, err := eventSubAddress(s.events.URL)
	if err != nil {
		return err
	}
	socket, err := openSocket(ctx, s.client, address, s.timing, s.events.now)
	if err != nil {
		return err
	}
	s.began = s.events.now()
	s.events.enter(Connected)
	s.adopt(ctx, socket)
	return s.keepSubscribed(ctx)
}

// adopt makes a socket the one that the session lives by. Who was that before may end.
func (s *eventSession) adopt(ctx context.Context, socket *eventSocket) {
	now := s.events.now()
	s.mu.Lock()
	before := s.socket
	s.socket, s.since, s.moving, s.lost = socket, now, false, false
	s.mu.Unlock()
	if before != nil {
		before.retire()
	}
	s.events.log.Info("twitch chat connected over EventSub", "moved", before != nil)
	if off := socket.clockOff(); off >= clockTolerance {
		s.events.trouble(fmt.Errorf("this machine's clock differs from Twitch's by %s: set it right", inMinutes(off)))
	}
	s.tasks.Go(func() {
		err := s.read(ctx, socket)
		socket.close()
		s.leave(socket, err)
	})
}

// leave takes note that a socket has ended. It ends the session, unless another socket has taken over or is about to.
func (s *eventSession) leave(socket *eventSocket, err error) {
	if reason := SkipReason(""); errors.As(err, &reason) {
		s.events.skip(reason)
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

// read takes what the server sends on a socket: it sees to what concerns the connection at once, and queues the events.
func (s *eventSession) read(ctx context.Context, socket *eventSocket) error {
	wait := s.frames.wait
	queue := &eventQueue{batches: s.frames.batches, wait: wait, patience: wait} // two sockets may be read at once, each with its own patience
	for {
		text, err := socket.next()
		if err != nil {
			return err
		}
		at := s.events.now()
		s.events.note(func(st *Status) { st.Lines++ })
		frame, err := readFrame(text)
		if err != nil {
			s.events.skip(err)
			continue
		}
		switch frame.Metadata.Kind {
		case frameNotification:
			if !queue.push(ctx, arrival{at, socket.byTwitch(at), frame}) {
				s.events.note(func(st *Status) { st.Dropped++ })
			}
		case frameReconnect:
			s.move(ctx, socket, frame.Payload.Session.ReconnectURL)
		case frameRevocation:
			s.revoke(frame)
		}
	}
}

// move follows the server to another address, while the socket is read on.
func (s *eventSession) move(ctx context.Context, from *eventSocket, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket != from || s.moving {
		return
	}
	s.moving = true
	s.hasty++
	if s.events.now().Sub(s.since) >= s.timing.Healthy {
		s.hasty = 0
	}
	hasty := s.hasty
	s.tasks.Go(func() {
		socket, err := s.follow(ctx, address, hasty)
		if err != nil {
			s.end(err)
			return
		}
		s.adopt(ctx, socket)
		s.wake() // what was asked for in the meantime may have been refused
	})
}

// follow opens a socket at the address that the server gave. It tries again while the old one lives, and takes its time where the server sends us
// on again and again.
func (s *eventSession) follow(ctx context.Context, address string, hasty int) (*eventSocket, error) {
	if !mayMove(s.events.URL, address) {
		return nil, errBadMove
	}
	within, cancel := context.WithTimeout(ctx, moveWithin)
	defer cancel()
	if hasty > 0 {
		if err := pause(within, backoff(hasty-1, s.timing.BackoffMin, moveWithin/3)); err != nil {
			return nil, err
		}
	}
	for failures := 0; ; failures++ {
		socket, err := openSocket(ctx, s.client, address, s.timing, s.events.now)
		if err == nil {
			return socket, nil
		}
		err = fmt.Errorf("EventSub asked to move on, in vain: %w", err)
		if s.isLost() || errors.Is(err, errBadMove) || pause(within, backoff(failures, s.timing.BackoffMin, s.timing.BackoffMax)) != nil {
			return nil, err
		}
	}
}

func (s *eventSession) isLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// wake lets the subscriptions be looked after now.
func (s *eventSession) wake() {
	select {
	case s.uneasy <- struct{}{}:
	default:
	}
}

// healthyAt reports whether the session lasted long enough, until now, for its end not to count as a failure in a row.
func (s *eventSession) healthyAt(now time.Time) bool {
	return !s.began.IsZero() && now.Sub(s.began) >= s.timing.Healthy
}
