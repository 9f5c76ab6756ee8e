// Command gin is a chat over WebSocket behind the framework gin. Connections and messages are
// limited.
//
// gin gives handlers a ResponseWriter of its own, which hides the middleware's. So the middleware
// goes around the engine, for the routes of the chat only: each request that reaches it counts as
// a connection.
package main

import (
	"log"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/gorilla/websocket"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

func main() {
	handler, err := routes()
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{Addr: "localhost:8000", Handler: handler}
	log.Fatal(server.ListenAndServe())
}

func routes() (http.Handler, error) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return nil, err
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 3})
	if err != nil {
		return nil, err
	}
	in, err := httpguard.Sessions(door, httpguard.ByAddress(nil), nil)
	if err != nil {
		return nil, err
	}
	engine := gin.New()
	engine.GET("/chat", chat)
	engine.GET("/rooms", func(c *gin.Context) { c.String(http.StatusOK, "lobby\n") })

	mux := http.NewServeMux()
	mux.Handle("/chat", in(engine))
	mux.Handle("/", engine)
	return mux, nil
}

// chat sends each allowed message back, and the verdict on each throttled one.
func chat(c *gin.Context) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(c.Writer, c.Request, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer conn.Close() // ends the session
	session := httpguard.SessionFrom(c.Request.Context())
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		verdict, err := session.Check(session.Context(), chatguard.Message{Text: string(text)})
		if err == nil && verdict.Allowed {
			err = conn.WriteMessage(websocket.TextMessage, text)
		} else if err == nil {
			err = conn.WriteJSON(verdict)
		}
		if err != nil {
			return
		}
	}
}
