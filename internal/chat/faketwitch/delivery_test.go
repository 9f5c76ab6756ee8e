package faketwitch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// receivedTexts sends n messages, lets a minute pass, and returns the ends of the lines that a
// reader received.
func receivedTexts(t *testing.T, d Delivery, n int) (got []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Channels: []string{"room"}, InMemory: true})
		reader := dial(t, s, append(anonymous, "JOIN #room")...)
		must(t, s.WaitJoined(t.Context(), 1))
		reader.readUntil("ROOMSTATE")
		read := make(chan struct{})
		go func() {
			defer close(read)
			for reader.lines.Scan() {
				line := reader.lines.Text()
				got = append(got, strings.TrimPrefix(line[strings.LastIndexByte(line, ' ')+1:], ":"))
			}
		}()
		s.SetDelivery(d)
		for i := range n {
			_, err := s.Say(Line{Channel: "room", Login: "anna", Text: fmt.Sprint(i)})
			must(t, err)
		}
		s.SetDelivery(Delivery{})
		<-time.After(time.Minute)
		s.Disconnect()
		<-read
	})
	return got
}

func numbers(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint(i))
	}
	return texts
}

func TestDelivery(t *testing.T) {
	plain := numbers(40)
	if got := receivedTexts(t, Delivery{Seed: 7}, 40); !slices.Equal(got, plain) {
		t.Errorf("without faults: %q", got)
	}
	for name, d := range map[string]Delivery{"out of order": {Shuffle: 0.3}, "late": {Late: 0.3}, "all of it": {Shuffle: 0.2, Late: 0.2, Duplicate: 0.2}} {
		got, again := receivedTexts(t, d, 40), receivedTexts(t, d, 40)
		if !slices.Equal(got, again) {
			t.Errorf("%s: the same seed plays differently:\n%q\n%q", name, got, again)
		}
		if d.Seed++; slices.Equal(got, receivedTexts(t, d, 40)) {
			t.Errorf("%s: another seed plays alike", name)
		}
		if slices.Equal(got, plain) || len(got) > 40 != (d.Duplicate > 0) {
			t.Errorf("%s: %q", name, got)
		}
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(plain))
		if !slices.Equal(slices.Compact(got), sorted) {
			t.Errorf("%s: not all of it came: %q", name, got)
		}
	}
	if got := receivedTexts(t, Delivery{Duplicate: 1}, 2); !slices.Equal(got, []string{"0", "0", "1", "1"}) {
		t.Errorf("all twice: %q", got)
	}
	if got := receivedTexts(t, Delivery{Garbage: 1}, 5); len(got) < 10 {
		t.Errorf("with garbage: %q", got)
	}
	if got := receivedTexts(t, Delivery{Reconnect: 1}, 2); !slices.Equal(got, []string{"0", "RECONNECT", "1", "RECONNECT"}) {
		t.Errorf("with RECONNECT: %q", got)
	}
	if got := receivedTexts(t, Delivery{Stall: 1}, 3); !slices.Equal(got, []string{"0"}) {
		t.Errorf("stalled: %q", got)
	}
	if got := receivedTexts(t, Delivery{Disconnect: 1}, 3); !slices.Equal(got, []string{"0"}) {
		t.Errorf("disconnected: %q", got)
	}
}

// TestDelivery_Late checks that a late message is sent when it is due, with its original time, and
// never after Close.
func TestDelivery_Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Channels: []string{"room"}, InMemory: true})
		reader := dial(t, s, append(anonymous, "JOIN #room")...)
		must(t, s.WaitJoined(t.Context(), 1))
		s.SetDelivery(Delivery{Late: 1, LateBy: 3 * time.Second})
		began := time.Now()
		_, err := s.Say(Line{Channel: "room", Login: "anna", Text: "hello"})
		must(t, err)
		if line := reader.readUntil("PRIVMSG"); time.Since(began) < 3*time.Second/2 || time.Since(began) > 3*time.Second || !strings.Contains(line, fmt.Sprintf("tmi-sent-ts=%d;", began.UnixMilli())) {
			t.Errorf("%v later: %s", time.Since(began), line)
		}
		_, err = s.Say(Line{Channel: "room", Login: "anna", Text: "never"})
		must(t, err)
	})
}

func TestCloseAfter(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	s.CloseAfter(3)
	c, lines := dial(t, s, anonymous...), 0
	for c.lines.Scan() {
		lines++
	}
	if lines != 3 {
		t.Errorf("%d lines before the end, want 3", lines)
	}
	s.CloseAfter(0)
	if dial(t, s, append(anonymous, "JOIN #room")...).readUntil("ROOMSTATE") == "" {
		t.Error("closed for good")
	}
}
