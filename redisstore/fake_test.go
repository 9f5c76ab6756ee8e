package redisstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ifEqualScript does what SET with IFEQ, NX and GET does on newer servers. By its first line, the
// server refuses it when it would refuse a SET.
const ifEqualScript = `#!lua
local old = redis.call('GET', KEYS[1])
local same = old == ARGV[3]
if ARGV[2] == 'NX' then same = not old end
if same then
  if ARGV[4] == '' then redis.call('SET', KEYS[1], ARGV[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[4]) end
end
return old`

// withIfEqual returns the address of a proxy that makes a server of Debian behave like one that has
// SET with IFEQ.
func withIfEqual(t testing.TB, r *redisServer) string {
	return proxy(t, r.Addr(), func(args []string) ([]string, string) {
		if strings.ToUpper(args[0]) != "SET" || len(args) < 5 {
			return args, ""
		}
		eval := []string{"EVAL", ifEqualScript, "1", args[1], args[2]}
		rest := args[3:]
		switch rest[0] {
		case "NX":
			eval, rest = append(eval, "NX", ""), rest[1:]
		case "IFEQ":
			eval, rest = append(eval, "IFEQ", rest[1]), rest[2:]
		default:
			return args, ""
		}
		if rest[0] != "GET" {
			return nil, "-ERR the stand-in needs GET\r\n"
		}
		at := ""
		if len(rest) == 3 && rest[1] == "PXAT" {
			at = rest[2]
		}
		return append(eval, at), ""
	})
}

// listen listens until the test ends.
func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// accept calls serve for each connection to the returned address. The connection ends with the call
// or the test, which waits for all calls.
func accept(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	l := listen(t)
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer in.Close()
				stop := context.AfterFunc(ctx, func() { in.Close() })
				defer stop()
				serve(in)
			})
		}
	})
	return l.Addr().String()
}

// relay forwards what a server says to those who connect to the returned address, and lets forward
// do that for what they say.
func relay(t testing.TB, to string, forward func(in, out net.Conn)) (address string) {
	t.Helper()
	return accept(t, func(in net.Conn) {
		out, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		var back sync.WaitGroup
		defer back.Wait()
		defer out.Close()
		back.Go(func() {
			io.Copy(in, out)
			in.Close()
		})
		forward(in, out)
	})
}

// proxy forwards commands to a server after edit has changed or answered them, and its replies
// unchanged. An answer must not be mixed with forwarded commands in one flush.
func proxy(t testing.TB, to string, edit func(args []string) (forward []string, answer string)) string {
	t.Helper()
	return relay(t, to, func(in, out net.Conn) {
		reader := bufio.NewReader(in)
		for {
			args, err := readCommand(reader)
			if err != nil {
				return
			}
			forward, answer := edit(args)
			if answer != "" {
				io.WriteString(in, answer)
			} else if _, err := io.WriteString(out, encode(forward)); err != nil {
				return
			}
		}
	})
}

func readCommand(r *bufio.Reader) ([]string, error) {
	count, err := readLength(r, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, count)
	for i := range args {
		n, err := readLength(r, '$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, n+2)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		args[i] = string(text[:n])
	}
	return args, nil
}

func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, errors.New("not a command")
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

func encode(args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

// startIdle returns the address of a server that never sends anything.
func startIdle(t testing.TB) string {
	t.Helper()
	return listen(t).Addr().String()
}

// oldServer answers like a server that doesn't know HELLO.
func oldServer(t testing.TB) string {
	return answerHello(t, "-ERR unknown command `HELLO`, with args beginning with: \r\n")
}

// fakeHello answers like a server of a version and mode.
func fakeHello(t testing.TB, version, mode string) string {
	return answerHello(t, hello(version, mode))
}

// hello is the reply to HELLO.
func hello(version, mode string) string {
	return fmt.Sprintf("%%4\r\n+server\r\n+redis\r\n+version\r\n+%s\r\n+proto\r\n:3\r\n+mode\r\n+%s\r\n", version, mode)
}

// answerHello answers HELLO, and accepts all other commands.
func answerHello(t testing.TB, answer string) string {
	return proxy(t, startIdle(t), func(args []string) ([]string, string) {
		if args[0] != "HELLO" {
			return nil, "+OK\r\n"
		}
		return nil, answer
	})
}

// gate forwards connections to a server while it is open.
type gate struct {
	addr  string
	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil while the gate is closed
}

// startGate starts an open gate.
func startGate(t testing.TB, to string) *gate {
	t.Helper()
	g := &gate{conns: map[net.Conn]struct{}{}}
	g.addr = relay(t, to, func(in, out net.Conn) {
		if g.add(in, out) {
			io.Copy(out, in)
		}
	})
	return g
}

// add adds connections, unless the gate is closed.
func (g *gate) add(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		return false
	}
	for _, c := range conns {
		g.conns[c] = struct{}{}
	}
	return true
}

// close cuts all connections, and those that are made until open.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns = map[net.Conn]struct{}{}
}
