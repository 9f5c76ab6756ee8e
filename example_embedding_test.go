package chatguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/chatguard/chatguard"
)

// newEnforcingGuard returns a Guard that enforces one limit.
func newEnforcingGuard(limit chatguard.Limit) *chatguard.Guard {
	guard, err := chatguard.New(chatguard.Policy{Mode: chatguard.Enforce, Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

func ExampleGuard_Wrap() {
	guard := newEnforcingGuard(chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 2, Refill: 4 * time.Second})
	say := guard.Wrap(func(_ context.Context, m chatguard.Message) error {
		fmt.Println(m.User.ID+":", m.Text)
		return nil
	})
	for _, text := range []string{"hello", "is anybody here?", "HELLO"} {
		err := say(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: text})
		var throttled *chatguard.ThrottledError
		if errors.As(err, &throttled) {
			fmt.Println("to anna:", err)
		} else if err != nil {
			log.Print(err)
		}
	}
	// Output:
	// anna: hello
	// anna: is anybody here?
	// to anna: throttled by burst: the next message passes in 4 s
}

// A chat over WebSocket. The server identifies clients by a key; clients without a key are
// anonymous. The server judges each message, and sends the verdict to its author.
func ExampleGuard_Middleware() {
	guard := newEnforcingGuard(chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: 4 * time.Second})
	protect, err := guard.Middleware(chatguard.MiddlewareOptions{
		Identify: chatguard.FirstOf(chatguard.ByKey("Authorization", userOf), chatguard.Anonymous),
	})
	if err != nil {
		log.Fatal(err)
	}
	chat := func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow() // ends the session
		session := chatguard.SessionFrom(r.Context())
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
				fmt.Printf("to all: %s: %s\n", session.User().Login, text)
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

// The server keeps reading a connection while the connection's messages wait for their turn.
func ExampleHoldQueue() {
	guard := newEnforcingGuard(chatguard.Limit{Name: "pace", Algorithm: chatguard.LeakyBucket, Every: 20 * time.Millisecond, Queue: 2})
	ctx, hangUp := context.WithCancel(context.Background()) // in a server: Session.Context
	queue := chatguard.NewHoldQueue(8)
	var running sync.WaitGroup
	running.Go(func() { queue.Run(ctx) })

	var delivered sync.WaitGroup
	sentAt := time.Now()
	for i := range 4 {
		verdict, err := guard.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: sentAt})
		if err != nil {
			log.Fatal(err)
		}
		delivered.Add(1)
		deliver := func() {
			fmt.Printf("message %d, held for %s\n", i, verdict.Delay)
			delivered.Done()
		}
		if !verdict.Allowed || !queue.Add(verdict, deliver) {
			delivered.Done() // the message is dropped
		}
	}
	delivered.Wait()
	hangUp()
	running.Wait()
	// Output:
	// message 0, held for 0s
	// message 1, held for 20ms
	// message 2, held for 40ms
}

func ExampleFirstOf() {
	identify := chatguard.FirstOf(chatguard.ByKey("X-API-Key", userOf), chatguard.ByAddress())
	for _, key := range []string{"anna's key", ""} {
		r := httptest.NewRequest("GET", "/chat", nil)
		r.RemoteAddr = "192.0.2.7:51034"
		r.Header.Set("X-API-Key", key)
		user, err := identify(r)
		fmt.Println(user.ID, err)
	}
	// Output:
	// 48215771 <nil>
	// address:192.0.2.7 <nil>
}
