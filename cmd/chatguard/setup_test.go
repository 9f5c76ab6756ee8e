package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web"
)

// newTestSetup returns a setup in an empty folder that listens.
func newTestSetup(t *testing.T) *setup {
	t.Helper()
	server := twitchtest.Start(t)
	s := newDemoSetup(server, filepath.Join(t.TempDir(), defaultConfig), "127.0.0.1:0", io.Discard)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s.listener = listener.(interruptible)
	t.Cleanup(func() { s.close() })
	return s
}

func TestSetup_NeverOverwrites(t *testing.T) {
	s := newTestSetup(t)
	must(t, os.WriteFile(s.path, []byte("mine"), 0o600))
	_, err := s.create(t.Context(), web.Answers{Channel: "gardenhour", Timezone: "UTC"})
	if data, _ := os.ReadFile(s.path); err == nil || string(data) != "mine" {
		t.Errorf("%v; the file is %s", err, data)
	}
}

func TestSetup_WrongAnswers(t *testing.T) {
	s := newTestSetup(t)
	for says, answers := range map[string]web.Answers{
		"not a channel name": {Channel: "a b", Timezone: "UTC"},
		"Nowhere":            {Channel: "gardenhour", Timezone: "Nowhere"},
		"client ID":          {Channel: "gardenhour", Timezone: "UTC", ClientID: "a\"b"},
	} {
		_, err := s.create(t.Context(), answers)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", answers, err)
		}
		if _, err := os.Stat(s.path); err == nil {
			t.Errorf("%+v: there is a configuration", answers)
		}
	}
}

// TestSetup_FailedStart checks that no configuration is left if chatguard can't start with it, so
// that the person can try again.
func TestSetup_FailedStart(t *testing.T) {
	s := newTestSetup(t)
	folder := filepath.Join(filepath.Dir(s.path), "chatguard.db")
	must(t, os.MkdirAll(filepath.Join(folder, "in the way"), 0o700))
	answers := web.Answers{Channel: "gardenhour", Timezone: "UTC"}
	if _, err := s.create(t.Context(), answers); err == nil {
		t.Fatal("it started")
	}
	if _, err := os.Stat(s.path); err == nil {
		t.Error("there is a configuration")
	}
	must(t, os.RemoveAll(folder))
	code, err := s.create(t.Context(), answers)
	if code == "" || err != nil {
		t.Fatalf("corrected: %q, %v", code, err)
	}
	s.app.Close()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatalf("the listener is closed: %v", err)
	}
	conn.Close()
}

// TestSetup_Moved checks that the configuration names the port if the usual one was taken.
func TestSetup_Moved(t *testing.T) {
	s := newTestSetup(t)
	s.moved = true
	_, err := s.create(t.Context(), web.Answers{Channel: "gardenhour", Timezone: "UTC", ClientID: "abcdefgh"})
	must(t, err)
	s.app.Close()
	c, err := s.load()
	if err != nil || c.Web.Listen != s.listener.Addr().String() || c.Twitch.ClientID != "abcdefgh" {
		t.Errorf("%+v, %+v, %v", c.Web, c.Twitch, err)
	}
}

// TestSetup_UnknownChannel checks that the simulated Twitch has the chosen channel, except the one
// that stands for a mistyped name.
func TestSetup_UnknownChannel(t *testing.T) {
	server := twitchtest.Start(t)
	for channel, want := range map[string]error{"teahouse": nil, unknownChannel: faketwitch.ErrNoChannel} {
		path := filepath.Join(t.TempDir(), defaultConfig)
		contents, err := config.Starter{Channel: channel, Timezone: "UTC"}.Write()
		must(t, err)
		must(t, os.WriteFile(path, []byte(contents), 0o600))
		_, err = newDemoSetup(server, path, "127.0.0.1:0", io.Discard).load()
		must(t, err)
		if _, err := server.Say(faketwitch.Line{Channel: channel, Login: "anna", Text: "hi"}); !errors.Is(err, want) {
			t.Errorf("%s: %v", channel, err)
		}
	}
}

func TestSetup_OnlyThisMachine(t *testing.T) {
	s := newTestSetup(t)
	for _, listen := range []string{"0.0.0.0:0", "192.0.2.1:8080", ":8080"} {
		s.web.Listen = listen
		if a, err := s.run(context.Background()); a != nil || err != errNoSetup {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

func TestBrowser_Opener(t *testing.T) {
	for _, test := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"linux", nil, ""},
		{"linux", map[string]string{"DISPLAY": ":0"}, "xdg-open"},
		{"freebsd", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, "xdg-open"},
		{"linux", map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "192.0.2.1"}, ""},
		{"darwin", nil, "open"},
		{"windows", nil, "rundll32 url.dll,FileProtocolHandler"},
		{"darwin", map[string]string{"SSH_CONNECTION": "192.0.2.1"}, ""},
	} {
		command, ok := opener(test.system, func(name string) string { return test.env[name] })
		if got := strings.Join(command, " "); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s, %v: %q, %v", test.system, test.env, got, ok)
		}
	}
}

// TestLent_NextServer checks that a connection that comes between two servers waits for the second.
func TestLent_NextServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	first := lend(listener.(interruptible))
	first.Close()
	if _, err := first.Accept(); err != net.ErrClosed {
		t.Errorf("closed: %v", err)
	}
	caller, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	defer caller.Close()
	conn, err := lend(listener.(interruptible)).Accept()
	must(t, err)
	conn.Close()
}
