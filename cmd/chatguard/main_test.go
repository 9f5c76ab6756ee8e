package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/demo"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/waittest"
)

var must = twitchtest.Must

// asCommand is the environment variable that makes the test binary behave as chatguard.
const asCommand = "TEST_AS_CHATGUARD"

// becomeNobody drops root privileges, if there are any.
var becomeNobody = func() error { return nil }

// asNobody is the environment variable that makes the test binary behave as chatguard run by an
// unprivileged user.
const asNobody = "TEST_AS_NOBODY"

func TestMain(m *testing.M) {
	http.DefaultClient.Timeout = maxWait
	progressTick = time.Hour // on a slow machine, commands print what they do on a fast one
	if os.Getenv(asCommand) != "" {
		if os.Getenv(asNobody) != "" {
			if err := becomeNobody(); err != nil {
				panic(err)
			}
		}
		main()
	}
	testscript.Main(tests{m}, map[string]func(){"chatguard": main})
}

// stopBrowser ends the browser that tests have started. Only the browser build has one.
var stopBrowser = func() {}

// tests runs all tests of the package and closes the browser that some of them use.
type tests struct{ *testing.M }

func (t tests) Run() int {
	defer stopBrowser()
	return t.M.Run()
}

// maxWait is how long a process may take to start, to stop, or to carry out a command. It only
// matters if chatguard is broken.
const maxWait = 2 * time.Minute

// commandLine returns a command line of chatguard that ends by itself. With -short, it skips three
// tests of four; see turntest.Expensive.
func commandLine(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	turntest.Expensive(t)
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// runToEnd runs a command, and returns its output, its standard error and its exit code.
func runToEnd(t testing.TB, c *exec.Cmd) (out, complaint string, code int) {
	t.Helper()
	var printed, said strings.Builder
	c.Stdout, c.Stderr = &printed, &said
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return printed.String(), said.String(), c.ProcessState.ExitCode()
}

// process is a running chatguard.
type process struct {
	*exec.Cmd
	said    string // output before the address
	address string // address of its dashboard
	logs    string // file with its standard error
}

// start runs chatguard with the configuration and waits until it has printed the address of its
// dashboard.
func start(t testing.TB, configuration string, env ...string) *process {
	t.Helper()
	return startBinary(t, os.Args[0], configuration, env...)
}

func startBinary(t testing.TB, path, configuration string, env ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(path, "run", "--config", configuration), env...)
}

// startCommand runs a command line and waits as start does. With -short, it skips three tests of
// four.
func startCommand(t testing.TB, command *exec.Cmd, env ...string) *process {
	t.Helper()
	turntest.Expensive(t)
	logs, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	defer logs.Close()
	p := &process{Cmd: command, logs: logs.Name()}
	p.Env = append(append(p.Environ(), asCommand+"=1"), env...)
	p.Stderr = logs
	out, err := p.StdoutPipe()
	must(t, err)
	must(t, p.Start())
	t.Cleanup(func() {
		p.Process.Kill()
		if t.Failed() {
			t.Logf("chatguard's log:\n%s", p.log())
		}
	})
	defer time.AfterFunc(maxWait, func() { p.Process.Kill() }).Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "Dashboard: "); ok {
			p.address = address
			go io.Copy(io.Discard, out)
			return p
		}
		p.said += lines.Text() + "\n"
	}
	t.Fatalf("chatguard ended without an address: %v\n%s", p.Wait(), p.log())
	return nil
}

// Wait waits until the process ends, and kills it if it doesn't.
func (p *process) Wait() error {
	defer time.AfterFunc(maxWait, func() { p.Process.Kill() }).Stop()
	return p.Cmd.Wait()
}

// stop ends the process with SIGTERM and checks that it ends without an error.
func (p *process) stop(t testing.TB) {
	t.Helper()
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil {
		t.Fatalf("after SIGTERM, chatguard ended with %v\n%s", err, p.log())
	}
}

// residentMemory returns the process's resident memory in MiB.
func (p *process) residentMemory(t testing.TB) (mib float64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	must(t, err)
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	var kib float64
	_, err = fmt.Sscan(line, &kib)
	must(t, err)
	return kib / 1024
}

func (p *process) log() string {
	text, err := os.ReadFile(p.logs)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// demoChannel is the channel of most tests.
const demoChannel = demo.First

// demoConfig returns a configuration for the demo's first channel that deletes throttled messages.
func demoConfig(server *faketwitch.Server, folder, listen string) config.Config {
	c := simulatedConfig(server, folder, listen)
	c.Twitch.Channels = []string{demoChannel}
	c.Policy.Mode = chatguard.ModeEnforce
	c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}}
	return c
}

// startTwitch runs a fake Twitch and writes a configuration for it. With -short, it skips three
// tests of four.
func startTwitch(t testing.TB, more string) (server *faketwitch.Server, configuration string) {
	t.Helper()
	turntest.Expensive(t)
	server = twitchtest.Start(t, "gardenhour")
	configuration = filepath.Join(t.TempDir(), "chatguard.toml")
	contents := fmt.Sprintf(`
[twitch]
channels = ["gardenhour"]
irc_address = %q
irc_tls = false
helix_url = %q
auth_url = %q

[web]
listen = "127.0.0.1:0"
%s`, server.IRCAddress(), server.HelixURL(), server.AuthURL(), more)
	must(t, os.WriteFile(configuration, []byte(contents), 0o600))
	return server, configuration
}

// awaitJoined waits until bots have joined so many channels in all.
func awaitJoined(t testing.TB, server *faketwitch.Server, channels int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	if err := server.WaitJoined(ctx, channels); err != nil {
		t.Fatalf("waiting for %d joined channels: %v", channels, err)
	}
}

// say sends a message from a user once somebody is listening.
func say(t testing.TB, server *faketwitch.Server, login, text string) (messageID string) {
	t.Helper()
	id, err := server.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: text})
	must(t, err)
	return id
}

// waitForDeletes waits for the expected number of deletions and checks that they are the expected
// ones.
func waitForDeletes(t *testing.T, server *faketwitch.Server, want []string) {
	t.Helper()
	waittest.Until(t, func() bool { return server.Deleted() >= len(want) })
	var got []string
	for _, d := range server.Deletes() {
		got = append(got, d.Message.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(server.Clears()) != 0 {
		t.Fatalf("deleted %v, want %v; cleared %v", got, want, server.Clears())
	}
}
