package checkclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// The server here is part of the example; yours is at "http://127.0.0.1:8080", for example. A
// message whose delivery fails gets back what it spent.
func ExampleClient() {
	chat, err := start(chatguard.TokenBucketLimit("burst", 2, 10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()

	client, err := checkclient.New(chat.URL, token, &checkclient.Options{Timeout: patience}) // one for the whole program
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ctx := context.Background()
	for _, text := range []string{"hello", "is anybody there?", "hello!", "HELLO!"} {
		verdict, err := client.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "48215771"}, Text: text})
		switch {
		case err != nil: // a mistake; the error says the fix
			log.Fatal(err)
		case !verdict.Allowed:
			fmt.Println("dropped: wait", chatguard.FormatWait(verdict.RetryAfter))
		case text == "is anybody there?": // nobody is, so it can't be delivered
			fmt.Println("given back:", client.Refund(ctx, verdict) == nil)
		default: // also if chatguard doesn't answer
			fmt.Println("shown:", text)
		}
	}
	// Output:
	// shown: hello
	// given back: true
	// shown: hello!
	// dropped: wait 10 s
}

// A limit that protects accounts must hold if chatguard doesn't answer. There the program gets an
// error instead of an unchecked message.
func ExampleOptions() {
	client, err := checkclient.New("http://127.0.0.1:8080", token, &checkclient.Options{
		FailClosed:  true,
		Timeout:     500 * time.Millisecond,
		MaxFailures: 1, // in a row, before a pause
		Pause:       time.Second,
		Logger:      slog.New(slog.DiscardHandler),
		Now:         time.Now, // the default
		Transport:   unreachable{},
	})
	if err != nil {
		log.Fatal(err)
	}
	verdict, err := client.Check(context.Background(), chatguard.Message{ChannelID: "log-in", User: chatguard.User{ID: "48215771"}})
	fmt.Println(verdict.Allowed, errors.Is(err, checkclient.ErrUnavailable))
	// Output: false true
}

// unreachable is a network without chatguard.
type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// A mistake in the settings is an error that says the fix.
func ExampleError() {
	chat, err := start(chatguard.TokenBucketLimit("burst", 2, 10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()

	client, err := checkclient.New(chat.URL, "a-revoked-token", &checkclient.Options{Timeout: patience})
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	_, err = client.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "48215771"}})
	var refused *checkclient.Error
	if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		fmt.Println(refused.Detail)
	}
	// Output: This token is unknown.
}

// One request can judge the beginning of a long series of messages.
func ExampleClient_CheckUpTo() {
	chat, err := start(chatguard.TokenBucketLimit("burst", 3, 10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()

	client, err := checkclient.New(chat.URL, token, &checkclient.Options{Timeout: patience})
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	lines := []string{"one", "two", "three", "four", "five"}
	taken, _, err := client.CheckUpTo(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7"}, Cost: len(lines)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lines[:taken])
	// Output: [one two three]
}

// Messages that arrive together are judged together.
func ExampleClient_CheckAll() {
	chat, err := start(chatguard.TokenBucketLimit("burst", 2, 10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()

	client, err := checkclient.New(chat.URL, token, &checkclient.Options{Timeout: patience})
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	anna, ben := chatguard.User{ID: "41"}, chatguard.User{ID: "42"}
	messages := []chatguard.Message{{ChannelID: "lobby", User: anna}, {ChannelID: "lobby", User: anna}, {ChannelID: "lobby", User: ben}, {ChannelID: "lobby", User: anna}}
	verdicts := make([]chatguard.Verdict, len(messages))
	if err := client.CheckAll(context.Background(), messages, verdicts); err != nil {
		log.Fatal(err)
	}
	for _, v := range verdicts {
		fmt.Println(v.UserID, v.Allowed)
	}
	// Output:
	// 41 true
	// 41 true
	// 42 true
	// 41 false
}
