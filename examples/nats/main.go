// Command nats is a chat over NATS, with the server in the same process. A client says something by
// a request on say.ROOM.USER. The answer is the verdict, and an allowed message is published on
// room.ROOM. Connections and messages are limited.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// accounts holds the user of each token. A real server looks up a hash of it in its database.
var accounts = map[string]chatguard.User{"anna's token": {ID: "anna"}, "eve's token": {ID: "eve"}}

// rooms lists the rooms, because the Guard remembers each room.
var rooms = map[string]bool{"lobby": true, "arena": true}

// chat judges messages, and counts the connections of users.
type chat struct {
	guard  *chatguard.Guard
	door   *connguard.Door
	server *server.Server
	rooms  *nats.Conn // on which messages are published

	mu       sync.Mutex
	sessions map[uint64]*connguard.Session // by the server's ID of the connection
}

func main() {
	c, err := start(&server.Options{Host: "localhost"})
	if err != nil {
		log.Fatal(err)
	}
	c.server.WaitForShutdown()
}

func start(opts *server.Options) (*chat, error) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return nil, err
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 2})
	if err != nil {
		return nil, err
	}
	c := &chat{guard: guard, door: door, sessions: map[uint64]*connguard.Session{}}
	opts.CustomClientAuthentication = c
	if c.server, err = server.NewServer(opts); err != nil {
		return nil, err
	}
	c.server.Start()
	if _, err = c.subscribe("system", "$SYS.ACCOUNT.*.DISCONNECT", c.close); err == nil {
		c.rooms, err = c.subscribe("", "say.*.*", c.say)
	}
	return c, err
}

// subscribe connects the program to its own server.
func (c *chat) subscribe(user, subject string, handle nats.MsgHandler) (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.InProcessServer(c.server), nats.UserInfo(user, ""), nats.NoReconnect())
	if err != nil {
		return nil, err
	}
	if _, err = conn.Subscribe(subject, handle); err != nil {
		return conn, err
	}
	return conn, conn.Flush() // the server then knows the subscription
}

// Check implements server.Authentication. NATS tells a refused client no reason.
func (c *chat) Check(client server.ClientAuthentication) bool {
	remote, ok := client.RemoteAddress().(*net.TCPAddr)
	if !ok { // one of the program's own connections
		if client.GetOpts().Username == "system" {
			client.RegisterUser(&server.User{Account: c.server.SystemAccount()})
		}
		return true
	}
	user, ok := accounts[client.GetOpts().Token]
	if !ok {
		return false
	}
	c.mu.Lock() // so that the end of the connection comes later
	defer c.mu.Unlock()
	session, err := c.door.Admit(context.Background(), user, remote.AddrPort().Addr(), "")
	if err != nil {
		log.Printf("%s is refused: %v", user, err)
		return false
	}
	c.sessions[client.GetID()] = session
	client.RegisterUser(&server.User{Username: user.ID, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"say.*." + user.ID}},              // nobody speaks for another user
		Subscribe: &server.SubjectPermission{Allow: []string{"room.*", inbox(user.ID) + ".>"}}, // nobody reads another user's answers
	}})
	return true
}

// close ends the session of a connection that is closed.
func (c *chat) close(m *nats.Msg) {
	var event server.DisconnectEventMsg
	if err := json.Unmarshal(m.Data, &event); err != nil {
		log.Print(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[event.Client.ID].Close()
	delete(c.sessions, event.Client.ID)
}

// inbox returns the prefix of the subjects on which a user gets answers. Clients set it with
// nats.CustomInboxPrefix.
func inbox(userID string) string { return "_INBOX." + userID }

// say judges a message. Which of the user's connections it comes from makes no difference.
func (c *chat) say(m *nats.Msg) {
	subject := strings.Split(m.Subject, ".")
	room, user := subject[1], chatguard.User{ID: subject[2]}
	if !strings.HasPrefix(m.Reply, inbox(user.ID)+".") {
		return // the answer would be published for the user where the user may not publish
	}
	if !rooms[room] {
		_ = m.Respond([]byte(`{"error":"there is no such room"}`))
		return
	}
	verdict, err := c.guard.Check(context.Background(), chatguard.Message{ChannelID: room, User: user, Text: string(m.Data)})
	if err != nil {
		log.Print(err) // a mistake in this program
		return
	}
	if verdict.Allowed {
		_ = c.rooms.Publish("room."+room, m.Data)
	}
	_ = m.Respond(verdict.AppendJSON(nil))
}
