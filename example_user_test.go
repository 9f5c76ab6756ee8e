package chatguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/chatguard/chatguard"
)

// Each kind of key selects other limits.
func ExampleKey() {
	perUser := chatguard.TokenBucketLimit("burst", 1, time.Minute)
	everywhere := chatguard.DailyWindowLimit("daily", 1)
	everywhere.Per = chatguard.PerUserEverywhere
	room := chatguard.FixedWindowLimit("room", 1, time.Minute)
	room.Per = chatguard.PerChannel
	server := chatguard.FixedWindowLimit("server", 1, time.Second)
	server.Per = chatguard.PerEverywhere
	guard := newGuard(perUser, everywhere, room, server)
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	if _, err := guard.Check(context.Background(), message); err != nil {
		log.Fatal(err)
	}
	for _, key := range []chatguard.Key{
		message.Key(),
		{UserID: "anna", Per: chatguard.PerUserEverywhere},
		{ChannelID: "lobby", Per: chatguard.PerChannel},
		{Per: chatguard.PerEverywhere},
	} {
		err := guard.Reset(context.Background(), key)
		verdict, _ := guard.Peek(context.Background(), message)
		fmt.Println(key, err, "—", verdict)
	}

	mistaken := chatguard.Key{ChannelID: "lobby", UserID: "anna", Per: chatguard.PerUserEverywhere}
	fmt.Println(errors.Is(guard.Reset(context.Background(), mistaken), chatguard.ErrInvalid))
	// Output:
	// user "anna" in channel "lobby" <nil> — throttled by daily, retry after 12h0m0s
	// user "anna" in all channels <nil> — throttled by room, retry after 1m0s
	// channel "lobby" <nil> — throttled by server, retry after 1s
	// all channels <nil> — allowed, 0 left of burst
	// true
}

// A speaker gets more messages for today.
func ExampleGuard_Grant() {
	policy := chatguard.DefaultPolicy()
	policy.Timezone = "Europe/Berlin"
	guard := newGuardOf(policy)
	anna := chatguard.Key{ChannelID: "lobby", UserID: "anna", Per: chatguard.PerUser} // Per's zero value
	until, err := guard.Grant(context.Background(), anna, "daily", 50)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("50 more until", until.UTC().Format(time.DateTime))

	_, err = guard.Grant(context.Background(), anna, "weekly", 50)
	fmt.Println(errors.Is(err, chatguard.ErrNoLimit))
	_, err = guard.Grant(context.Background(), anna, "daily", 0)
	fmt.Println(errors.Is(err, chatguard.ErrGrant))
	// Output:
	// 50 more until 2026-01-05 23:00:00
	// true
	// true
}

// A single user has other numbers, their own time zone, and isn't exempt even as a moderator.
func ExampleGuard_SetUserOverride() {
	guard := newGuardOf(chatguard.DefaultPolicy())
	anna := chatguard.User{ID: "anna", Roles: chatguard.Roles{chatguard.RoleModerator}}
	key := chatguard.Key{ChannelID: "lobby", UserID: anna.ID}
	err := guard.SetUserOverride(context.Background(), key, chatguard.UserOverride{
		Exempt:   chatguard.ExemptNever,
		Timezone: "Asia/Tokyo",
		Limits:   map[string]chatguard.Override{"burst": {Burst: 10, Refill: time.Second}, "daily": {Messages: 1000}},
	})
	if err != nil {
		log.Fatal(err)
	}
	verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: anna})
	fmt.Println(verdict, err)

	// For the next hour, she is never throttled.
	err = guard.SetUserOverride(context.Background(), key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: guard.Now().Add(time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	overrides, err := guard.UserOverrides(context.Background(), "lobby")
	if err != nil {
		log.Fatal(err)
	}
	for user, override := range overrides {
		fmt.Println(user, override.Exempt, override.ExemptUntil.Sub(noon))
	}

	// The zero UserOverride removes it.
	if err := guard.SetUserOverride(context.Background(), key, chatguard.UserOverride{}); err != nil {
		log.Fatal(err)
	}
	override, err := guard.UserOverride(context.Background(), key)
	fmt.Println(override.Exempt == "", err)
	// Output:
	// allowed, 9 left of burst <nil>
	// anna always 1h0m0s
	// true <nil>
}

// Each user's day ends at midnight where they live. The zone is a fact of the account: a program
// checks it when a user signs in, and gives it with each message.
func ExampleUser_timezone() {
	guard := newGuard(chatguard.DailyWindowLimit("daily", 100))
	signIn := func(id, zone string) chatguard.User {
		user := chatguard.User{ID: id, Timezone: zone}
		err := chatguard.Message{User: user}.Validate()
		if errors.Is(err, chatguard.ErrTimezone) {
			fmt.Println(err)
			user.Timezone = "" // the limits' zone, as Check would use
		}
		return user
	}
	for _, user := range []chatguard.User{
		signIn("yuki", "Asia/Tokyo"), // where it is 21:00
		signIn("anna", "America/Lima"),
		signIn("bob", "Europe/Berln"),
	} {
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: user})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user.ID, "has", verdict.Remaining, "left for", verdict.ResetAt.Sub(verdict.At))
	}
	// Output:
	// chatguard: unknown timezone "Europe/Berln" (want an IANA name such as Europe/Berlin)
	// yuki has 99 left for 3h0m0s
	// anna has 99 left for 17h0m0s
	// bob has 99 left for 12h0m0s
}

