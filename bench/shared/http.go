package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// buildProgram builds the command chatguard in a folder, and returns its path.
func buildProgram(ctx context.Context, dir string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/chatguard/chatguard").Output()
	if err != nil {
		return "", fmt.Errorf("go list finds no chatguard: run this program in its repository: %w", err)
	}
	path := filepath.Join(dir, "chatguard")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/chatguard")
	build.Dir, build.Env = strings.TrimSpace(string(module)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("chatguard doesn't build: %w: %s", err, out)
	}
	return path, nil
}

// served is a chatguard that runs as a process of its own, and is asked over HTTP.
type served struct {
	client *checkclient.Client
	cmd    *exec.Cmd
	dir    string
}

// webToken is the token for the chatguard that is asked. It listens on the loopback interface.
const webToken = "0123456789abcdef"

func openServed(ctx context.Context, at site) (limiter, error) {
	table := fmt.Sprintf("[shared]\nmode = \"exact\"\nurl = \"redis://%s\"\ntimeout = %q\n", at.address, storeTimeout)
	return startServed(ctx, at, table)
}

func openServedAlone(ctx context.Context, at site) (limiter, error) {
	return startServed(ctx, at, "")
}

func startServed(ctx context.Context, at site, table string) (limiter, error) {
	dir, err := os.MkdirTemp("", "bench-shared")
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir}
	if err := s.start(ctx, at, table); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start runs chatguard with the limits of the site's rules.
func (s *served) start(ctx context.Context, at site, table string) error {
	size, refilled := at.rules.bucket()
	configuration := filepath.Join(s.dir, "chatguard.toml")
	text := fmt.Sprintf(`timezone = "Europe/Berlin"
[check]
channels = ["1"]
[web]
listen = "127.0.0.1:0"
[policy]
mode = "enforce"
[penalties]
ladder = ["drop"]
[[limit]]
name = "burst"
algorithm = "token-bucket"
burst = %d
refill = %q
[[limit]]
name = "daily"
algorithm = "daily-window"
messages = %d
%s`, size, refilled, at.rules.daily(), table)
	if err := os.WriteFile(configuration, []byte(text), 0o600); err != nil {
		return err
	}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), at.program, "run", "--config", configuration)
	s.cmd.Env = append(os.Environ(), "CHATGUARD_WEB_TOKEN="+webToken)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var complaints bytes.Buffer
	s.cmd.Stderr = &complaints
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "Dashboard: "); ok {
			s.client, err = checkclient.New(strings.TrimRight(address, "/"), webToken, &checkclient.Options{FailClosed: true})
			return err
		}
	}
	return fmt.Errorf("chatguard ends without an address: %v: %s", s.cmd.Wait(), &complaints)
}

func (s *served) check(ctx context.Context, userID string) (bool, error) {
	v, err := s.client.Check(ctx, chatguard.Message{ChannelID: "1", User: chatguard.User{ID: userID}})
	if err == nil && v.Degraded {
		err = errors.New("a message was decided without the server")
	}
	return v.Allowed, err
}

// Close ends the chatguard.
func (s *served) Close() error {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	var err error
	if s.cmd != nil && s.cmd.Process != nil && s.cmd.ProcessState == nil {
		err = errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// ticks is how many of its units of processor time the kernel counts per second.
const ticks = 100

// processorTime returns the processor time that the chatguard has used so far.
func (s *served) processorTime() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid)) // Linux only
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q isn't the state of a process", text)
	}
	var used time.Duration
	for _, field := range fields[11:13] { // of the process, and of the kernel for it
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		used += time.Duration(n) * time.Second / ticks
	}
	return used, nil
}
