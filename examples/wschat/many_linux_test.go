package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/waittest"
)

const (
	many = 10_000 // connections
	// processes is the number of client processes. The server's process can open only enough files
	// for one end of each connection.
	processes = 4
	manyRooms = 200
	spare     = 500 // files needed beside the connections
)

// clients is the environment variable that makes this binary run as one of the client processes.
// Its value is the server's address and the number of the process.
const clients = "WSCHAT_TEST_CLIENTS"

func TestMain(m *testing.M) {
	if of := os.Getenv(clients); of != "" {
		var address string
		var process int
		_, err := fmt.Sscan(of, &address, &process)
		if err == nil {
			err = crowdOf(address, process)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// habit is what a client does. In each room, one client in ten never reads, one in ten vanishes
// without a goodbye, and one in ten speaks when asked.
type habit int

const (
	never habit = iota
	vanishes
	speaks
	reads
)

func habitOf(i int) habit { return min(habit(i/manyRooms%10), reads) }

// heard is the number of clients that speak in each room.
const heard = many / manyRooms / 10

// one is a single client.
type one struct {
	habit habit
	tcp   net.Conn
	conn  *websocket.Conn
}

// join connects from its own address, so that the limits by address can stay as they are.
func join(ctx context.Context, address string, i int) (*one, error) {
	o := &one{habit: habitOf(i)}
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (conn net.Conn, err error) {
		o.tcp, err = (&net.Dialer{LocalAddr: from}).DialContext(ctx, network, to)
		return o.tcp, err
	}}
	var err error
	o.conn, _, err = websocket.Dial(ctx, fmt.Sprintf("ws://%s/chat?name=user%d&room=room%d", address, i, i%manyRooms),
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	return o, err
}

func (o *one) speak(ctx context.Context) error {
	if o.habit != speaks {
		return nil
	}
	return o.conn.Write(ctx, websocket.MessageText, []byte("hello"))
}

// hear reads the messages of all clients that speak in the room.
func (o *one) hear(ctx context.Context) error {
	if o.habit < speaks {
		return nil
	}
	for range heard {
		_, line, err := o.conn.Read(ctx)
		if err != nil {
			return err
		}
		if !strings.Contains(string(line), `"text":"hello"`) {
			return fmt.Errorf("heard %s", line)
		}
	}
	return nil
}

// vanish disconnects those clients that leave without a close frame: alternately with a reset and a
// bare FIN.
func (o *one) vanish(i int) error {
	if o.habit != vanishes {
		return nil
	}
	if i%2 == 0 {
		if err := o.tcp.(*net.TCPConn).SetLinger(0); err != nil {
			return err
		}
	}
	return o.tcp.Close()
}

// crowdOf connects this process's clients and performs the steps read from standard input. It
// reports each completed step.
func crowdOf(address string, process int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	crowd := make([]*one, many/processes)
	first := process * len(crowd)
	steps := map[string]func(i int) error{
		"join":   func(i int) (err error) { crowd[i], err = join(ctx, address, first+i); return err },
		"speak":  func(i int) error { return crowd[i].speak(ctx) },
		"hear":   func(i int) error { return crowd[i].hear(ctx) },
		"vanish": func(i int) error { return crowd[i].vanish(first + i) },
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := forEach(len(crowd), steps[in.Text()]); err != nil {
			return fmt.Errorf("%s: %w", in.Text(), err)
		}
		fmt.Println("done")
	}
	return in.Err()
}

// forEach calls do for all n, 64 at a time.
func forEach(n int, do func(int) error) error {
	var working sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	next := make(chan int)
	for range 64 {
		working.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					mu.Lock()
					errs = append(errs, fmt.Errorf("%d: %w", i, err))
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	working.Wait()
	return errors.Join(errs...)
}

// crowd holds the connecting processes.
type crowd struct {
	*testing.T
	commands []*exec.Cmd
	in       []io.WriteCloser
	out      []*bufio.Reader
}

func newCrowd(t *testing.T, address string, size int) *crowd {
	t.Helper()
	c := &crowd{T: t}
	for process := range size {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", clients, address, process))
		command.Stderr = os.Stderr
		in, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		c.commands, c.in, c.out = append(c.commands, command), append(c.in, in), append(c.out, bufio.NewReader(out))
	}
	return c
}

// do makes the whole crowd take the steps. Each step begins after all clients have completed the
// previous one.
func (c *crowd) do(steps ...string) {
	c.Helper()
	for _, step := range steps {
		for _, in := range c.in {
			if _, err := fmt.Fprintln(in, step); err != nil {
				c.Fatal(err)
			}
		}
		for _, out := range c.out {
			if line, err := out.ReadString('\n'); err != nil || line != "done\n" {
				rest, _ := io.ReadAll(out)
				c.Fatalf("%s: %v: %s%s", step, err, line, rest)
			}
		}
	}
}

// end ends the processes, and with them the connections that are still open.
func (c *crowd) end() {
	c.Helper()
	for i, command := range c.commands {
		if err := c.in[i].Close(); err != nil {
			c.Error(err)
		}
		if err := command.Wait(); err != nil {
			c.Error(err)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// 10,000 clients are connected at once; a tenth never read and a tenth vanish. The others receive
// all messages in their rooms. After all clients have left, the server keeps nothing of them.
func TestServer_TenThousandConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if files.Cur < many+spare {
		t.Fatalf("%d files may be open at once, and %d are needed: ulimit -n %d", files.Cur, many+spare, 2*many)
	}
	leaks, before := goleak.IgnoreCurrent(), openFiles(t)
	s := openChat(t, chatguard.DefaultPolicy(), connguard.Options{MaxConnections: 1, MaxConnectionsPerAddress: 1})
	c := newCrowd(t, s.address, processes)
	c.do("join")
	waittest.Until(t, func() bool { return s.members() == many })
	c.do("speak", "hear", "vanish")
	waittest.Until(t, func() bool { return s.members() == many-many/10 })
	c.do("speak", "hear")
	c.end()
	waittest.Until(t, func() bool { return s.members() == 0 })
	s.visits.Wait()
	again := newCrowd(t, s.address, 1)
	again.do("join") // one client each; the first clients no longer count
	again.end()
	s.stop()
	goleak.VerifyNone(t, leaks)
	if now := openFiles(t); now > before {
		t.Errorf("%d files are open, %d were before", now, before)
	}
}
