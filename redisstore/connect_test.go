package redisstore

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestConnect_Timeout checks that a server that doesn't answer has Options.Timeout, and at least a
// second, while a connection is made, and that the error names the time that was waited.
func TestConnect_Timeout(t *testing.T) {
	for name, dial := range map[string]func(ctx context.Context) (net.Conn, error){
		"no connection": func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
		},
		"no connection, and the socket's timer is first": func(ctx context.Context) (net.Conn, error) {
			end, _ := ctx.Deadline()
			time.Sleep(time.Until(end))
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		},
		"no answer to the greeting": func(context.Context) (net.Conn, error) {
			return answering(), nil
		},
		"no answer to the first command": func(context.Context) (net.Conn, error) {
			return answering(hello("7.0.15", "standalone")), nil
		},
	} {
		for timeout, want := range map[time.Duration]time.Duration{
			100 * time.Millisecond: time.Second, 5 * time.Second: 5 * time.Second,
		} {
			t.Run(name+" "+timeout.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, err := newStore("redis://127.0.0.1", &Options{Timeout: timeout, Logger: quiet()})
					must(t, err)
					s.server.dialTCP = func(_ *net.Dialer, ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
					began := time.Now()
					problem, lasting := s.server.explain.problem(s.server.connect(t.Context()))
					if waited := time.Since(began); waited != want {
						t.Errorf("waits for %s, want %s", waited, want)
					}
					if !strings.Contains(problem, "no answer within "+want.String()+": is the server running") || lasting {
						t.Errorf("%s (lasting: %t)", problem, lasting)
					}
					s.Close()
				})
			})
		}
	}
}

// answering returns a connection to a server that reads all commands, and answers only the first
// ones.
func answering(replies ...string) net.Conn {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		reader := bufio.NewReader(server)
		for _, reply := range replies {
			if _, err := readCommand(reader); err != nil {
				return
			}
			io.WriteString(server, reply)
		}
		io.Copy(io.Discard, reader)
	}()
	return client
}
