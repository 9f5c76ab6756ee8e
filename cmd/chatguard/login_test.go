//go:build !race

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// twitchKey is the key under which a script stores its scriptTwitch.
type twitchKey struct{}

// scriptTwitch is a script's fake Twitch, with the pending actions in a browser.
type scriptTwitch struct {
	*faketwitch.Server
	ctx      context.Context // ends with the script
	browsers sync.WaitGroup
}

// TestLogin_Scripts runs the command lines in testdata/login with a fake Twitch: what a person
// types, does in the browser, and sees.
func TestLogin_Scripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/login",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               addTwitch,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   checkExitCode,
			"private": checkPrivate,
			// These commands act in the browser once the next login has begun: approve LOGIN signs
			// in as that account, deny refuses.
			"approve": browserCommand(func(s *scriptTwitch, code string, args []string) { s.ApproveAs(code, args[0]) }),
			"deny":    browserCommand(func(s *scriptTwitch, code string, _ []string) { s.Deny(code) }),
			// These commands act at Twitch.
			"polled":     twitchCommand(waitForPoll),
			"codes-live": twitchCommand(setCodeLifetime),
			"identity-down": twitchCommand(func(_ *testscript.TestScript, s *scriptTwitch, _ []string) {
				s.FailAuth(&faketwitch.Fault{Status: 503})
			}),
		},
	})
}

// addTwitch starts a fake Twitch for a script, and replaces $HELIX and $AUTH in the script's files
// with its addresses.
func addTwitch(e *testscript.Env) error {
	server, err := faketwitch.Start(faketwitch.Options{Channels: []string{"gardenhour", "quiethour"}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &scriptTwitch{Server: server, ctx: ctx}
	e.Values[twitchKey{}] = s
	e.Defer(func() {
		stop()
		s.browsers.Wait()
		server.Close()
	})
	server.SetBotModerator("quiethour", false)
	server.SetDeviceTimes(30*time.Minute, time.Second)
	addresses := strings.NewReplacer("$HELIX", server.HelixURL(), "$AUTH", server.AuthURL())
	files, err := filepath.Glob(filepath.Join(e.WorkDir, "*.toml"))
	for _, name := range files {
		contents, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(addresses.Replace(string(contents))), 0o600); err != nil {
			return err
		}
	}
	return err
}

// twitchCommand returns a script command that uses the script's fake Twitch.
func twitchCommand(do func(*testscript.TestScript, *scriptTwitch, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		do(ts, ts.Value(twitchKey{}).(*scriptTwitch), args)
	}
}

// browserCommand returns a script command that waits for the next login to begin, and then acts on
// its code.
func browserCommand(do func(s *scriptTwitch, code string, args []string)) func(*testscript.TestScript, bool, []string) {
	return twitchCommand(func(_ *testscript.TestScript, s *scriptTwitch, args []string) {
		s.browsers.Go(func() {
			if code, err := s.WaitLogin(s.ctx); err == nil {
				do(s, code, args)
			}
		})
	})
}

// waitForPoll waits until a login has asked again whether it has been approved.
func waitForPoll(ts *testscript.TestScript, s *scriptTwitch, _ []string) {
	polls := func() (n int) {
		for _, r := range s.Requests() {
			if r.Path == "/oauth2/token" {
				n++
			}
		}
		return n
	}
	before := polls()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 6000 { // give up on a login that never asks
		if <-look.C; polls() > before {
			return
		}
	}
	ts.Fatalf("nobody asked")
}

// setCodeLifetime sets how long a code is valid: codes-live 1s.
func setCodeLifetime(ts *testscript.TestScript, s *scriptTwitch, args []string) {
	life, err := time.ParseDuration(args[0])
	ts.Check(err)
	s.SetDeviceTimes(life, time.Second)
}

// checkPrivate checks that only the owner of a file can read it: private NAME.
func checkPrivate(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s has mode %o", args[0], info.Mode().Perm())
	}
}

func TestLogin_CountDown(t *testing.T) {
	var out strings.Builder
	until := time.Date(2026, 3, 1, 20, 30, 0, 0, time.UTC)
	ticks, done, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		showCountDown(&out, until, ticks, done)
	}()
	for _, left := range []time.Duration{30 * time.Minute, 61*time.Second + time.Millisecond, -time.Second} {
		ticks <- until.Add(-left)
	}
	close(done)
	<-ended
	const want = "\r\x1b[Kwaiting for the browser, 30:00 left\r\x1b[Kwaiting for the browser, 1:01 left\r\x1b[Kwaiting for the browser, 0:00 left\r\x1b[K"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}
