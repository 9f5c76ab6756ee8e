package connguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// newGuard returns a Guard with one limit, whose clock stands still.
func newGuard(limit chatguard.Limit) *chatguard.Guard {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, &chatguard.Options{Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// admit admits a connection of a user to the lobby.
func admit(guard *chatguard.Guard, id string) *connguard.Session {
	door, err := connguard.New(guard, nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := door.Admit(context.Background(), chatguard.User{ID: id}, netip.MustParseAddr("192.0.2.7"), "lobby")
	if err != nil {
		log.Fatal(err)
	}
	return session
}

// A leaky bucket delays messages. The loop goes on reading while they wait, and tells the author
// about messages that have no place any more.
func ExampleSession_NewHoldQueue() {
	session := admit(newGuard(chatguard.LeakyBucketLimit("pace", 10*time.Millisecond, 2)), "anna")
	var delivering, shown sync.WaitGroup
	held := session.NewHoldQueue(8)
	delivering.Go(func() { held.Run(session.Context()) })
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
		if !held.Add(context.Background(), verdict, func() { defer shown.Done(); fmt.Println("shown:", text) }) {
			shown.Done() // the queue is full, and what the message spent is given back
		}
	}
	shown.Wait()
	session.Close() // ends its context
	delivering.Wait()
	// Unordered output:
	// dropped: throttled by pace, retry after 10ms
	// shown: 1
	// shown: 2
	// shown: 3
}

func ExampleSession_Message() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second))
	session := admit(guard, "anna")
	defer session.Close()
	album := session.Message(chatguard.Message{Cost: 5}) // five pictures at once
	shown, _, err := guard.CheckUpTo(session.Context(), album)
	fmt.Println(shown, "pictures shown", err)
	// Output: 3 pictures shown <nil>
}

// A moderator removes a user, whose connection is closed with the reason.
func ExampleSession_CloseWithError() {
	removed := errors.New("a moderator has removed you")
	session := admit(newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second)), "eve")
	session.CloseWithError(removed)
	<-session.Done()
	_, err := session.Check(context.Background(), chatguard.Message{Text: "hello"})
	fmt.Println(session.User(), "in", session.ChannelID(), "from", session.Address(), "is told:", err)
	// Output: eve in lobby from 192.0.2.7 is told: a moderator has removed you
}

// A library that closes connections itself also ends their sessions.
func ExampleSession_Wrap() {
	session := admit(newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second)), "anna")
	conn, peer := net.Pipe()
	defer peer.Close()
	wrapped := session.Wrap(conn)
	_ = wrapped.Close() // in the library
	<-session.Done()
	fmt.Println(context.Cause(session.Context()))
	// Output: context canceled
}
