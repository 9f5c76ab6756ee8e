package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

// A chat shows the message, or tells its author how long to wait.
func ExampleGuard_Check() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, time.Minute))
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: noon}
	for range 2 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err) // a mistake in this program, such as an empty ID
		}
		if verdict.Allowed {
			fmt.Println("show it")
		} else {
			fmt.Println("Slow down:", chatguard.FormatWait(verdict.RetryAfter))
		}
	}
	// Output:
	// show it
	// Slow down: 60 s
}

// The default policy is a good start: change what your chat needs otherwise.
func ExampleDefaultPolicy() {
	policy := chatguard.DefaultPolicy()
	policy.Timezone = "Europe/Berlin" // its day begins there
	policy.Limits[0].Burst = 5
	for _, limit := range policy.Limits {
		fmt.Println(limit.Name, limit.Algorithm, limit.Burst, limit.Messages)
	}
	// Output:
	// burst token-bucket 5 0
	// daily daily-window 0 300
}

func ExampleFormatWait() {
	for _, wait := range []time.Duration{3100 * time.Millisecond, 5 * time.Minute, 3*time.Hour + time.Second} {
		fmt.Println(chatguard.FormatWait(wait))
	}
	// Output:
	// 4 s
	// 5 min
	// 3 h 1 min
}
