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

// newEnforcingGuard returns a Guard that enforces one limit in real time.
func newEnforcingGuard(limit chatguard.Limit) *chatguard.Guard {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

func ExampleGuard_Wrap() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 2, 4*time.Second))
	var say chatguard.MessageHandler = func(_ context.Context, m chatguard.Message) error {
		if m.Text == "" {
			return fmt.Errorf("nothing to say: %w", chatguard.ErrUndelivered) // costs nothing
		}
		fmt.Println(m.User.ID+":", m.Text)
		return nil
	}
	say = guard.Wrap(say)
	for _, text := range []string{"hello", "", "is anybody here?", "HELLO"} {
		err := say(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: text})
		var throttled *chatguard.ThrottledError
		if errors.As(err, &throttled) {
			fmt.Println("to anna: slow down;", throttled.Verdict.Limit, "in", throttled.Verdict.RetryAfterSeconds(), "s")
		} else if err != nil {
			fmt.Println("to anna:", err)
		}
	}
	// Output:
	// anna: hello
	// to anna: nothing to say: chatguard: the message was not delivered
	// anna: is anybody here?
	// to anna: slow down; burst in 4 s
}

// A bot paces its own messages to a platform that allows 2 at once and then one per 20 ms.
func ExampleGuard_Wait() {
	guard := newEnforcingGuard(chatguard.TokenBucketLimit("platform", 2, 20*time.Millisecond))
	own := chatguard.Message{ChannelID: "platform", User: chatguard.User{ID: "bot"}}
	for i := range 4 {
		if _, err := guard.Wait(context.Background(), own); err != nil {
			log.Fatal(err)
		}
		fmt.Println("send", i)
	}

	// Wait doesn't wait for what can't happen before the deadline.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := guard.SetPolicy(chatguard.Policy{Limits: []chatguard.Limit{chatguard.UserWindowLimit("monthly", 1, 720*time.Hour)}}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err := guard.Wait(ctx, own)
		fmt.Println(err == nil, errors.Is(err, context.DeadlineExceeded))
	}
	// Output:
	// send 0
	// send 1
	// send 2
	// send 3
	// true false
	// false true
}

// An order counts only if the payment succeeds.
func ExampleGuard_Reserve() {
	guard := newGuard(chatguard.FixedWindowLimit("orders", 1, time.Hour))
	order := chatguard.Message{ChannelID: "shop", User: chatguard.User{ID: "anna"}}
	for _, paid := range []bool{false, true, true} {
		reservation, err := guard.Reserve(context.Background(), order)
		switch {
		case err != nil:
			log.Fatal(err)
		case !reservation.Verdict.Allowed:
			fmt.Println(reservation.Verdict)
		case paid:
			fmt.Println("ordered")
		default:
			fmt.Println("not paid:", reservation.Cancel(context.Background()))
		}
	}
	// Output:
	// not paid: <nil>
	// ordered
	// throttled by orders, retry after 1h0m0s
}

// A message was allowed, but its delivery failed: its author gets the place back.
func ExampleGuard_Refund() {
	guard := newGuard(chatguard.LeakyBucketLimit("pace", 20*time.Millisecond, 1))
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	gone, hangUp := context.WithCancel(context.Background())
	hangUp()
	for range 3 {
		verdict, err := guard.Check(gone, message)
		if err != nil {
			log.Fatal(err)
		}
		if err := verdict.Hold(gone); err != nil { // waits for verdict.Delay
			fmt.Println("not delivered:", err, guard.Refund(gone, verdict))
			continue
		}
		fmt.Println("delivered")
	}
	// Output:
	// delivered
	// not delivered: context canceled <nil>
	// not delivered: context canceled <nil>
}

// The server keeps reading a connection while the connection's messages wait for their turn.
func ExampleHoldQueue() {
	guard := newEnforcingGuard(chatguard.LeakyBucketLimit("pace", 20*time.Millisecond, 2))
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
		if !verdict.Allowed || !queue.Add(ctx, verdict, deliver) {
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

// Anna may write two messages a week, and the week begins on Sunday.
func ExamplePeriod() {
	limit := chatguard.DailyWindowLimit("weekly", 2)
	limit.Period, limit.FirstDay = chatguard.PeriodWeek, "sunday"
	guard := newEnforcingGuard(limit)
	friday := time.Date(2026, time.November, 27, 20, 0, 0, 0, time.UTC)
	for _, hour := range []int{0, 1, 2, 28} {
		verdict, err := guard.Check(context.Background(), chatguard.Message{
			ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: friday.Add(time.Duration(hour) * time.Hour),
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict.At.Format("Mon 15:04"), verdict)
	}
	for _, limit.Period = range []chatguard.Period{chatguard.PeriodDay, chatguard.PeriodMonth} {
		limit.FirstDay = "" // only a week has one
		guard := newEnforcingGuard(limit)
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: friday})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(limit.Period, "until", verdict.ResetAt.UTC().Format("Mon 2 Jan 15:04"))
	}
	// Output:
	// Fri 20:00 allowed, 1 left of weekly
	// Fri 21:00 allowed, 0 left of weekly
	// Fri 22:00 throttled by weekly, retry after 26h0m0s
	// Sun 00:00 allowed, 1 left of weekly
	// day until Sat 28 Nov 00:00
	// month until Tue 1 Dec 00:00
}

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
		case verdict.Priority == chatguard.PriorityLow:
			fmt.Println("shown folded")
		default:
			fmt.Println("shown")
		}
	}
	limit := guard.Policy().Limits[0]
	fmt.Println(limit.Algorithm, chatguard.PriorityLow)
	// Output:
	// shown
	// shown
	// shown
	// shown folded
	// throttled by room
	// cascade low
}

// A subscriber gets more of the second bucket.
func ExampleOverride_cascade() {
	limit := chatguard.Limit{
		Name: "burst", Algorithm: chatguard.Cascade,
		Burst: 1, Refill: 4 * time.Second, ExtraBurst: 1, ExtraRefill: 20 * time.Second,
		Roles: map[chatguard.Role]chatguard.Override{"subscriber": {ExtraBurst: 3, ExtraRefill: 10 * time.Second}},
	}
	guard := newGuardOf(chatguard.Policy{Limits: []chatguard.Limit{limit}})
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna", Roles: chatguard.Roles{"subscriber"}}}
	for range 2 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict)
	}
	// Output:
	// allowed, 3 left of burst
	// allowed at low priority, 2 left of burst
}

// A user reads a limit's title. A verdict names the limit.
func ExampleLimit_title() {
	daily := chatguard.DailyWindowLimit("daily", 300)
	daily.Title = "messages a day"
	policy := chatguard.Policy{Limits: []chatguard.Limit{daily}}
	fmt.Println(policy.Validate(), policy.Limits[0].Name, policy.Limits[0].Title)
	// Output: <nil> daily messages a day
}
