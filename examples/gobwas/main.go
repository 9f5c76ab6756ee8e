// Command gobwas is a chat over WebSocket with the Upgrader of gobwas/ws, which reads the handshake
// from the connection itself, without net/http. Connections and messages are limited.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// accounts holds the user of each key. A real server looks up a hash of the key in its database.
var accounts = map[string]chatguard.User{"anna's key": {ID: "anna"}, "eve's key": {ID: "eve"}}

func main() {
	listener, err := net.Listen("tcp", "localhost:8000")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(serve(listener))
}

// serve serves connections until the listener is closed. It returns when all of them are closed.
func serve(listener net.Listener) error {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return err
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 3})
	if err != nil {
		return err
	}
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		clients.Go(func() { chat(door, conn) })
	}
}

// chat sends each allowed message back, and the verdict on each throttled one.
func chat(door *connguard.Door, conn net.Conn) {
	defer conn.Close()
	session, refusal := door.Accept(context.Background(), conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr())
	defer session.Close() // does nothing if the connection is refused
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := upgrader(session, refusal).Upgrade(conn); err != nil {
		return // Upgrade has answered
	}
	_ = conn.SetDeadline(time.Time{})
	for {
		text, err := wsutil.ReadClientText(conn)
		if err != nil {
			return
		}
		verdict, err := session.Check(session.Context(), chatguard.Message{Text: string(text)})
		if err != nil {
			log.Print(err) // a mistake in this program
			return
		}
		if !verdict.Allowed {
			text = verdict.AppendJSON(nil) // the client counts retry_after_ms down
		}
		if err := wsutil.WriteServerText(conn, text); err != nil {
			return
		}
	}
}

// upgrader admits the user of an accepted session. Upgrade reads the handshake even if the
// connection is refused already, because an answer needs a request.
func upgrader(session *connguard.Session, refusal error) *ws.Upgrader {
	var key string
	return &ws.Upgrader{
		OnHeader: func(name, value []byte) error {
			if string(name) == "Authorization" {
				key = string(value)
			}
			return nil
		},
		OnBeforeUpgrade: func() (ws.HandshakeHeader, error) {
			user, known := accounts[key]
			if refusal == nil && !known {
				return nil, ws.RejectConnectionError(ws.RejectionStatus(http.StatusUnauthorized))
			}
			if refusal == nil {
				refusal = session.Admit(session.Context(), user, "lobby")
			}
			return nil, rejection(refusal)
		},
	}
}

// rejection returns the error with which the Upgrader answers a refused client.
func rejection(err error) error {
	if err == nil {
		return nil
	}
	text, wait := connguard.Answer(err)
	if wait == 0 {
		log.Print(err) // a mistake in this program
		return ws.RejectConnectionError(ws.RejectionStatus(http.StatusInternalServerError), ws.RejectionReason(text))
	}
	seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
	return ws.RejectConnectionError(ws.RejectionStatus(http.StatusTooManyRequests), ws.RejectionReason(text),
		ws.RejectionHeader(ws.HandshakeHeaderHTTP{"Retry-After": {seconds}}))
}
