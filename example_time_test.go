package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

// Yesterday's messages are judged again, with the changes that moderators made then.
func ExampleGuard_At() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	for i, change := range changesOfYesterday(message.Key()) {
		message.SentAt = noon.Add(time.Duration(i) * time.Second)
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		if err := change(guard.At(message.SentAt), verdict); err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict)
	}
	// Output:
	// allowed, 2 left of burst
	// throttled by burst, retry after 59s
	// throttled by burst, retry after 58s
	// throttled by burst, retry after 57s
	// allowed, 0 left of burst
	// allowed, 0 left of burst
	// allowed, 0 left of burst
	// allowed, 1 left of burst
	// allowed, 0 left of burst
}

// changesOfYesterday returns what the moderators did, one change per message.
func changesOfYesterday(anna chatguard.Key) []func(chatguard.GuardAt, chatguard.Verdict) error {
	stricter := chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 1, time.Minute)}}
	return []func(chatguard.GuardAt, chatguard.Verdict) error{
		func(then chatguard.GuardAt, _ chatguard.Verdict) error { return then.SetPolicy(stricter) },
		func(then chatguard.GuardAt, v chatguard.Verdict) error { _, err := then.Pardon(v); return err },
		func(then chatguard.GuardAt, v chatguard.Verdict) error {
			pardoned, err := then.PardonAll([]chatguard.Verdict{v})
			if err != nil {
				return err
			}
			return then.Unpardon(pardoned)
		},
		func(then chatguard.GuardAt, _ chatguard.Verdict) error { return then.Reset(anna) },
		func(then chatguard.GuardAt, v chatguard.Verdict) error { return then.Refund(v) },
		func(then chatguard.GuardAt, _ chatguard.Verdict) error {
			_, err := then.Grant(anna, "burst", 1)
			return err
		},
		func(then chatguard.GuardAt, _ chatguard.Verdict) error {
			own := map[string]chatguard.Override{"burst": {Burst: 3}}
			return then.SetUserOverride(anna, chatguard.UserOverride{Limits: own})
		},
		func(then chatguard.GuardAt, _ chatguard.Verdict) error {
			return then.SetChannelPolicy("lobby", stricter)
		},
		func(then chatguard.GuardAt, _ chatguard.Verdict) error { return then.SetOverlay("lobby", nil) },
	}
}

// A program with a clock of its own tells the Guard that the clock was set back.
func ExampleGuard_Rewind() {
	now := noon
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 1, 4*time.Second),
	}}, &chatguard.Options{Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	for range 2 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(guard.Now().Format(time.TimeOnly), verdict)
		now = now.Add(-time.Hour)
		guard.Rewind(now)
	}
	// Output:
	// 12:00:00 allowed, 0 left of burst
	// 11:00:00 throttled by burst, retry after 4s
}
