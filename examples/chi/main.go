// Command chi is a chat over WebSocket and an HTTP API behind the router chi. Connections and
// messages are limited in the chat, and requests in the API.
package main

import (
	"log"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/go-chi/chi/v5"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// accounts holds the user of each key. A real server looks up a hash of the key in its database.
var accounts = map[string]chatguard.User{"anna's key": {ID: "anna"}, "eve's key": {ID: "eve"}}

func account(key string) (chatguard.User, bool) {
	user, ok := accounts[key]
	return user, ok
}

func main() {
	handler, err := routes()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8000", handler))
}

func routes() (http.Handler, error) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return nil, err
	}
	requests, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("requests", 5, time.Second),
	}}, nil)
	if err != nil {
		return nil, err
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 3})
	if err != nil {
		return nil, err
	}
	in, err := httpguard.Sessions(door, httpguard.ByKey("Authorization", account), &httpguard.SessionOptions{
		Channel:      func(r *http.Request) string { return chi.URLParam(r, "room") },
		Authenticate: `Bearer realm="chat"`,
	})
	if err != nil {
		return nil, err
	}
	limit, err := httpguard.Limit(requests, httpguard.ByAddress(nil), nil)
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	// With, not Use: chi must find the route first, so that Channel knows the room. The pattern
	// lists the rooms, because the Guard remembers each room.
	r.With(in).Get("/chat/{room:lobby|arena}", chat)
	r.With(limit).Get("/rooms", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("lobby arena\n"))
	})
	return r, nil
}

// chat sends each allowed message back, and the verdict on each throttled one.
func chat(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow() // ends the session
	session := httpguard.SessionFrom(r.Context())
	for ctx := session.Context(); ; {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		verdict, err := session.Check(ctx, chatguard.Message{Text: string(text)})
		if err == nil && verdict.Allowed {
			err = conn.Write(ctx, websocket.MessageText, text)
		} else if err == nil {
			err = wsjson.Write(ctx, conn, verdict)
		}
		if err != nil {
			return
		}
	}
}
