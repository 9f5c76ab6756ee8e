// Command echo is a chat over WebSocket and an HTTP API behind the framework echo. Connections and
// messages are limited in the chat, and requests in the API.
package main

import (
	"log"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v5"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// account returns the user of a session cookie. A real server looks it up in its database.
func account(r *http.Request) (chatguard.User, error) {
	cookie, err := r.Cookie("session")
	if err != nil || cookie.Value != "anna's session" {
		return chatguard.User{}, httpguard.ErrNobody // answered with 401
	}
	return chatguard.User{ID: "anna"}, nil
}

func main() {
	e, err := routes()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(e.Start("localhost:8000"))
}

func routes() (*echo.Echo, error) {
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
	in, err := httpguard.Sessions(door, account, &httpguard.SessionOptions{
		Channel: func(r *http.Request) string { return r.URL.Path }, // of the routes below only
	})
	if err != nil {
		return nil, err
	}
	limit, err := httpguard.Limit(requests, account, nil)
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.GET("/chat/lobby", chat, echo.WrapMiddleware(in))
	e.GET("/chat/arena", chat, echo.WrapMiddleware(in))
	e.GET("/rooms", func(c *echo.Context) error { return c.String(http.StatusOK, "lobby arena\n") }, echo.WrapMiddleware(limit))
	return e, nil
}

// chat sends each allowed message back. It tells the author of a throttled message how long to
// wait.
func chat(c *echo.Context) error {
	conn, err := websocket.Accept(c.Response(), c.Request(), nil)
	if err != nil {
		return nil // Accept has answered
	}
	defer conn.CloseNow() // ends the session
	session := httpguard.SessionFrom(c.Request().Context())
	for ctx := session.Context(); ; {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return nil // the client has left
		}
		verdict, err := session.Check(ctx, chatguard.Message{Text: string(text)})
		if err != nil {
			return err
		}
		if !verdict.Allowed {
			text = []byte("please wait " + chatguard.FormatWait(verdict.RetryAfter))
		}
		if err := conn.Write(ctx, websocket.MessageText, text); err != nil {
			return nil
		}
	}
}
