// Command fiber is a chat over WebSocket with fiber, which is built on fasthttp and not on
// net/http. Connections and messages are limited.
package main

import (
	"context"
	"log"
	"net"

	"github.com/fasthttp/websocket"
	"github.com/gofiber/fiber/v3"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// accounts holds the user of each key. A real server looks up a hash of the key in its database.
var accounts = map[string]chatguard.User{"anna's key": {ID: "anna"}, "eve's key": {ID: "eve"}}

// rooms lists the rooms, because the Guard remembers each room.
var rooms = map[string]string{"lobby": "lobby", "arena": "arena"}

func main() {
	app, err := routes()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(app.Listen("localhost:8000"))
}

func routes() (*fiber.App, error) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return nil, err
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 3})
	if err != nil {
		return nil, err
	}
	app := fiber.New()
	app.Get("/chat/:room", func(c fiber.Ctx) error {
		user, ok := accounts[c.Get("Authorization")]
		if !ok {
			return fiber.ErrUnauthorized
		}
		room, ok := rooms[c.Params("room")]
		if !ok {
			return fiber.ErrNotFound
		}
		var upgrader websocket.FastHTTPUpgrader
		return upgrader.Upgrade(c.RequestCtx(), func(conn *websocket.Conn) { enter(door, conn, user, room) })
	})
	return app, nil
}

// enter admits a connection after the handshake, and not before: if fasthttp can't send the answer
// to the handshake, it never calls the function that would close the session.
func enter(door *connguard.Door, conn *websocket.Conn, user chatguard.User, room string) {
	defer conn.Close()
	addr := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
	session, err := door.Admit(context.Background(), user, addr, room)
	if err != nil {
		text, wait := connguard.Answer(err)
		if wait == 0 {
			log.Print(err) // a mistake in this program
		}
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseTryAgainLater, text))
		return
	}
	defer session.Close()
	if err := chat(session, conn); err != nil {
		log.Printf("%s: %v", user, err)
	}
}

// chat sends each allowed message back, and the verdict on each throttled one. It returns nil if
// the client has gone.
func chat(session *connguard.Session, conn *websocket.Conn) error {
	for {
		kind, text, err := conn.ReadMessage()
		if err != nil {
			return nil
		}
		verdict, err := session.Check(session.Context(), chatguard.Message{Text: string(text)})
		if err != nil {
			return err // a mistake in this program
		}
		if !verdict.Allowed {
			text = verdict.AppendJSON(nil) // the client counts retry_after_ms down
		}
		if err := conn.WriteMessage(kind, text); err != nil {
			return nil
		}
	}
}