// A program defines its roles. Here they are a shop's plans, and its staff is never limited.
func ExampleRoles() {
	const (
		enterprise chatguard.Role = "enterprise"
		pro        chatguard.Role = "pro"
		free       chatguard.Role = "free"
	)
	limit := chatguard.TokenBucketLimit("requests", 10, time.Second)
	limit.Roles = map[chatguard.Role]chatguard.Override{free: {Burst: 2}, pro: {Burst: 50}, enterprise: {Burst: 1000}}
	guard := newGuardOf(chatguard.Policy{
		Roles:  []chatguard.Role{chatguard.RoleModerator, enterprise, pro, free}, // highest first
		Exempt: []chatguard.Role{chatguard.RoleModerator},
		Limits: []chatguard.Limit{limit},
	})
	for i, roles := range []chatguard.Roles{
		nil, // nothing is known about the customer
		{free},
		{free, pro}, // the numbers of the highest role apply
		{chatguard.RoleModerator},
	} {
		user := chatguard.User{ID: fmt.Sprint(i), DisplayName: "Anna", Roles: roles}
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "api", User: user})
		fmt.Printf("%s, %s: %s, %v\n", user, roles, verdict, err)
	}
	both := chatguard.Roles{free, pro}
	fmt.Println(both.Has(pro), both.Has(enterprise), both.Has(chatguard.RoleEveryone))
	// Output:
	// Anna (0), everyone: allowed, 9 left of requests, <nil>
	// Anna (1), free: allowed, 1 left of requests, <nil>
	// Anna (2), free, pro: allowed, 49 left of requests, <nil>
	// Anna (3), moderator: allowed, exempt, <nil>
	// true false true
}

// Messages wait for their turn, except those of newcomers.
func ExampleOverride() {
	limit := chatguard.LeakyBucketLimit("pace", 2*time.Second, 3)
	limit.Roles = map[chatguard.Role]chatguard.Override{"newcomer": {Queue: chatguard.NoQueue}, "regular": {Queue: 10}}
	guard := newGuardOf(chatguard.Policy{Roles: []chatguard.Role{"regular", "newcomer"}, Limits: []chatguard.Limit{limit}})
	for _, role := range []chatguard.Role{"newcomer", chatguard.RoleEveryone, "regular"} {
		user := chatguard.User{ID: string(role), Roles: chatguard.Roles{role}}
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: user})
		fmt.Println(role, verdict, err)
	}
	// Output:
	// newcomer allowed, 0 left of pace <nil>
	// everyone allowed, 3 left of pace <nil>
	// regular allowed, 10 left of pace <nil>
}

// A program defines kinds of messages, too. Here, paid messages and those of emotes
// only are never limited.
func ExampleMessage_kinds() {
	guard := newGuardOf(chatguard.Policy{
		ExemptKinds: []string{"paid", chatguard.KindEmotes},
		Limits:      []chatguard.Limit{chatguard.TokenBucketLimit("burst", 1, 4*time.Second)},
	})
	for _, kinds := range [][]string{{"paid"}, nil, nil, {"question", chatguard.KindEmotes}} {
		message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Kinds: kinds}
		verdict, err := guard.Check(context.Background(), message)
		fmt.Println(kinds, verdict, err)
	}
	// Output:
	// [paid] allowed, exempt <nil>
	// [] allowed, 0 left of burst <nil>
	// [] throttled by burst, retry after 4s <nil>
	// [question emotes] allowed, exempt <nil>
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
	fmt.Println("again at", received.At.Add(received.RetryAfter).UTC().Format(time.TimeOnly), "all back at", received.ResetAt.Format(time.TimeOnly))
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
