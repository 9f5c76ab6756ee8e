package chatguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// newEnforcingGuard returns a Guard that enforces one limit.
func newEnforcingGuard(limit chatguard.Limit) *chatguard.Guard {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
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
	// to anna: chatguard: throttled by burst: the next message passes in 4 s
}

// The server keeps reading a connection while the connection's messages wait for their turn.
func ExampleHoldQueue() {
	guard := newEnforcingGuard(chatguard.Limit{Name: "pace", Algorithm: chatguard.LeakyBucket, Every: 20 * time.Millisecond, Queue: 2})
	ctx, hangUp := context.WithCancel(context.Background()) // in a server: Session.Context
	queue := chatguard.NewHoldQueue(guard, 8)
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

func ExampleGuard_Quotas() {
	guard := newEnforcingGuard(chatguard.Limit{
		Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: 4 * time.Second,
		Roles: map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 5}},
	})
	author := chatguard.User{ID: "anna", Roles: chatguard.RolesOf(chatguard.Subscriber)}
	verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: author})
	if err != nil {
		log.Fatal(err)
	}
	quotas := guard.Quotas(verdict)
	for quota := range quotas.All() {
		fmt.Printf("%s: %d messages in %s\n", quota.Limit, quota.Messages, quota.Window)
	}
	tightest, _ := quotas.Tightest()
	more, _ := tightest.MoreAfter(verdict)
	fmt.Println(verdict.Remaining, "left, and more in", more)
	fmt.Println("RateLimit-Policy:", quotas)
	// Output:
	// burst: 5 messages in 20s
	// 4 left, and more in 4s
	// RateLimit-Policy: "burst";q=5;w=20
}
