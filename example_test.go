package chatguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync/atomic"
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
		SentAt:    noon,
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

// Messages that arrive together are judged together.
func ExampleGuard_CheckAll() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 2, 4*time.Second))
	var messages []chatguard.Message
	for _, author := range []string{"anna", "anna", "ben", "anna"} {
		messages = append(messages, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: author}})
	}
	verdicts := make([]chatguard.Verdict, len(messages))
	if err := guard.CheckAll(context.Background(), messages, verdicts); err != nil {
		log.Fatal(err)
	}
	for _, verdict := range verdicts {
		fmt.Println(verdict.UserID, verdict)
	}
	// Output:
	// anna allowed, 1 left of burst
	// anna allowed, 0 left of burst
	// ben allowed, 1 left of burst
	// anna throttled by burst, retry after 4s
}

func ExampleGuard_CheckUpTo() {
	guard := newGuard(chatguard.SlidingLogLimit("minute", 20, time.Minute))
	// A sender with 30 pending messages sends as many as the limits allow.
	taken, verdict, err := guard.CheckUpTo(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "newsbot"}, Cost: 30})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(taken, verdict.Spent)
	// Output: 20 20
}

// An upload costs one per started 64 KiB, so the limit counts bytes. Peek tells its author before
// the upload whether it would pass.
func ExampleGuard_Peek() {
	guard := newGuard(chatguard.TokenBucketLimit("uploads", 160, time.Second)) // 10 MiB at once, then 64 KiB/s
	for _, size := range []int{8 << 20, 3 << 20, 64 << 20} {
		upload := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Cost: (size + 64<<10 - 1) / (64 << 10)}
		verdict, err := guard.Peek(context.Background(), upload)
		switch {
		case err != nil:
			log.Fatal(err)
		case verdict.Never:
			fmt.Println(size>>20, "MiB: too large")
		case !verdict.Allowed:
			fmt.Println(size>>20, "MiB: possible in", chatguard.FormatWait(verdict.RetryAfter))
		default:
			verdict, err = guard.Check(context.Background(), upload)
			fmt.Println(size>>20, "MiB:", verdict, err)
		}
	}
	// Output:
	// 8 MiB: allowed, 32 left of uploads <nil>
	// 3 MiB: possible in 16 s
	// 64 MiB: too large
}

// The errors of Check are mistakes of the program. A throttled message is none.
func ExampleMessage_Validate() {
	for _, m := range []chatguard.Message{
		{ChannelID: "lobby", User: chatguard.User{ID: "anna"}},
		{User: chatguard.User{ID: "anna"}},
		{ChannelID: "lobby"},
		{ChannelID: "lobby", User: chatguard.User{ID: strings.Repeat("a", 257)}},
		{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Cost: -1},
		{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: time.Unix(-1, 0)},
	} {
		err := m.Validate()
		fmt.Println(errors.Is(err, chatguard.ErrInvalid), err)
	}
	// Output:
	// false <nil>
	// true chatguard: the channel ID is empty
	// true chatguard: the user ID is empty
	// true chatguard: a channel or user ID is longer than 256 bytes
	// true chatguard: the cost is negative
	// true chatguard: the time is before 1970 or after February 2116
}

// noon is when the examples happen.
var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// newGuard returns a Guard with these limits, whose clock shows noon.
func newGuard(limits ...chatguard.Limit) *chatguard.Guard {
	return newGuardOf(chatguard.Policy{Limits: limits})
}

// newGuardOf returns a Guard with this policy, whose clock shows noon.
func newGuardOf(policy chatguard.Policy) *chatguard.Guard {
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return noon }})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// figures counts verdicts for a metrics system. Observers run in the goroutine that judges, so they
// only count.
type figures struct{ allowed, throttled, observed, exempt, degraded atomic.Int64 }

func (f *figures) observe(_ chatguard.Message, v chatguard.Verdict) {
	switch {
	case v.Exempt:
		f.exempt.Add(1)
	case v.Observed:
		f.observed.Add(1)
	case v.Throttled():
		f.throttled.Add(1)
	default:
		f.allowed.Add(1)
	}
	if v.Degraded {
		f.degraded.Add(1) // the store is failing
	}
}

func ExampleGuard_AddObserver() {
	var all, lobby figures
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Observer: all.observe})
	if err != nil {
		log.Fatal(err)
	}
	remove := guard.AddObserver(func(m chatguard.Message, v chatguard.Verdict) {
		if m.ChannelID == "lobby" {
			lobby.observe(m, v)
		}
	})
	for i, channel := range []string{"arena", "lobby", "lobby", "lobby", "lobby", "lobby"} {
		if i == 5 {
			remove()
		}
		message := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: "anna"}, SentAt: noon}
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("all:", all.allowed.Load(), "allowed,", all.throttled.Load(), "throttled")
	fmt.Println("lobby:", lobby.allowed.Load(), "allowed,", lobby.throttled.Load(), "throttled")
	// Output:
	// all: 4 allowed, 2 throttled
	// lobby: 3 allowed, 1 throttled
}
