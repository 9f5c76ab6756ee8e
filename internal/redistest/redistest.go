// Package redistest starts redis-server for tests.
package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// patience is how long a server may take to start. It only matters if the server is broken.
const patience = time.Minute

// Server is a redis-server on the loopback interface.
type Server struct {
	Port int
	Args []string // "PORT" stands for the port

	t      testing.TB
	binary string
	dir    string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	log    waittest.Output
}

// Start starts a server with an empty database that stores nothing on disk. It ends with the test.
// With -short, it skips three tests of four; see turntest.Expensive.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartBinary(t, "redis-server", append([]string{"--save", "", "--appendonly", "no"}, args...)...)
}

// StartBinary starts a server with only these arguments and those for the port and the folder. It
// skips tests as Start does.
func StartBinary(t testing.TB, binary string, args ...string) *Server {
	t.Helper()
	turntest.Expensive(t)
	s, err := launch(binary, t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(s.Kill)
	return s
}

// StartForExample is Start for an example, which must call Kill at its end. The caller chooses the
// folder, because an example has no T.TempDir.
func StartForExample(folder string, args ...string) (*Server, error) {
	return launch("redis-server", folder, append([]string{"--save", ""}, args...)...)
}

// errPortTaken means that the server found its port taken.
var errPortTaken = errors.New("the port is taken")

// launch starts a server on a free port. The port stays free while the server is killed, because
// the system doesn't give such ports to connections or to listeners without a port. The same is
// true of the port of a Cluster's bus, which is higher by 10,000.
func launch(binary, folder string, args ...string) (*Server, error) {
	path, err := exec.LookPath(binary)
	if err != nil {
		return nil, fmt.Errorf("%w: run scripts/prepare.sh", err)
	}
	s := &Server{Args: args, binary: path, dir: folder}
	for {
		s.Port = 10_000 + rand.IntN(11_000)
		if err := s.start(); !errors.Is(err, errPortTaken) {
			return s, err
		}
	}
}

// Start starts the server again on the same port, after Kill.
func (s *Server) Start() {
	s.t.Helper()
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

// start starts the process, and waits until it accepts connections.
func (s *Server) start() error {
	args := slices.Clone(s.Args)
	for i := range args {
		if args[i] == "PORT" {
			args[i] = fmt.Sprint(s.Port)
		}
	}
	if !slices.Contains(args, "--port") {
		args = append(args, "--port", fmt.Sprint(s.Port))
	}
	args = append(args, "--bind", "127.0.0.1", "--dir", s.dir, "--daemonize", "no", "--logfile", "")
	before := len(s.log.String())
	cmd, ended := exec.Command(s.binary, args...), make(chan struct{})
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.SysProcAttr = endWithParent()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.ended = cmd, ended
	go func() {
		defer close(ended)
		cmd.Wait() // it is killed, or its log says why it has ended
	}()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	tooLong := time.After(patience)
	for {
		text := s.log.String()[before:]
		if strings.Contains(text, "eady to accept connections") || strings.Contains(text, "+monitor master") { // a Sentinel
			return nil
		}
		select {
		case <-look.C:
			continue
		case <-ended:
			if text = s.log.String()[before:]; strings.Contains(text, "Address already in use") {
				return errPortTaken
			}
			return fmt.Errorf("%s %v has ended:\n%s", s.binary, args, text)
		case <-tooLong:
			s.Kill()
			return fmt.Errorf("%s %v doesn't accept connections:\n%s", s.binary, args, text)
		}
	}
}

// Kill ends the server, as a crash does.
func (s *Server) Kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill() // fails if it has ended
		<-s.ended
		s.cmd = nil
	}
}

// Signal sends a signal to the server.
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Addr returns the server's address.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// URL returns the server's URL for redisstore.Open.
func (s *Server) URL() string { return "redis://" + s.Addr() }
