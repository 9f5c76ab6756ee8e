package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

// A user who writes more than usual isn't silenced at once: the next messages are of low priority.
// They are folded, and in a busy room they are the first to be throttled.
func ExampleCascadeLimit() {
	room := chatguard.TokenBucketLimit("room", 6, time.Second)
	room.Per, room.Reserve = chatguard.PerChannel, 2
	guard := newGuardOf(chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.CascadeLimit("burst", 3, 4*time.Second, 2, 20*time.Second), room,
	}})
	for range 5 {
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}})
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case !verdict.Allowed:
			fmt.Println("throttled by", verdict.Limit)
		case verdict.Priority == chatguard.Low:
			fmt.Println("shown folded")
		default:
			fmt.Println("shown")
		}
	}
	limit := guard.Policy().Limits[0]
	fmt.Println(limit.Algorithm == chatguard.Cascade, chatguard.Normal, chatguard.Low)
	// Output:
	// shown
	// shown
	// shown
	// shown folded
	// throttled by room
	// true normal low
}

// A subscriber gets more of the second bucket, and a page shows what is left of both.
func ExampleOverride_cascade() {
	limit := chatguard.Limit{
		Name: "burst", Algorithm: chatguard.Cascade,
		Burst: 1, Refill: 4 * time.Second, ExtraBurst: 1, ExtraRefill: 20 * time.Second,
		Roles: map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {ExtraBurst: 3, ExtraRefill: 10 * time.Second}},
	}
	guard := newGuardOf(chatguard.Policy{Limits: []chatguard.Limit{limit}})
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna", Roles: chatguard.RolesOf(chatguard.Subscriber)}}
	for range 2 {
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	explanation, err := guard.Explain(message)
	if err != nil {
		log.Fatal(err)
	}
	picture := explanation.Limits[0].Picture
	fmt.Println(picture.Tokens, picture.ExtraTokens, explanation.Verdict.Priority)
	// Output: 0 2 low
}

// Priorities have the same names in logs and in JSON.
func ExamplePriority() {
	var priority chatguard.Priority
	fmt.Println(priority == chatguard.Normal)
	if err := priority.UnmarshalText([]byte("low")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(priority)
	// Output:
	// true
	// low
}
