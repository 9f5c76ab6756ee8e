package chatguard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/chatguard/chatguard"
)

// A moderator asks why somebody is throttled.
func ExampleGuard_Explain() {
	guard := newGuardOf(chatguard.DefaultPolicy())
	anna := chatguard.Key{ChannelID: "lobby", UserID: "anna"}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna", Roles: chatguard.RolesOf(chatguard.Subscriber)}}
	if _, err := guard.Grant(anna, "daily", 20); err != nil {
		log.Fatal(err)
	}
	for range 4 {
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	why, err := guard.Explain(message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.Verdict)
	for _, l := range why.Limits {
		fmt.Printf("%s (%s, per %s): %d of %d used, %d granted, %d remain\n", l.Name, l.Algorithm, l.Per, l.Used, l.Capacity, l.Granted, l.Remaining)
		fmt.Printf("\tthe next one in %s, all in %s; numbers of %s\n", l.NextAt.Sub(noon), l.ResetAt.Sub(noon), source(l))
	}
	fmt.Printf("strikes: %d, all lapse in %s; the next one is rung %d: %s\n", why.Strikes, why.LapseAt.Sub(noon), why.Rung, why.Next)
	fmt.Println("in a timeout:", !why.SilentUntil.IsZero(), "exempt:", why.Override.Exempt)
	// Output:
	// throttled by burst, retry after 4s
	// burst (token-bucket, per user): 3 of 3 used, 0 granted, 0 remain
	// 	the next one in 4s, all in 12s; numbers of everyone
	// daily (daily-window, per user): 3 of 300 used, 20 granted, 317 remain
	// 	the next one in 0s, all in 12h0m0s; numbers of everyone
	// strikes: 1, all lapse in 30m0s; the next one is rung 0: drop
	// in a timeout: false exempt: by-role
}

// source says whose numbers a limit has for a user.
func source(l chatguard.LimitStatus) string {
	switch {
	case l.Own:
		return "their own"
	case l.Observes:
		return "nobody: it only reports"
	}
	return l.Role.String()
}

// A client that shows what is left needs the numbers for this user.
func ExampleGuard_Quotas() {
	burst := chatguard.TokenBucketLimit("burst", 3, 4*time.Second)
	burst.Roles = map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 5}}
	guard := newGuard(burst)
	author := chatguard.User{ID: "anna", Roles: chatguard.RolesOf(chatguard.Subscriber)}
	verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: author})
	if err != nil {
		log.Fatal(err)
	}
	quotas := guard.Quotas(verdict)
	for quota := range quotas.All() {
		fmt.Printf("%s: %d messages in %s, one every %s\n", quota.Limit, quota.Messages, quota.Window, quota.Step)
	}
	tightest, _ := quotas.Tightest() // of the limit verdict.Tightest
	more, _ := tightest.MoreAfter(verdict)
	fmt.Println(verdict.Remaining, "left, and more in", more)
	fmt.Println("RateLimit-Policy:", quotas)
	// Output:
	// burst: 5 messages in 20s, one every 4s
	// 4 left, and more in 4s
	// RateLimit-Policy: "burst";q=5;w=20
}

// A verdict travels as JSON, to a client that shows a countdown or to another server.
func ExampleVerdict() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, 4*time.Second))
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	var verdict chatguard.Verdict
	for range 2 {
		var err error
		if verdict, err = guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	verdict.EntryID = 0 // it depends on the time of the start
	text := verdict.AppendJSON(nil)
	fmt.Println(string(text))

	var received chatguard.Verdict
	if err := json.Unmarshal(text, &received); err != nil {
		log.Fatal(err)
	}
	fmt.Println(received)
	fmt.Println("again at", received.MaySpeakAt().UTC().Format(time.TimeOnly), "all back at", received.ResetAt.Format(time.TimeOnly))
	// Output:
	// {"at":"2026-01-05T12:00:00Z","channel":"lobby","user_id":"anna","allowed":false,"limit":"burst","remaining":0,"retry_after_ms":4000,"delay_ms":0,"reset_at":"2026-01-05T12:00:04Z","never":false,"observed":false,"penalty":"drop","strikes":1,"new_strike":true,"series":1}
	// throttled by burst, retry after 4s
	// again at 12:00:04 all back at 12:00:04
}

// A log line of a verdict has what matters.
func ExampleVerdict_LogValue() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	guard := newGuard(chatguard.TokenBucketLimit("uploads", 4, time.Second))
	upload := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "48215771", Login: "anna"}, Cost: 3}
	for range 2 {
		verdict, err := guard.Check(context.Background(), upload)
		if err != nil {
			log.Fatal(err)
		}
		logger.Info("upload", "user", upload.User, "verdict", verdict)
	}
	// Output:
	// level=INFO msg=upload user.id=48215771 user.login=anna verdict.channel=lobby verdict.user=48215771 verdict.allowed=true
	// level=INFO msg=upload user.id=48215771 user.login=anna verdict.channel=lobby verdict.user=48215771 verdict.allowed=false verdict.limit=uploads verdict.retry_after=2s verdict.penalty=drop
}
