package check

import (
	"bytes"
	"io"
	"net/http"

	"github.com/chatguard/chatguard/internal/web/problem"
)

// A body of up to problem.MaxBody bytes is read as it is. In a longer one, texts are cut while they
// arrive. Otherwise a user could avoid the limits with a text that is too long to be judged.
const (
	maxLongBody  = 16 << 20 // maximum length as it arrives, in bytes
	maxShortened = 4 << 20  // maximum length with its texts cut, in bytes
	maxLongText  = 2 << 10  // bytes of JSON that are left of a text
)

// readBody reads the body of a request.
func (c *scratch) readBody(w http.ResponseWriter, r *http.Request) error {
	if err := problem.CheckJSON(r); err != nil {
		return err
	}
	body := http.MaxBytesReader(w, r.Body, maxLongBody)
	_, err := c.body.ReadFrom(io.LimitReader(body, problem.MaxBody+1))
	if err == nil && c.body.Len() > problem.MaxBody {
		err = c.readLong(body)
	}
	if err != nil {
		return problem.Unread(err)
	}
	return nil
}

// readLong cuts the texts of what was read, and of the rest.
func (c *scratch) readLong(rest io.Reader) error {
	c.isLong = true
	var cut textCutter
	cut.add(c.body.Bytes())
	clear(c.body.Bytes())
	c.body.Reset()
	chunk := make([]byte, 64<<10)
	for {
		n, err := rest.Read(chunk)
		if cut.add(chunk[:n]); len(cut.out) > maxShortened {
			return &http.MaxBytesError{Limit: maxShortened}
		}
		if err == io.EOF {
			c.body = *bytes.NewBuffer(cut.out)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// textCutter cuts the strings of a JSON value to maxLongText bytes and a cutMark. The zero value is
// ready.
type textCutter struct {
	out      []byte
	inString bool
	length   int // bytes of the string
	escape   int // bytes of an escape sequence that are missing; or newEscape
}

// newEscape means that the next byte is the kind of an escape sequence.
const newEscape = -1

// add adds a part of the JSON value. An escape sequence is kept as a whole or left out.
func (t *textCutter) add(part []byte) {
	for _, b := range part {
		switch {
		case !t.inString:
			t.inString, t.length = b == '"', 0
			t.out = append(t.out, b)
			continue
		case t.escape == newEscape:
			t.escape = 0
			if b == 'u' {
				t.escape = len("0000")
			}
		case t.escape > 0:
			t.escape--
		case b == '"':
			t.inString = false
			t.out = append(t.out, b)
			continue
		default:
			if t.length >= maxLongText && t.length != beyond {
				t.length = beyond
				t.out = append(t.out, cutMark...)
			}
			if b == '\\' {
				t.escape = newEscape
			}
		}
		if t.length != beyond {
			t.length++
			t.out = append(t.out, b)
		}
	}
}

const (
	beyond  = 1 << 30 // the length of a string that was cut
	cutMark = "…"     // at its end
)
