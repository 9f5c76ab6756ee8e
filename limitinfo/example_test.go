package limitinfo_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

// noon is when the examples happen.
var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// newGuard returns a Guard with this policy, whose clock shows noon.
func newGuard(policy chatguard.Policy) *chatguard.Guard {
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return noon }})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// A moderator asks why somebody is throttled.
func ExampleExplain() {
	guard := newGuard(chatguard.DefaultPolicy())
	anna := chatguard.Key{ChannelID: "lobby", UserID: "anna"}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna", Roles: chatguard.Roles{"subscriber"}}}
	if _, err := guard.Grant(context.Background(), anna, "daily", 20); err != nil {
		log.Fatal(err)
	}
	for range 4 {
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	why, err := limitinfo.Explain(context.Background(), guard, message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.Verdict)
	for _, l := range why.Limits {
		fmt.Printf("%s (%s, per %s): %d of %d used, %d granted, %d remain\n", l.Name, l.Algorithm, l.Per, l.Used, l.Capacity, l.Granted, l.Remaining)
		fmt.Printf("\tthe next one in %s, all in %s; numbers of %s\n", l.NextAt.Sub(noon), l.ResetAt.Sub(noon), source(l))
		fmt.Printf("\trestored in %s, one every %s\n", l.Window, l.Step)
	}
	fmt.Printf("strikes: %d, all lapse in %s; the next one: %s\n", why.Strikes, why.LapseAt.Sub(noon), why.Next)
	fmt.Println("in a timeout:", !why.SilentUntil.IsZero())
	// Output:
	// throttled by burst, retry after 4s
	// burst (token-bucket, per user): 3 of 3 used, 0 granted, 0 remain
	// 	the next one in 4s, all in 12s; numbers of everyone
	// 	restored in 12s, one every 4s
	// daily (daily-window, per user): 3 of 300 used, 20 granted, 317 remain
	// 	the next one in 0s, all in 12h0m0s; numbers of everyone
	// 	restored in 24h0m0s, one every 0s
	// strikes: 1, all lapse in 30m0s; the next one: drop
	// in a timeout: false
}

// source says whose numbers a limit has for a user.
func source(l limitinfo.Status) string {
	switch {
	case l.Own:
		return "their own"
	case l.Observes:
		return "nobody: it only reports"
	}
	return string(l.Role)
}

// A page draws each limit as what it is.
func ExamplePicture() {
	sliced := chatguard.SlidingWindowLimit("sliced", 15, time.Minute)
	sliced.Slices = 6 // of 10 s
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("bucket", 16, 10*time.Second),
		chatguard.CascadeLimit("cascade", 5, 10*time.Second, 10, time.Minute),
		chatguard.LeakyBucketLimit("queue", 10*time.Second, 15),
		chatguard.UserWindowLimit("window", 15, time.Minute),
		chatguard.SlidingWindowLimit("sliding", 15, time.Minute),
		sliced,
		chatguard.SlidingLogLimit("log", 15, time.Minute),
	}}
	guard := newGuard(policy)
	send := func(at time.Duration) chatguard.Message {
		return chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: noon.Add(at)}
	}
	for at := range 11 {
		if _, err := guard.Check(context.Background(), send(time.Duration(at)*time.Second)); err != nil {
			log.Fatal(err)
		}
	}
	why, err := limitinfo.Explain(context.Background(), guard, send(65*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range why.Limits {
		fmt.Println(draw(l))
	}
	// Output:
	// 11.5 tokens
	// 5.0 tokens, and 6.0 of low priority
	// 4 wait, the next leaves at 1m10s
	// no window is open
	// 11 × 0.92 + 0
	// 10 × 0.50 + 1, of the slices [0 0 0 0 0 1 10]
	// 5 messages, the first of 6s
}

// draw writes what a picture shows.
func draw(l limitinfo.Status) string {
	p := l.Picture
	switch {
	case l.Algorithm == chatguard.TokenBucket:
		return fmt.Sprintf("%.1f tokens", p.Tokens)
	case l.Algorithm == chatguard.Cascade:
		return fmt.Sprintf("%.1f tokens, and %.1f of low priority", p.Tokens, p.ExtraTokens)
	case l.Algorithm == chatguard.LeakyBucket:
		return fmt.Sprintf("%d wait, the next leaves at %s", p.Count, p.First.Sub(noon))
	case l.Algorithm == chatguard.SlidingWindow && p.Slices != nil:
		return fmt.Sprintf("%d × %.2f + %d, of the slices %v", p.Previous, p.Weight, p.Count, p.Slices)
	case l.Algorithm == chatguard.SlidingWindow:
		return fmt.Sprintf("%d × %.2f + %d", p.Previous, p.Weight, p.Count)
	case l.Algorithm == chatguard.SlidingLog:
		return fmt.Sprintf("%d messages, the first of %s", p.Count, p.First.Sub(noon))
	case p.Until.IsZero():
		return "no window is open"
	}
	return fmt.Sprintf("%d messages from %s to %s", p.Count, p.From, p.Until)
}

// A program makes the fields of a form from the engine's own table, so it needs none of its own.
func ExampleAlgorithms() {
	for _, algorithm := range limitinfo.Algorithms() {
		if algorithm.Name != chatguard.DailyWindow && !algorithm.PerMessage {
			continue // this program offers only these
		}
		fmt.Printf("%s, %d bytes of state\n", algorithm.Name, algorithm.StateBytes)
		for _, p := range algorithm.Parameters {
			fmt.Println("\t" + describe(p))
		}
		if algorithm.PerMessage { // the others have the same
			for _, p := range algorithm.TextParameters {
				fmt.Printf("\tper %v: %s\n", p.Scopes, describe(p))
			}
		}
	}
	// Output:
	// daily-window, 16 bytes of state
	// 	messages: 1 to 2147483647, 300 for example
	// 	timezone: a time zone, the same for all
	// 	reset_at: a time of day, the same for all
	// 	period: day, week, month, the same for all
	// 	first_day: monday, tuesday, wednesday, thursday, friday, saturday, sunday, the same for all
	// 	reserve: 0 to 2147483646, 0 for example, the same for all
	// sliding-log, 8 bytes of state
	// 	messages: 1 to 1024, 10 for example
	// 	every: 1µs or more, 30s for example, the same for all
	// 	reserve: 0 to 1023, 0 for example, the same for all
	// 	per [user-text text]: similar: true or false, the same for all
	// 	per [user-text text]: from_length: 1 to 500, 12 for example, the same for all
	// 	per [user-text text]: count_emotes: true or false, the same for all
	// 	per [text]: strikes: true or false, the same for all
}

// describe writes a parameter in words.
func describe(p limitinfo.Parameter) (text string) {
	switch p.Kind {
	case limitinfo.KindCount:
		text = fmt.Sprintf("%s: %d to %d, %d for example", p.Name, p.Least, p.Most, p.Suggested)
	case limitinfo.KindDuration:
		text = fmt.Sprintf("%s: %s or more, %s for example", p.Name, time.Duration(p.Least), time.Duration(p.Suggested))
	case limitinfo.KindZone:
		text = p.Name + ": a time zone"
	case limitinfo.KindClock:
		text = p.Name + ": a time of day"
	case limitinfo.KindChoice:
		text = p.Name + ": " + strings.Join(p.Choices, ", ")
	case limitinfo.KindSwitch:
		text = p.Name + ": true or false"
	}
	if !p.Overridable {
		text += ", the same for all"
	}
	return text
}

// How many people fit, before the server starts.
func ExampleCapacity() {
	policy := chatguard.DefaultPolicy()
	users, everywhere, err := limitinfo.Capacity(policy, 512<<20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("over 6 million in each room:", users > 6_000_000, everywhere)
	// Output: over 6 million in each room: true 0
}

// How many texts fit, and what they take.
func ExampleTextCapacity() {
	copies := chatguard.SlidingLogLimit("copy-paste", 3, 30*time.Second)
	copies.Per = chatguard.PerText
	policy := chatguard.Policy{Limits: []chatguard.Limit{copies}}
	texts, err := limitinfo.TextCapacity(policy, 512<<20)
	if err != nil {
		log.Fatal(err)
	}
	bytes, err := limitinfo.TextMemory(policy, 1_000_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a million texts in each room:", texts > 1_000_000, bytes < 100_000_000)
	// Output: a million texts in each room: true true
}

func ExampleMemory() {
	bytes, err := limitinfo.Memory(chatguard.DefaultPolicy(), 100_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("100,000 users take under 10 MB:", bytes < 10_000_000)
	// Output: 100,000 users take under 10 MB: true
}
