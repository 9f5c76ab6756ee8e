package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/sendtime"
)

// checkReader reads a message as encoding/json does, and refuses whatever encoding/json refuses.
func FuzzCheckReader(f *testing.F) {
	for _, seed := range []string{
		`{"channel":"lobby","user_id":"1","text":"hello","roles":["vip","subscriber"],"cost":2,"at":1767614400000}`,
		` { "channel" : "a\u0062\"\\" , "user_id" : "\ud83d\ude00", "roles" : [ ] , "at":"2026-01-05T12:00:00Z"} `,
		`{"channel":null,"user_id":"1","roles":null,"cost":null,"at":null}`, `{}`, `null`, `[]`, `{"channel":"a",}`, `{"channel":"a"}{}`, `{"cost":007}`,
		`{"cost":1.0}`, `{"cost":-1}`, `{"cost":1e2}`, `{"at":007}`, `{"at":tru}`, `{"channel":"a` + "\n" + `"}`, `{"channel":"\x"}`, `{"channel":"\`, `{"a`, `{"roles":["vip" "vip"]}`,
		`{"channel":"a" "user_id":"b"}`, `{"user_id":"\ud800"}`, `{:1}`, `{"channel"}`, `{"\u0063ost":3}`, `{"cost":99999999999999999999}`,
		`{"channel":"lobby","user_id":"1","roles":["king","vip"]}`, `{"channel":"a\nb","user_id":"\ud800","login":"\u0085"}`, "{\"channel\":\"a\",\"user_id\":\"\xff\"}",
		`{"channel":"a","user_id":"1","message_kind":"bits, cheer,resub"}`, `{"channel":"a","user_id":"1","message_kind":null}`, `{"channel":"a","user_id":"1","message_kind":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := checkReader{now: time.Unix(1767614400, 0)}
		got, err := c.read(data)
		want, wantErr := slowMessage(data)
		c.repair(&want)
		switch {
		case err == nil && wantErr != nil:
			t.Errorf("%q is read as %+v; encoding/json: %v", data, got, wantErr)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("%q is read as %+v, want %+v", data, got, want)
		case err != nil && wantErr == nil && c.validate(&want) == nil && sameCase(data):
			t.Errorf("%q can be read, but %v", data, err)
		}
	})
}

// The error for an invalid text says what is wrong, even if the key also accepts a number.
func TestCheckReader_InvalidText(t *testing.T) {
	for data, says := range map[string]string{
		`{"at":"2026` + "\n" + `1"}`: `at: invalid character '\n' in string (expecting non-control character) at byte 11`,
		`{"at":"2026`:                "at: it ends unexpectedly",
		`{"at":"\x"}`:                "at: invalid escape sequence `\\x` in string at byte 7",
		`{"at":tru}`:                 "at: invalid character '}' in literal true (expecting 'e') at byte 9",
		`{"at":007}`:                 "invalid character '0' after object value (expecting ',' or '}') at byte 7",
		`{"at":[]}`:                  "at: want a text or a number, found a list",
	} {
		var c checkReader
		if _, err := c.read([]byte(data)); err == nil || err.Error() != says {
			t.Errorf("%q: %v, want %s", data, err, says)
		}
	}
}

// A text that is cut has the print of the whole text: what marks the cut isn't compared.
func TestCheckReader_CutText(t *testing.T) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"free skins at example dot com" + strings.Repeat("\u200b", 5000), strings.Repeat("😀", 5000), "a" + strings.Repeat("😀", 5000),
	} {
		data, err := json.Marshal(map[string]string{"channel": "lobby", "user_id": "1", "text": text})
		if err != nil {
			t.Fatal(err)
		}
		var cut textCutter
		cut.add(data)
		for isLong, data := range map[bool][]byte{false: data, true: cut.out} {
			c := checkReader{isLong: isLong}
			m, err := c.read(data)
			if err != nil || m.Text == text || !utf8.ValidString(m.Text) || guard.TextPrint(m.Text) != guard.TextPrint(text) {
				t.Errorf("%.40q is cut to %.40q… of %d bytes, which is another text: %v", text, m.Text, len(m.Text), err)
			}
		}
	}
	c := checkReader{isLong: true}
	if m, err := c.read([]byte(`{"channel":"lobby","user_id":"1","text":"wait…"}`)); err != nil || m.Text != "wait…" {
		t.Errorf("a text that wasn't cut is %q: %v", m.Text, err)
	}
}

// read reads a message as POST /check does.
func (c *checkReader) read(data []byte) (m chatguard.Message, err error) {
	var read checkedMessage
	if err := readObject(data, &read, strict); err != nil {
		return m, err
	}
	m, _, err = c.toMessage(&read)
	return m, err
}

// slowMessage reads a message with encoding/json.
func slowMessage(data []byte) (m chatguard.Message, err error) {
	read := struct {
		Channel     string           `json:"channel"`
		UserID      string           `json:"user_id"`
		ID          string           `json:"id"`
		Login       string           `json:"login"`
		DisplayName string           `json:"display_name"`
		Roles       []*string        `json:"roles"`
		Text        string           `json:"text"`
		Kind        string           `json:"message_kind"`
		Cost        *int             `json:"cost"`
		At          sendtime.Instant `json:"at"`
		UpTo        bool             `json:"up_to"`
	}{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return m, err
	}
	if _, err := d.Token(); err != io.EOF {
		return m, errors.New("more than one value")
	}
	m = chatguard.Message{
		ID: read.ID, ChannelID: read.Channel, Text: read.Text, Cost: 1, SentAt: sendtime.Bounded(read.At.Time, time.Unix(1767614400, 0)),
		User: chatguard.User{ID: read.UserID, Login: read.Login, DisplayName: read.DisplayName},
	}
	for _, name := range read.Roles {
		if name == nil {
			return m, errors.New("a role is null")
		}
	}
	if read.Cost != nil {
		m.Cost = *read.Cost
	}
	return m, nil
}

// sameCase reports whether the keys have the case of ours. encoding/json ignores case.
func sameCase(data []byte) bool {
	var keys map[string]any
	if json.Unmarshal(data, &keys) != nil {
		return false
	}
	for key := range keys {
		if key != strings.ToLower(key) || !utf8.ValidString(key) {
			return false
		}
	}
	return true
}
