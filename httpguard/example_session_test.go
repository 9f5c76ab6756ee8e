package httpguard_test

import (
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// A leaky bucket delays messages. The handler goes on reading while they wait, and tells the author
// about messages that have no place any more.
func ExampleSession_NewHoldQueue() {
	guard := newGuard(chatguard.LeakyBucketLimit("pace", 10*time.Millisecond, 2))
	in, err := httpguard.Sessions(guard, httpguard.Anonymous, &httpguard.SessionOptions{
		MaxConnectionsPerAddress: 20,
		Logger:                   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	var shown sync.WaitGroup
	handler := in(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		session := httpguard.SessionFrom(r.Context())
		held := session.NewHoldQueue(8)
		go held.Run(session.Context())
		for _, text := range []string{"1", "2", "3", "4"} { // frames of a WebSocket
			verdict, err := session.Check(session.Context(), chatguard.Message{Text: text})
			switch {
			case err != nil:
				slog.Error("chat", "error", err) // a mistake in this program
				return
			case !verdict.Allowed:
				fmt.Println("dropped:", verdict)
				continue
			}
			shown.Add(1)
			if !held.Add(verdict, func() { defer shown.Done(); fmt.Println("shown:", text) }) {
				shown.Done() // the queue is full, and what the message spent is given back
			}
		}
		shown.Wait()
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/chat", nil))
	// Unordered output:
	// dropped: throttled by pace, retry after 10ms
	// shown: 1
	// shown: 2
	// shown: 3
}

func ExampleSession_Message() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second))
	in, err := httpguard.Sessions(guard, httpguard.Anonymous, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := in(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		session := httpguard.SessionFrom(r.Context())
		album := session.Message(chatguard.Message{Cost: 5}) // five pictures at once
		shown, _, err := guard.CheckUpTo(r.Context(), album)
		fmt.Println(shown, "pictures shown", err)
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/chat", nil))
	// Output: 3 pictures shown <nil>
}
