package irc

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

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// session is one connection, from dialing to its end.
type session struct {
	irc    *Conn
	timing twitch.Timing
	pace   *pacer
	lines  *queue

	transport transport
	in        lineReader
	writing   sync.Mutex    // held while writing a line
	began     time.Time     // start of dialing by the machine's clock
	lastHeard atomic.Int64  // last data from the server, in ns after began
	token     string        // as Conn.Token returned it; empty if anonymous
	welcome   chan struct{} // closed when the server welcomes us
	// welcomed is when the server welcomed us, by the Conn's clock; zero before. Only the reader
	// accesses it until the session has ended.
	welcomed time.Time
	// moderates says whether we moderate a channel, if the server has said so. Only the reader uses
	// it.
	moderates map[string]bool
}

func (i *Conn) newSession(timing twitch.Timing, pace *pacer, lines *queue) *session {
	return &session{irc: i, timing: timing, pace: pace, lines: lines, welcome: make(chan struct{}), moderates: make(map[string]bool)}
}

// run connects and reads until the connection ends, and returns why it ended.
func (s *session) run(ctx context.Context) error {
	// Get the credentials first, because a server doesn't wait long for a login.
	login, pass, err := s.credentials(ctx)
	if err != nil {
		return err
	}
	s.began = time.Now()
	if err := s.dial(ctx); err != nil {
		return err
	}
	defer s.transport.Close()

	parts, ctx := errgroup.WithContext(ctx)
	// Close the connection when the context ends, because reads and writes ignore the context.
	defer context.AfterFunc(ctx, func() { s.transport.Close() })()
	parts.Go(func() error { return s.read(ctx) })
	parts.Go(func() error { return s.keepAlive(ctx) })
	parts.Go(func() error {
		if err := s.introduce(login, pass); err != nil {
			return err
		}
		return s.keepJoined(ctx)
	})
	return parts.Wait()
}

// read processes what the server sends. It handles control lines such as PING at once, and queues
// chat lines.
func (s *session) read(ctx context.Context) error {
	s.in.in = s.transport
	for {
		failed := s.in.fill()
		read := time.Now()
		if failed == nil {
			s.noteHeard(read)
		}
		if err := s.processLines(ctx, read); err != nil {
			return err
		}
		switch {
		case errors.Is(failed, io.EOF):
			return twitch.ErrClosed
		case failed != nil:
			return twitch.Broken(failed)
		}
	}
}

// processLines processes the lines that have arrived, at the time read. It also queues chat that
// arrived together with the line that ends the connection.
func (s *session) processLines(ctx context.Context, read time.Time) error {
	b := batch{read: read}
	overrun, count := s.in.overrun, 0
	var ended error
	for text, ok := s.in.next(); ok; text, ok = s.in.next() {
		count++
		line, err := split(text)
		switch {
		case err != nil:
			s.irc.report.Skip(err)
		case line.isChat():
			if s.learnChannel(line) {
				b.lines = append(b.lines, text)
			}
		case ended == nil:
			ended = s.control(line)
		}
	}
	s.count(count, s.in.overrun-overrun)
	if len(b.lines) > 0 && !s.lines.Push(ctx, b) {
		s.irc.report.Note(func(st *twitch.Status) { st.Dropped += uint64(len(b.lines)) })
	}
	return ended
}

func (s *session) count(read int, tooLong uint64) {
	s.irc.report.Note(func(st *twitch.Status) {
		st.Lines += uint64(read) + tooLong
		if tooLong > 0 {
			st.Skipped[twitch.TooLong] += tooLong
		}
	})
}

// write sends one line. It refuses text that contains a line break or a NUL.
func (s *session) write(line string) error {
	if strings.ContainsAny(line, "\r\n\x00") {
		return fmt.Errorf("%w: a line break inside a line to the chat server", twitch.ErrUnsafe)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.transport.send(line+"\r\n", s.timing.Write); err != nil {
		return twitch.Broken(err)
	}
	return nil
}
