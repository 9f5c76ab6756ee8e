package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

const (
	mostText = 2048 // bytes of one message
	// outbox is the number of frames queued for a slow member; a member with more is disconnected.
	outbox = 32
	// waiting is the maximum number of one member's messages that limits may delay at the same
	// time.
	waiting = 16
	// writeTimeout is how long sending one frame may take.
	writeTimeout = 5 * time.Second
)

// frame is what the server sends to the page. It is a message, or if the user's own message is
// dropped or delayed, the verdict on that message.
type frame struct {
	From string `json:"from,omitempty"`
	Text string `json:"text"`
	// Priority is that of a message. The page folds messages of low priority.
	Priority chatguard.Priority `json:"priority,omitempty"`
	Verdict  *chatguard.Verdict `json:"verdict,omitempty"`
}

func (f frame) bytes() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // can't fail: only text and a verdict
	}
	return b
}

// chat is a set of rooms. Every member of a room receives all messages sent there. A slow member
// delays nobody. The zero value is empty.
type chat struct {
	// visits counts open connections. After the context of the requests has ended, wait for visits.
	visits sync.WaitGroup
	// mu is never held during a blocking call.
	mu    sync.Mutex
	rooms map[string]map[*member]struct{}
}

// member is one connection in a room.
type member struct {
	conn   *websocket.Conn
	outbox chan []byte
	leave  context.CancelFunc
}

// send queues a line for the member and never blocks. It returns false if the outbox is full: the
// member has stopped reading and is disconnected.
func (m *member) send(line []byte) bool {
	select {
	case m.outbox <- line:
		return true
	default:
		m.leave()
		return false
	}
}

// write sends the member's outbox until the context ends, and then closes the connection with a
// goodbye.
func (m *member) write(ctx context.Context) {
	for {
		select {
		case line := <-m.outbox:
			if m.writeFrame(line) != nil {
				return // closed, so reading ends as well
			}
		case <-ctx.Done():
			m.conn.Close(websocket.StatusGoingAway, "the server is shutting down")
			return
		}
	}
}

// writeFrame has a context of its own: if that of the visit ended in the middle of a frame, the
// connection would close without a goodbye.
func (m *member) writeFrame(line []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return m.conn.Write(ctx, websocket.MessageText, line)
}

func (c *chat) join(room string, m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rooms == nil {
		c.rooms = map[string]map[*member]struct{}{}
	}
	if c.rooms[room] == nil {
		c.rooms[room] = map[*member]struct{}{}
	}
	c.rooms[room][m] = struct{}{}
}

func (c *chat) quit(room string, m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.rooms[room], m); len(c.rooms[room]) == 0 {
		delete(c.rooms, room)
	}
}

func (c *chat) broadcast(room string, f frame) {
	line := f.bytes()
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := range c.rooms[room] {
		if !m.send(line) {
			delete(c.rooms[room], m) // saying goodbye can take seconds
		}
	}
}

// ServeHTTP handles one member's connection. The middleware has admitted it, and its session judges
// the messages.
func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := httpguard.SessionFrom(r.Context())
	held := session.NewHoldQueue(waiting)
	user, room := session.User(), session.ChannelID()
	name := user.Name()
	c.visit(w, r, room, held.Run, func(ctx context.Context, m *member, text string) error {
		verdict, err := session.Check(ctx, chatguard.Message{Text: text})
		if err != nil {
			return err
		}
		said := frame{From: name, Text: text, Priority: verdict.Priority}
		if verdict.Allowed && verdict.Delay == 0 {
			c.broadcast(room, said)
		} else {
			m.send(c.hold(ctx, held, verdict, room, said).bytes())
		}
		return nil
	})
}

// hold queues an allowed message until its delay has passed. It returns the frame for the message's
// author.
func (c *chat) hold(ctx context.Context, held *chatguard.HoldQueue, v chatguard.Verdict, room string, said frame) frame {
	if v.Allowed && !held.Add(ctx, v, func() { c.broadcast(room, said) }) {
		v.Allowed, v.RetryAfter = false, v.Delay // the queue is full
	}
	return frame{Text: said.Text, Verdict: &v}
}

// visit upgrades the request to a WebSocket and reads the member's messages until the member or the
// server leaves. During the visit it runs the function meanwhile, with a context that ends with the
// visit.
func (c *chat) visit(w http.ResponseWriter, r *http.Request, room string, meanwhile func(context.Context), hear func(context.Context, *member, string) error) {
	c.visits.Add(1)
	defer c.visits.Done()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // already answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(mostText)
	ctx, leave := context.WithCancel(r.Context())
	m := &member{conn: conn, outbox: make(chan []byte, outbox), leave: leave}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer leave()
	tasks.Go(func() { m.write(ctx) })
	tasks.Go(func() { meanwhile(ctx) })
	c.join(room, m)
	defer c.quit(room, m)
	for {
		_, text, err := conn.Read(context.Background()) // ends when write closes the connection
		if err != nil || hear(ctx, m, string(text)) != nil {
			return
		}
	}
}
