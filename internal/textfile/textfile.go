// Package textfile reads text files as editors and shells write them: it skips a byte order mark,
// refuses UTF-16, and decompresses gzip. It must not know what is in a file.
package textfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrUTF16 is the error for a text in UTF-16, with the fix.
var ErrUTF16 = errors.New("it is UTF-16 text: save it as UTF-8")

var mark = []byte("\uFEFF")

// Trim returns a text without its byte order mark. The error is ErrUTF16.
func Trim(text []byte) ([]byte, error) {
	if len(text) >= 2 {
		switch first, second := text[0], text[1]; {
		case first == 0xff && second == 0xfe, first == 0xfe && second == 0xff, (first == 0) != (second == 0):
			return text, ErrUTF16
		}
	}
	return bytes.TrimPrefix(text, mark), nil
}

// NewReader returns a reader of a text, plain or gzip, without its byte order mark. size is that of
// its buffer. The error is ErrUTF16, or says that the compression is damaged.
func NewReader(r io.Reader, size int) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, size)
	if magic, err := text.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unzipped, err := gzip.NewReader(text)
		if err != nil {
			return nil, fmt.Errorf("its compression is damaged (%w): copy it again", err)
		}
		text = bufio.NewReaderSize(unzipped, size)
	}
	begin, _ := text.Peek(len(mark)) // the next read returns the error
	rest, err := Trim(begin)
	if err != nil {
		return nil, err
	}
	text.Discard(len(begin) - len(rest)) // they are in the buffer
	return text, nil
}
