package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/sendtime"
	"github.com/chatguard/chatguard/internal/textfile"
)

// maxLine is the maximum length of a line in bytes.
const maxLine = 1 << 20

var (
	errNoTime = errors.New("the message has no time")
	errNoCost = errors.New("the cost is less than 1")
)

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxLine)

// lineReader reads lines of limited length from a plain or gzip source.
type lineReader struct {
	buffered *bufio.Reader
	number   int // number of the last line read, from 1
}

func newLineReader(r io.Reader) (*lineReader, error) {
	text, err := textfile.NewReader(r, maxLine)
	return &lineReader{buffered: text}, err
}

// next returns the next line without its line ending, valid until the next call. It returns io.EOF
// after the last line, and errLongLine for a line that was skipped.
func (l *lineReader) next() ([]byte, error) {
	l.number++
	line, err := l.buffered.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) > 0:
		err = nil
	case err == bufio.ErrBufferFull:
		for err == bufio.ErrBufferFull {
			_, err = l.buffered.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			err = errLongLine
		}
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// record is a message as a JSON line.
type record struct {
	At       sendtime.Instant `json:"at"`
	Channel  string           `json:"channel"`
	UserID   string           `json:"user_id"`
	Login    string           `json:"login"`
	Roles    chatguard.Roles  `json:"roles"`
	Timezone string           `json:"timezone"`
	Text     string           `json:"text"`
	Kinds    roles.Kinds      `json:"message_kind"`
	Cost     *int             `json:"cost"`
}

// parse parses a line: as JSON if it begins like an object, otherwise in the platform's format.
func (r *Reader) parse(line []byte) (m chatguard.Message, ok bool, err error) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return m, false, nil
	case line[0] != '{':
		return r.Parse(string(line))
	}
	var rec record
	err = json.Unmarshal(line, &rec)
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) && mismatch.Field != "" {
		err = fmt.Errorf("%q: want %s, found %s", mismatch.Field, mismatch.Type, mismatch.Value)
	}
	if err != nil {
		return m, false, err
	}
	if err := roles.Check(rec.Roles); err != nil {
		return m, false, fmt.Errorf("roles: %w", err)
	}
	m = chatguard.Message{
		ChannelID: rec.Channel, Text: rec.Text, Kinds: rec.Kinds, SentAt: rec.At.Time, Cost: 1,
		User: chatguard.User{ID: rec.UserID, Login: rec.Login, Roles: rec.Roles, Timezone: rec.Timezone},
	}
	if rec.Cost != nil {
		m.Cost = *rec.Cost
	}
	if m.Cost < 1 {
		return m, false, errNoCost
	}
	return m, true, nil
}
