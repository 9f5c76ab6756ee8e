package chatguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
)

// A ladder of penalties: each strike moves the author one rung up.
func ExamplePenalties() {
	clock := chatguardtest.NewClock(noon)
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 1, time.Hour)},
		Penalties: chatguard.Penalties{
			Ladder: []chatguard.Penalty{
				{Action: chatguard.Delete},
				{Action: chatguard.Warn},
				{Action: chatguard.Timeout, Duration: 30 * time.Second}, // MinTimeout to MaxTimeout
				{Action: chatguard.Timeout, UntilRefill: true},
				{Action: chatguard.Ban},
			},
			StrikeEvery: 10 * time.Second,
			ForgetAfter: 30 * time.Minute,
		},
	}, &chatguard.Options{Now: clock.Now})
	if err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{ID: "42", ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	for range 6 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		if verdict.NewStrike {
			fmt.Printf("strike %d: ", verdict.Strikes)
		}
		fmt.Println(act(message, verdict))
		clock.Advance(time.Minute)
	}
	// Output:
	// show it
	// strike 1: delete message 42
	// strike 2: warn anna
	// strike 3: anna can't write for 30s
	// strike 4: anna can't write for 56m0s
	// strike 5: ban anna
}

// act says what a chat does with a verdict.
func act(m chatguard.Message, v chatguard.Verdict) string {
	switch v.Penalty.Action {
	case chatguard.Delete:
		return "delete message " + m.ID
	case chatguard.Warn:
		return "warn " + m.User.Name()
	case chatguard.Timeout:
		return fmt.Sprintf("%s can't write for %s", m.User.Name(), max(chatguard.MinTimeout, min(v.Penalty.Duration, chatguard.MaxTimeout)))
	case chatguard.Ban:
		return "ban " + m.User.Name()
	case chatguard.Drop:
		return "don't show it"
	case chatguard.NoAction:
	}
	return "show it"
}

// A moderator pardons a message that was throttled by mistake, and then thinks better of it.
func ExampleGuard_Pardon() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, time.Hour))
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	var verdicts []chatguard.Verdict
	for range 3 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		verdicts = append(verdicts, verdict)
	}
	_, err := guard.Pardon(verdicts[0])
	fmt.Println(errors.Is(err, chatguard.ErrNotThrottled))

	pardoned, err := guard.PardonAll(verdicts[1:])
	fmt.Println(pardoned.Messages, "pardoned,", pardoned.Strikes, "strikes removed,", err)
	again, err := guard.Pardon(verdicts[2])
	fmt.Println("again:", again, err)

	if err := guard.Unpardon(pardoned); err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(guard.Unpardon(pardoned), chatguard.ErrPardonStale))
	// Output:
	// true
	// 2 pardoned, 2 strikes removed, <nil>
	// again: false <nil>
	// true
}

// A program that keeps throttled messages in its own database can pardon them later. It needs these
// fields of the verdict.
func ExampleGuard_Pardon_later() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, time.Hour))
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Cost: 2}
	v, err := guard.Check(context.Background(), message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("saved:", v.Limit == v.Tightest, v.Never)
	saved := chatguard.Verdict{
		EntryID: v.EntryID, At: v.At, ChannelID: v.ChannelID, UserID: v.UserID,
		Penalty: v.Penalty, NewStrike: v.NewStrike,
		Late: v.Late, Counted: v.Counted, Series: v.Series,
	}
	done, err := guard.Pardon(saved)
	fmt.Println("pardoned:", done, err)
	fmt.Println("reset:", guard.Reset(saved.Key()))
	// Output:
	// saved: true true
	// pardoned: true <nil>
	// reset: <nil>
}
