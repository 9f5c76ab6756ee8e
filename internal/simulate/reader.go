package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/chatguard/chatguard"
)

// Reader reads the messages of records, which hold lines of a platform or JSON lines.
type Reader struct {
	// Parse parses a line that is not JSON. It returns false for a line that is not a chat message,
	// and ErrMirrored for a message that was written in another channel. Such a message isn't
	// visited, because it counts only in the channel in which it was written.
	Parse func(line string) (chatguard.Message, bool, error)

	// Visit is called with each message and its line, which is valid until Visit returns. If Visit
	// returns an error, the line counts as unreadable, unless the error comes from Stop.
	Visit func(m chatguard.Message, line []byte) error

	// Skipped is called for every line that cannot be read. Nil means no call.
	Skipped func(name string, line int, why error)

	// Unreadable is the number of lines that could not be read.
	Unreadable int

	read int // messages, including mirrored ones
}

// stopError is an error that ends the reading.
type stopError struct{ error }

// Stop returns an error for Reader.Visit that ends the reading. Reader.Read then returns err.
func Stop(err error) error { return stopError{err} }

// ErrMirrored is the error of Reader.Parse for a message that was written in another channel.
var ErrMirrored = errors.New("the message was written in another channel")

// ErrNoMessage is the error for a record without any readable message.
var ErrNoMessage = errors.New("it has no readable message")

// Read visits the messages of one record, plain or gzip, in the order of its lines. name identifies
// the record in messages about its lines. The error is the reader's, the context's, that of Stop,
// or ErrNoMessage. After ErrNoMessage, another record may be read.
func (r *Reader) Read(ctx context.Context, name string, record io.Reader) error {
	lines, err := newLineReader(record)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := r.read
	for ctx.Err() == nil {
		line, err := lines.next()
		if err == io.EOF {
			return r.checkRead(name, before)
		}
		if err != nil && err != errLongLine {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err == nil {
			err = r.visitLine(line)
		}
		if stop, ok := err.(stopError); ok {
			return stop.error
		}
		if err != nil {
			r.skip(name, lines.number, err)
		}
	}
	return ctx.Err()
}

// checkRead returns ErrNoMessage for a record from which no message was read; before is the number
// of messages read earlier.
func (r *Reader) checkRead(name string, before int) error {
	if r.read == before {
		return fmt.Errorf("%s: %w", name, ErrNoMessage)
	}
	return nil
}

func (r *Reader) skip(name string, line int, why error) {
	r.Unreadable++
	if r.Skipped != nil {
		r.Skipped(name, line, why)
	}
}

// visitLine visits the message in a line, if there is one.
func (r *Reader) visitLine(line []byte) error {
	m, ok, err := r.parse(line)
	if errors.Is(err, ErrMirrored) {
		r.read++
		return nil
	}
	if err != nil || !ok {
		return err
	}
	if m.SentAt.IsZero() {
		return errNoTime
	}
	if err := r.Visit(m, line); err != nil {
		return err
	}
	r.read++
	return nil
}
