package twitch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// session is one connection, from dialling to its end.
type session struct {
	irc    *IRC
	timing Timing
	pace   *pacer
	lines  *queue

	wire     wire
	in       lineReader
	writing  sync.Mutex      // held while a line is written
	began    time.Time       // when dialling began, by the machine's clock
	heard    atomic.Int64    // when the server last said something: nanoseconds after began
	token    string          // as the caller gave it; empty where we are anonymous
	welcome  chan struct{}   // closed when the server has welcomed us
	welcomed time.Time       // when it did, by the IRC's clock; zero before. The reader's only, until the session has ended
	standing map[string]bool // whether we moderate, by channel, as far as the server has told. The reader's only
}

func (i *IRC) newSession(timing Timing, pace *pacer, lines *queue) *session {
	return &session{irc: i, timing: timing, pace: pace, lines: lines, welcome: make(chan struct{}), standing: make(map[string]bool)}
}

// run connects and reads until the connection ends, and says why it ended.
func (s *session) run(ctx context.Context) error {
	login, pass, err := s.credentials(ctx) // before dialling: a server doesn't wait long for an introduction
	if err != nil {
		return err
	}
	s.began = time.Now()
	if err := s.dial(ctx); err != nil {
		return err
	}
	defer s.wire.Close()

	parts, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { s.wire.Close() })() // reading and writing don't know the context
	parts.Go(func() error { return s.read(ctx) })
	parts.Go(func() error { return s.watch(ctx) })
	parts.Go(func() error {
		if err := s.introduce(login, pass); err != nil {
			return err
		}
		return s.keepJoined(ctx)
	})
	return parts.Wait()
}

// read takes what the server sends: it answers what concerns the connection at once, and queues what is chat.
func (s *session) read(ctx context.Context) error {
	s.in.in = s.wire
	for {
		failed := s.in.fill()
		if failed == nil {
			s.hear()
		}
		if err := s.sort(ctx); err != nil {
			return err
		}
		switch {
		case errors.Is(failed, io.EOF):
			return errClosed
		case failed != nil:
			return broken(failed)
		}
	}
}

// sort goes through the lines that have arrived. Chat that arrived with the line that ends the connection still counts.
func (s *session) sort(ctx context.Context) error {
	var b batch
	overrun, read := s.in.overrun, 0
	var ended error
	for text, ok := s.in.next(); ok; text, ok = s.in.next() {
		read++
		line, err := split(text)
		switch {
		case err != nil:
			s.irc.skip(err)
		case line.isChat():
			if s.reads(line) {
				b = append(b, text)
			}
		case ended == nil:
			ended = s.control(line)
		}
	}
	s.count(read, s.in.overrun-overrun)
	if len(b) > 0 && !s.lines.push(ctx, b) {
		s.irc.note(func(st *Status) { st.Dropped += uint64(len(b)) })
	}
	return ended
}

func (s *session) count(read int, tooLong uint64) {
	s.irc.note(func(st *Status) {
		st.Lines += uint64(read) + tooLong
		if tooLong > 0 {
			st.Skipped[TooLong] += tooLong
		}
	})
}

// write sends one line. Whatever it is made of, it stays one line.
func (s *session) write(line string) error {
	if strings.ContainsAny(line, "\r\n\x00") {
		return fmt.Errorf("%w: a line break inside a line to the chat server", ErrUnsafe)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.wire.send(line+"\r\n", s.timing.Write); err != nil {
		return broken(err)
	}
	return nil
}

func broken(err error) error { return fmt.Errorf("the chat connection broke: %w", err) }

// healthyAt reports whether the connection lasted long enough, until now, for its end not to count as a failure in a row.
func (s *session) healthyAt(now time.Time) bool {
	return !s.welcomed.IsZero() && now.Sub(s.welcomed) >= s.timing.Healthy
}
