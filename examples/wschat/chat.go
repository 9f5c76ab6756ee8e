package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
)

const (
	mostText = 2048 // bytes of one message
	outbox   = 32   // frames that wait for a member who reads slowly; who lets more come is dropped
	waiting  = 16   // messages of one member that wait for their turn, where a limit holds messages back
)

// frame is what the server tells the page: what somebody said, or the verdict on the reader's own message that isn't shown, or not yet.
type frame struct {
	From    string             `json:"from,omitempty"`
	Text    string             `json:"text"`
	Verdict *chatguard.Verdict `json:"verdict,omitempty"`
}

func (f frame) bytes() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // only text and a verdict
	}
	return b
}

// chat is rooms. What a member says, every member of the room is told, and nobody waits for another. The zero value is empty.
type chat struct {
	visits sync.WaitGroup // wait for them once the context of the requests has ended
	mu     sync.Mutex     // never held while something blocks
	rooms  map[string]map[*member]struct{}
}

// member is one connection in a room.
type member struct {
	conn   *websocket.Conn
	outbox chan []byte
	leave  context.CancelFunc
}

// tell never waits: whoever has a full outbox has stopped reading, and goes.
func (m *member) tell(line []byte) {
	select {
	case m.outbox <- line:
	default:
		m.leave()
	}
}

// write sends what the member is told until the context ends, and then says goodbye.
func (m *member) write(ctx context.Context) {
	for {
		select {
		case line := <-m.outbox:
			if m.conn.Write(ctx, websocket.MessageText, line) != nil {
				return // the connection is closed, and reading ends as well
			}
		case <-ctx.Done():
			m.conn.Close(websocket.StatusGoingAway, "the server says goodbye")
			return
		}
	}
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
		m.tell(line)
	}
}

// ServeHTTP is one member's visit. The middleware has let them in, and its session judges what they say.
func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session, held := chatguard.SessionFrom(r.Context()), chatguard.NewHoldQueue(waiting)
	user, room := session.User(), session.ChannelID()
	name := user.Name()
	c.visit(w, r, room, held.Run, func(ctx context.Context, m *member, text string) error {
		verdict, err := session.Check(ctx, chatguard.Message{Text: text})
		if err != nil {
			return err
		}
		said := frame{From: name, Text: text}
		if verdict.Allowed && verdict.Delay == 0 {
			c.broadcast(room, said)
		} else {
			m.tell(c.hold(held, verdict, room, said).bytes())
		}
		return nil
	})
}

// hold lets a message wait for its turn where it has one, and returns what its author is to be told.
func (c *chat) hold(held *chatguard.HoldQueue, v chatguard.Verdict, room string, said frame) frame {
	if v.Allowed && !held.Add(v, func() { c.broadcast(room, said) }) {
		v.Allowed, v.RetryAfter = false, v.Delay // as many wait as have room
	}
	return frame{Text: said.Text, Verdict: &v}
}

// visit takes the connection over and hears the member out, until they or the server leave. Meanwhile runs until its context ends, which is the visit's.
func (c *chat) visit(w http.ResponseWriter, r *http.Request, room string, meanwhile func(context.Context), hear func(context.Context, *member, string) error) {
	c.visits.Add(1)
	defer c.visits.Done()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
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
		_, text, err := conn.Read(context.Background()) // ends when write has closed the connection
		if err != nil || hear(ctx, m, string(text)) != nil {
			return
		}
	}
}
