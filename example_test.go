package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

func Example() {
	policy := chatguard.DefaultPolicy() // 3 messages at once, one more every 4 s, 300 a day
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{
		ChannelID: "71092938",
		User:      chatguard.User{ID: "48215771", Login: "anna"},
		SentAt:    time.Date(2026, 1, 5, 20, 0, 0, 0, time.UTC),
	}
	for range 4 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		if verdict.Allowed {
			fmt.Println("shown,", verdict.Remaining, "left")
			continue
		}
		fmt.Printf("throttled by %s: %s, may speak again in %s\n", verdict.Limit, verdict.Penalty, verdict.RetryAfter)
	}
	// Output:
	// shown, 2 left
	// shown, 1 left
	// shown, 0 left
	// throttled by burst: drop, may speak again in 4s
}

func ExampleGuard_SetPolicy() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	policy := guard.ChannelPolicy("71092938")
	policy.Limits[0].Burst = 0
	fmt.Println(guard.At(time.Now()).SetChannelPolicy("71092938", policy))

	policy.Limits[0].Burst = 5
	fmt.Println(guard.At(time.Now()).SetChannelPolicy("71092938", policy), guard.ChannelPolicy("71092938").Limits[0].Burst)
	// Output:
	// chatguard: limit "burst": burst is 0, want 1 or more
	// <nil> 5
}

func ExampleGuard_Explain() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{
		ChannelID: "71092938",
		User:      chatguard.User{ID: "48215771", Roles: chatguard.RolesOf(chatguard.Subscriber)},
		SentAt:    time.Date(2026, 1, 5, 20, 0, 0, 0, time.UTC),
	}
	for range 2 {
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	why, err := guard.Explain(message)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range why.Limits {
		fmt.Printf("%s: %d of %d used, all of them back in %s\n", l.Name, l.Used, l.Capacity, l.ResetAt.Sub(message.SentAt))
	}
	fmt.Println("the next strike:", why.Next)
	// Output:
	// burst: 2 of 3 used, all of them back in 8s
	// daily: 2 of 300 used, all of them back in 4h0m0s
	// the next strike: drop
}

func ExampleGuard_CheckUpTo() {
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		{Name: "minute", Algorithm: chatguard.SlidingLog, Messages: 20, Every: time.Minute},
	}}
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		log.Fatal(err)
	}
	// A sender with 30 pending messages sends as many as the limits allow.
	taken, _, err := guard.CheckUpTo(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "newsbot"}, Cost: 30})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(taken)
	// Output: 20
}

func ExampleGuard_Grant() {
	policy := chatguard.DefaultPolicy()
	policy.Timezone = "Europe/Berlin"
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		log.Fatal(err)
	}
	until, err := guard.At(time.Date(2026, 1, 5, 20, 0, 0, 0, time.UTC)).Grant(chatguard.Key{ChannelID: "71092938", UserID: "48215771"}, "daily", 50)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("50 more until", until.UTC())
	// Output: 50 more until 2026-01-05 23:00:00 +0000 UTC
}
