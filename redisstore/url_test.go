package redisstore

import (
	"strings"
	"testing"
)

// Passwords are also written where they don't belong.
func TestParseURL_PasswordElsewhere(t *testing.T) {
	for _, text := range []string{
		"redis://127.0.0.1:1/0?password=geheim",
		"redis://127.0.0.1/0#geheim",
		"redis://127.0.0.1?password=geheim",
		"redis://127.0.0.1?password=a@geheim",
		"redis://:ge/heim?geheim@127.0.0.1",
		"redis://u:1?geheim@127.0.0.1/0",
		"redis://u:1/geheim@127.0.0.1/0?password=geheim",
		"redis://bob@x:1?geheim@127.0.0.1",
		"redis://:geheim",
		"redis://bob:geheim",
		"redis://127.0.0.1/geheim",
		"redis://127.0.0.1/0%3Fpassword=geheim",
		"redis://127.0.0.1&password=geheim",
		"redis://127.0.0.1,password=geheim",
		"redis://h,h/0/geheim",
		"redis+cluster://h/geheim",
		"redis+sentinel://:p@h?geheim",
		"http://bob:geheim",
		"http://127.0.0.1/?password=geheim",
		"127.0.0.1:6379?password=geheim",
		"bob:geheim@redis://127.0.0.1",
		"?password=geheim://127.0.0.1",
		"redis:/:geheim@127.0.0.1",
		"redis:bob:geheim",
		"password=geheim",
	} {
		if _, err := parseURL(text); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
