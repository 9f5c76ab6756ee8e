//go:build !race

package main

import (
	"strings"
	"testing"
)

// TestWatchLog_Plain checks that a record is one line of text without control characters.
func TestWatchLog_Plain(t *testing.T) {
	var out strings.Builder
	log := newWatchLog(&out)
	log.Debug("too much")
	log.With("transport", "irc").Warn("twitch chat", "trouble", "no answer\n\x1b[2J", "wait", 5)
	line, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(line, "-- twitch chat: transport irc, trouble no answer") || !strings.HasSuffix(line, ", wait 5") || rest != "" || strings.Contains(line, "\x1b") {
		t.Errorf("%q", out.String())
	}
}
