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
	policy.Mode = chatguard.Enforce
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
	// throttled by burst: delete, may speak again in 4s
}

func ExampleGuard_SetPolicy() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	policy := guard.Policy("71092938")
	policy.Limits[0].Burst = 0
	fmt.Println(guard.SetPolicy("71092938", policy, time.Now()))

	policy.Limits[0].Burst = 5
	fmt.Println(guard.SetPolicy("71092938", policy, time.Now()), guard.Policy("71092938").Limits[0].Burst)
	// Output:
	// limit "burst": burst is 0, want 1 or more
	// <nil> 5
}
