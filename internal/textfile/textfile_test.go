package textfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestNewReader(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "{}": "{}", "\uFEFF": "", "\uFEFFa": "a", "a\uFEFF": "a\uFEFF", "\uFEFF\uFEFFa": "\uFEFFa", "\xef\xbb": "\xef\xbb", "\x00\x00": "\x00\x00",
		"\xff\xfea\x00": "UTF-16", "\xfe\xff\x00a": "UTF-16", "a\x00b\x00": "UTF-16", "\x00a\x00b": "UTF-16", "\xff\xfe": "UTF-16",
	} {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		w.Write([]byte(text))
		w.Close()
		for _, from := range []io.Reader{strings.NewReader(text), &zipped} {
			r, err := NewReader(from, 64)
			got := "UTF-16"
			if !errors.Is(err, ErrUTF16) {
				read, failed := io.ReadAll(r)
				if got = string(read); err != nil || failed != nil {
					t.Errorf("%q: %v, %v", text, err, failed)
				}
			}
			if got != want {
				t.Errorf("%q is read as %q, want %q", text, got, want)
			}
		}
	}
	if _, err := NewReader(strings.NewReader("\x1f\x8bno"), 64); err == nil || !strings.HasPrefix(err.Error(), "its compression is damaged (") {
		t.Errorf("damaged gzip: %v", err)
	}
}
