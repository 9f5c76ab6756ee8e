package twitch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// session is one connection, from dialling to its end.
type session struct {
	irc      *IRC
	timing   Timing
	channels []string
	pace     *pacer
	lines    *queue

	conn     net.Conn
	in       lineReader
	writing  sync.Mutex      // held while a line is written
	began    time.Time       // when dialling began, by the machine's clock
	welcomed time.Time       // when the server welcomed us, by the IRC's clock; zero before
	entered  map[string]bool // channels that we are known to be in
	asked    bool            // we asked whether the server is still there, and it hasn't said anything since
	welcome  func()          // begins joining; called once
}

// run connects and reads until the connection ends, and says why it ended.
func (s *session) run(ctx context.Context) error {
	var joining sync.WaitGroup
	defer joining.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end() // joining ends with the connection

	login, token, err := s.credentials(ctx) // before dialling: a server doesn't wait long for an introduction
	if err != nil {
		return err
	}
	s.began = time.Now()
	if err := s.dial(ctx); err != nil {
		return err
	}
	defer s.conn.Close()
	defer context.AfterFunc(ctx, func() { s.conn.Close() })() // reading and writing don't know the context

	s.welcome = func() { joining.Go(func() { s.join(ctx) }) }
	if err := s.introduce(login, token); err != nil {
		return err
	}
	return s.read(ctx)
}

// read takes what the server sends: it answers what concerns the connection at once, and queues what is chat.
func (s *session) read(ctx context.Context) error {
	s.in.in = s.conn
	for {
		if err := s.conn.SetReadDeadline(s.deadline()); err != nil {
			return broken(err)
		}
		filled := s.in.fill()
		if filled == nil {
			s.asked = false
		}
		if err := s.sort(ctx); err != nil {
			return err
		}
		if filled != nil {
			if err := s.revive(filled); err != nil {
				return err
			}
		}
	}
}

// deadline is when the server must have said something.
func (s *session) deadline() time.Time {
	switch {
	case s.welcomed.IsZero():
		return s.began.Add(s.timing.Handshake)
	case s.asked:
		return time.Now().Add(s.timing.PongWithin)
	}
	return time.Now().Add(s.timing.PingAfter)
}

// revive asks a silent server once whether it is still there. Any other error ends the connection.
func (s *session) revive(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errClosed
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return broken(err)
	case s.welcomed.IsZero():
		return errHandshake
	case s.asked:
		return errSilence
	}
	s.asked = true
	return s.write("PING :chatguard")
}

// sort goes through the lines that have arrived. Chat that arrived with the line that ends the connection still counts.
func (s *session) sort(ctx context.Context) error {
	b := batch{at: s.irc.now()}
	overrun, read := s.in.overrun, 0
	var ended error
	for text, ok := s.in.next(); ok; text, ok = s.in.next() {
		read++
		line, err := split(text)
		switch {
		case err != nil:
			s.irc.skip(err)
		case line.command == "PRIVMSG":
			s.enterRoom(line)
			b.lines = append(b.lines, text)
		case ended == nil:
			ended = s.control(line)
		}
	}
	s.count(read, s.in.overrun-overrun)
	if len(b.lines) > 0 && !s.lines.push(ctx, b) {
		s.irc.note(func(st *Status) { st.Dropped += uint64(len(b.lines)) })
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
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.timing.Write)); err != nil {
		return broken(err)
	}
	if _, err := s.conn.Write([]byte(line + "\r\n")); err != nil {
		return broken(err)
	}
	return nil
}

func broken(err error) error { return fmt.Errorf("the chat connection broke: %w", err) }

// healthyAt reports whether the connection lasted long enough, until now, for its end not to count as a failure in a row.
func (s *session) healthyAt(now time.Time) bool {
	return !s.welcomed.IsZero() && now.Sub(s.welcomed) >= s.timing.Healthy
}
