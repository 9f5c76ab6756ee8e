package httpguard_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// A chat over WebSocket. The server identifies clients by a key; clients without a key are
// anonymous. The server judges each message, and sends the verdict to its author.
func ExampleSessions() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, 4*time.Second))
	door, err := connguard.New(guard, nil)
	if err != nil {
		log.Fatal(err)
	}
	protect, err := httpguard.Sessions(door, httpguard.FirstOf(httpguard.ByKey("Authorization", userOf), httpguard.Anonymous), nil)
	if err != nil {
		log.Fatal(err)
	}
	chat := func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow() // ends the session
		session := httpguard.SessionFrom(r.Context())
		for {
			_, text, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			verdict, err := session.Check(r.Context(), chatguard.Message{Text: string(text)})
			if err != nil {
				return
			}
			if verdict.Allowed {
				fmt.Printf("to all: %s: %s\n", session.User().Name(), text)
			}
			if err := wsjson.Write(r.Context(), conn, verdict); err != nil {
				return
			}
		}
	}
	server := httptest.NewServer(protect(http.HandlerFunc(chat)))
	defer server.Close()

	send(server.URL, "hello", "HELLO")
	// Output:
	// to all: anna: hello
	// to anna: {Allowed:true Limit:}
	// to anna: {Allowed:false Limit:burst}
}

// userOf returns the owner of a key. A real server would look up a hash of it.
func userOf(key string) (chatguard.User, bool) {
	return chatguard.User{ID: "48215771", Login: "anna"}, key == "anna's key"
}

// send sends texts to a server and prints the answers.
func send(url string, texts ...string) {
	ctx := context.Background()
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer anna's key"}}})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.CloseNow()
	for _, text := range texts {
		if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			log.Fatal(err)
		}
		var verdict struct {
			Allowed bool
			Limit   string
		}
		if err := wsjson.Read(ctx, conn, &verdict); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("to anna: %+v\n", verdict)
	}
}
