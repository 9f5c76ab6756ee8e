package dashboard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// A request that its client cancels while the shared store makes the change is carried out as a
// whole: all nodes have the change, and the audit log has it once. If the store's reply is lost,
// the log says that the change may have been made, and the nodes agree whether it was.
func TestShared_CancelledChange(t *testing.T) {
	const override, row = api + "/users/zoe/override", "{u:zoe}"
	for _, stop := range []moment{beforeServer, beforeReply, replyLost} {
		t.Run(string(stop), func(t *testing.T) {
			server := redistest.Start(t)
			between := newBetween(t, server.Addr())
			store, guard := runNode(t, "redis://"+between.Addr().String(), "chat-1")
			_, other := runNode(t, server.URL(), "chat-2")
			var log waittest.Output
			asked := make(chan context.Context, 1)
			s := newSite(t, guard, dashboard.Options{
				SharedHealth: store.Health, Nodes: store.Nodes, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Authorize: func(r *http.Request) (string, dashboard.Role, bool) {
					if r.Method == http.MethodPut {
						asked <- r.Context()
					}
					return "anna", dashboard.Moderate, true
				},
			})
			s.say("zoe", 1) // so that the server knows the script of swaps

			reached, release := between.hold(stop, row)
			ctx, leave := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodPut, s.http.URL+mount+override, strings.NewReader(`{"limits":{"burst":{"burst":5}}}`))
				if err == nil {
					r.Header.Set("Content-Type", "application/json")
					_, err = s.http.Client().Do(r)
				}
				answered <- err
			}()
			<-reached
			leave()
			if err := <-answered; !errors.Is(err, context.Canceled) {
				t.Fatalf("the request ended with %v", err)
			}
			<-(<-asked).Done() // the server knows it, too
			release()

			if stop == replyLost {
				waittest.Until(t, func() bool { return strings.Contains(log.String(), "the change may have been made") })
				between.open()
			} else {
				waittest.Until(t, func() bool { return strings.Contains(s.ask("GET", "/api/v1/audit", "anna", "", 200), "zoe") })
				if audit := s.ask("GET", "/api/v1/audit", "anna", "", 200); strings.Count(audit, `"user_id":"zoe"`) != 1 || !strings.Contains(audit, `"author":"site:anna"`) {
					t.Errorf("audit: %s", audit)
				}
			}
			var bursts []int
			for _, node := range []*chatguard.Guard{guard, other} {
				waittest.Until(t, func() bool { // once it sees that the store is back
					own, err := node.UserOverride(t.Context(), chatguard.Key{ChannelID: room, UserID: "zoe"})
					if err == nil {
						bursts = append(bursts, own.Limits["burst"].Burst)
					}
					return err == nil
				})
			}
			if bursts[0] != bursts[1] || stop != replyLost && bursts[0] != 5 {
				t.Errorf("the nodes have a burst of %v", bursts)
			}
		})
	}
}

// moment is where a swap is stopped.
type moment string

const (
	beforeServer moment = "before the server gets it"
	beforeReply  moment = "before the reply"
	replyLost    moment = "the reply is lost"
)

// between forwards connections to a server, and stops one command.
type between struct {
	net.Listener
	to    string
	ended <-chan struct{} // closed when the test ends

	mu       sync.Mutex
	stop     moment // empty: none
	command  string // a part of the command
	isClosed bool   // connections are refused
	reached  chan struct{}
	released chan struct{}
}

func newBetween(t *testing.T, to string) *between {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &between{Listener: listener, to: to, ended: ctx.Done()}
	var all sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		listener.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer in.Close()
				defer context.AfterFunc(ctx, func() { in.Close() })()
				b.serve(in)
			})
		}
	})
	return b
}

// hold stops the next swap that contains a text: reached is closed then. The swap goes on after
// release, unless its reply is lost.
func (b *between) hold(stop moment, text string) (reached chan struct{}, release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop, b.command, b.reached, b.released = stop, text, make(chan struct{}), make(chan struct{})
	return b.reached, sync.OnceFunc(func() { close(b.released) })
}

// open lets connections through again.
func (b *between) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isClosed = false
}

// stopAt returns the moment at which the command is to be stopped; empty for others.
func (b *between) stopAt(command []byte) (stop moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	isSwap := bytes.Contains(command, []byte("EVALSHA")) || bytes.Contains(command, []byte("IFEQ"))
	if isSwap && b.command != "" && bytes.Contains(command, []byte(b.command)) {
		stop, b.stop, b.command = b.stop, "", ""
		b.isClosed = stop == replyLost
	}
	return stop
}

// serve forwards what a client sends, and the server's replies.
func (b *between) serve(in net.Conn) {
	b.mu.Lock()
	isClosed := b.isClosed
	b.mu.Unlock()
	if isClosed {
		return
	}
	out, err := net.Dial("tcp", b.to)
	if err != nil {
		return
	}
	stops := make(chan moment, 1)
	var back sync.WaitGroup
	back.Go(func() {
		defer in.Close()
		forward(in, out, func([]byte) bool {
			select {
			case stop := <-stops:
				b.pause()
				return stop != replyLost
			default:
				return true
			}
		})
	})
	forward(out, in, func(sent []byte) bool {
		switch stop := b.stopAt(sent); stop {
		case beforeServer:
			b.pause()
		case beforeReply, replyLost:
			stops <- stop
		}
		return true
	})
	out.Close()
	back.Wait()
}

// pause says that the command is reached, and waits for release.
func (b *between) pause() {
	close(b.reached)
	select {
	case <-b.released:
	case <-b.ended:
	}
}

// forward copies until a connection ends or look returns false. look gets all that was read before
// it is written.
func forward(to io.Writer, from io.Reader, look func([]byte) bool) {
	room := make([]byte, 64<<10)
	for {
		n, err := from.Read(room)
		if err != nil || !look(room[:n]) {
			return
		}
		if _, err := to.Write(room[:n]); err != nil {
			return
		}
	}
}
