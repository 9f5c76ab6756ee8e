package chatguardtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
	"github.com/chatguard/chatguard/httpguard"
)

// checker is what the program under test needs: a Guard, a Session, or a Checker in tests.
type checker interface {
	Check(context.Context, chatguard.Message) (chatguard.Verdict, error)
}

// answer is a program under test: it answers the author of a message.
func answer(c checker, text string) string {
	verdict, err := c.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: text})
	switch {
	case err != nil:
		return "sorry: " + err.Error()
	case verdict.Never:
		return "too long"
	case !verdict.Allowed:
		return fmt.Sprintf("wait %d s", verdict.RetryAfterSeconds())
	case verdict.Delay > 0:
		return "sent soon"
	}
	return "sent"
}

func ExampleChecker() {
	c := chatguardtest.NewChecker(
		chatguardtest.Allowed(),
		chatguardtest.Delayed(time.Second),
		chatguardtest.Never("burst"),
		chatguardtest.Throttled("burst", 4*time.Second),
	)
	for range 5 {
		fmt.Println(answer(c, "hello"))
	}
	c.Fail(errors.New("no connection"))
	fmt.Println(answer(c, "bye"))
	messages := c.Messages()
	fmt.Println(len(messages), messages[5].Text)

	c.Fail(nil)
	verdict, err := c.Check(context.Background(), messages[5])
	fmt.Println(verdict, err)
	// Output:
	// sent
	// sent soon
	// too long
	// wait 4 s
	// wait 4 s
	// sorry: no connection
	// 6 bye
	// throttled by burst, retry after 4s <nil>
}

func ExampleClock() {
	clock := chatguardtest.NewClock(time.Date(2026, time.March, 29, 0, 59, 0, 0, time.UTC)) // the zero Clock works, too
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 1, 4*time.Second),
	}}, &chatguard.Options{Now: clock.Now})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer(guard, "1"))
	fmt.Println(answer(guard, "2"))
	clock.Advance(4*time.Second - 1)
	fmt.Println(answer(guard, "3"))
	clock.Advance(1)
	fmt.Println(answer(guard, "4"))
	clock.Set(clock.Now().Add(-time.Minute), guard) // an administrator corrects the time
	fmt.Println(answer(guard, "5"))
	// Output:
	// sent
	// wait 4 s
	// wait 1 s
	// sent
	// wait 4 s
}

// An HTTP client is tested against a server that throttles every request.
func ExampleNewThrottlingGuard() {
	limit, err := httpguard.Limit(chatguardtest.NewThrottlingGuard(httpguard.MainChannel), httpguard.ByAddress(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(limit(http.NotFoundHandler()))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	for _, name := range []string{"Retry-After", "RateLimit", "RateLimit-Policy"} {
		fmt.Printf("%s: %s\n", name, response.Header.Get(name))
	}
	// Output:
	// 429 Too Many Requests
	// Retry-After: 3600
	// RateLimit: "test";r=0;t=3600
	// RateLimit-Policy: "test";q=1;w=3600
}
