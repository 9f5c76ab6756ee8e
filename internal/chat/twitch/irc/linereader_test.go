package irc

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns every complete line of a stream.
func readAll(in io.Reader) (lines []string, r *lineReader, err error) {
	r = &lineReader{in: in}
	for err == nil {
		err = r.fill()
		for line, ok := r.next(); ok; line, ok = r.next() {
			lines = append(lines, line)
		}
	}
	return lines, r, err
}

// cutLines computes what readAll must return, in a slow but obvious way.
func cutLines(stream string) (lines []string, tooLong uint64) {
	parts := strings.Split(stream, "\n")
	for i, line := range parts {
		last := i == len(parts)-1
		trimmed := strings.TrimSuffix(line, "\r")
		switch {
		case last && len(line) > maxLine+1, !last && len(trimmed) > maxLine:
			tooLong++
		case !last:
			lines = append(lines, trimmed)
		}
	}
	return lines, tooLong
}

func TestLineReader(t *testing.T) {
	long, atBound := strings.Repeat("x", 1<<20), strings.Repeat("y", maxLine)
	for name, c := range map[string]struct {
		stream string
		want   []string
		long   uint64
	}{
		"nothing":            {"", nil, 0},
		"lines":              {"a\r\nb\n\r\nc\n", []string{"a", "b", "", "c"}, 0},
		"unfinished":         {"a\nb", []string{"a"}, 0},
		"1 MB":               {"a\n" + long + "\nb\n", []string{"a", "b"}, 1},
		"1 MB twice":         {long + "\n" + long + "\r\nb\n", []string{"b"}, 2},
		"1 MB, unfinished":   {"a\n" + long, []string{"a"}, 1},
		"as long as may be":  {atBound + "\r\nb\n", []string{atBound, "b"}, 0},
		"one byte more":      {atBound + "y\r\nb\n", []string{"b"}, 1},
		"several in a chunk": {strings.Repeat(atBound+"\n", 9), slices.Repeat([]string{atBound}, 9), 0},
	} {
		for _, in := range []io.Reader{
			strings.NewReader(c.stream), iotest.HalfReader(strings.NewReader(c.stream)), iotest.DataErrReader(strings.NewReader(c.stream)),
			&choppedReader{rest: c.stream, chunk: maxLine + 1},
		} {
			got, r, err := readAll(in)
			if !slices.Equal(got, c.want) || r.overrun != c.long || !errors.Is(err, io.EOF) {
				t.Errorf("%s: %d lines, %d too long, %v; want %d and %d", name, len(got), r.overrun, err, len(c.want), c.long)
			}
			if cap(r.buf) > readBuffer {
				t.Errorf("%s: the buffer grew to %d bytes", name, cap(r.buf))
			}
		}
	}
}

// choppedReader returns at most chunk bytes at a time.
type choppedReader struct {
	rest  string
	chunk int
}

func (c *choppedReader) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(c.chunk, len(p))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
