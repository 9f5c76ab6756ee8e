// Package redistest starts redis-server for tests.
package redistest

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/programtest"
)

// Server is a redis-server on the loopback interface.
type Server struct {
	Port int
	Args []string // "PORT" stands for the port

	t      testing.TB
	binary string
	dir    string
	cmd    *exec.Cmd
	log    Output
}

// Start starts a server with an empty database that stores nothing on disk. It ends with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartBinary(t, "redis-server", append([]string{"--save", "", "--appendonly", "no"}, args...)...)
}

// StartBinary starts a server with just these arguments, and the port and the folder.
func StartBinary(t testing.TB, binary string, args ...string) *Server {
	t.Helper()
	path, err := exec.LookPath(binary)
	if err != nil {
		t.Fatalf("%v: run scripts/prepare.sh", err)
	}
	s := &Server{Port: programtest.FreeAddress(t).Port, Args: args, t: t, binary: path, dir: t.TempDir()}
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start starts the server again on the same port, after Kill.
func (s *Server) Start() {
	s.t.Helper()
	args := slices.Clone(s.Args)
	for i := range args {
		if args[i] == "PORT" {
			args[i] = fmt.Sprint(s.Port)
		}
	}
	if !slices.Contains(args, "--port") {
		args = append(args, "--port", fmt.Sprint(s.Port))
	}
	args = append(args, "--bind", "127.0.0.1", "--dir", s.dir, "--daemonize", "no")
	s.cmd = exec.Command(s.binary, args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", s.Addr(), time.Second)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s %v doesn't accept connections: %v\n%s", s.binary, args, err, s.log.String())
		}
	}
}

// Kill ends the server, as a crash does.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
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
