// Package programtest runs other programs in tests.
package programtest

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a program may take to start, and then to stop. It only matters if the
// program is broken.
const patience = time.Minute

// Program is a running program.
type Program struct {
	Found string // what Start has waited for

	mu     sync.Mutex
	output strings.Builder
}

// Output returns what the program has written so far, to its standard output and standard error.
func (p *Program) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Start starts a program, and waits until it has written a line with a match of a pattern. Found is
// then the match of the pattern's first group, or the whole match if there is no group. The program
// gets SIGTERM at the end of the test.
func Start(t testing.TB, command *exec.Cmd, pattern string) *Program {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	out, in := io.Pipe()
	command.Stdout, command.Stderr = in, in
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		command.Wait() // an end before the test's is seen by the reader
		in.Close()
	}()
	p, found, read := &Program{}, make(chan string, 1), make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			p.output.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if match := wanted.FindStringSubmatch(lines.Text()); match != nil {
				select {
				case found <- match[min(1, len(match)-1)]:
				default: // not the first match
				}
			}
		}
	}()
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM) // fails if the program has ended
		kill := time.AfterFunc(patience, func() { command.Process.Kill() })
		defer kill.Stop()
		<-read
	})
	select {
	case p.Found = <-found:
		return p
	case <-read:
		t.Fatalf("%s has ended without %q:\n%s", command, pattern, p.Output())
	case <-time.After(patience):
		t.Fatalf("%s has not written %q:\n%s", command, pattern, p.Output())
	}
	return nil
}

// FreeAddress returns an address of the loopback interface on which nobody listens.
func FreeAddress(t testing.TB) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr)
}
