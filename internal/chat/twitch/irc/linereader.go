package irc

import (
	"bytes"
	"io"
)

// Limits of the reader, in bytes. Twitch's lines stay under 9 KiB: 8,191 of tags and 512 of
// message.
const (
	maxLine    = 16 << 10
	readBuffer = 64 << 10
)

// lineReader splits a stream into lines. It discards and counts lines longer than maxLine. It does
// so while they arrive, so it never holds more than its buffer. Only the field in must be set.
type lineReader struct {
	in      io.Reader
	buf     []byte // buf[start:] was received and not yet returned
	start   int
	tooLong bool   // the rest of a discarded line has yet to arrive
	overrun uint64 // discarded lines so far
}

// fill reads once from the stream; after that, next returns the lines that arrived.
func (r *lineReader) fill() error {
	if r.buf == nil {
		r.buf = make([]byte, 0, readBuffer)
	}
	r.buf = r.buf[:copy(r.buf, r.buf[r.start:])]
	r.start = 0
	n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	return err
}

// next returns the next complete line without its line ending. It returns false if none is left and
// fill must be called.
func (r *lineReader) next() (string, bool) {
	for {
		rest := r.buf[r.start:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			r.shed(len(rest))
			return "", false
		}
		r.start += end + 1
		line := bytes.TrimSuffix(rest[:end], []byte{'\r'})
		switch {
		case r.tooLong:
			r.tooLong = false
		case len(line) > maxLine:
			r.overrun++
		default:
			return string(line), true
		}
	}
}

// shed discards the start of the current line once the line is known to be too long. held is the
// number of bytes in the buffer. The limit is maxLine+1, because the last byte may belong to the
// line ending. The buffer has room for several lines of maximum length, so there is always space to
// read into.
func (r *lineReader) shed(held int) {
	if held > maxLine+1 && !r.tooLong {
		r.tooLong = true
		r.overrun++
	}
	if r.tooLong {
		r.start = len(r.buf)
	}
}
