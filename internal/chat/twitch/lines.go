package twitch

import (
	"bytes"
	"io"
)

// The reader's bounds, in bytes. Twitch's lines stay under 9 KiB: 8,191 of tags and 512 of message.
const (
	maxLine    = 16 << 10
	readBuffer = 64 << 10
)

// lineReader cuts a stream into lines. It never holds more than its buffer: a longer line is thrown away as it arrives, and counted.
// The zero value with in set is ready.
type lineReader struct {
	in      io.Reader
	buf     []byte // received and not yet taken: buf[start:]
	start   int
	tooLong bool   // the rest of a line that is being thrown away is still to come
	overrun uint64 // lines thrown away so far
}

// fill reads once from the stream; what arrived is then taken with next.
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

// next takes the next complete line, without its end. It returns false when none is left, and fill is to be called.
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

// shed throws the beginning of a line away once it is clear that the line is too long: one byte more might still be the end's. The buffer holds
// several lines of the greatest length, so there is always room to read into.
func (r *lineReader) shed(held int) {
	if held > maxLine+1 && !r.tooLong {
		r.tooLong = true
		r.overrun++
	}
	if r.tooLong {
		r.start = len(r.buf)
	}
}
