package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
)

// A program makes the fields of a form from the engine's own table, so it needs none of its own.
func ExampleAlgorithms() {
	for _, algorithm := range chatguard.Algorithms() {
		if algorithm.Name != chatguard.TokenBucket && !algorithm.PerMessage {
			continue // this program offers only these
		}
		fmt.Printf("%s, %d bytes of state\n", algorithm.Name, algorithm.StateBytes)
		for _, p := range algorithm.Parameters {
			fmt.Println("\t" + describe(p))
		}
	}
	// Output:
	// token-bucket, 8 bytes of state
	// 	burst: 1 to 2147483647, 3 for example
	// 	refill: 1µs or more, 4s for example
	// 	reserve: 0 to 2147483646, 0 for example, the same for all
	// sliding-log, 8 bytes of state
	// 	messages: 1 to 1024, 10 for example
	// 	every: 1µs or more, 30s for example, the same for all
	// 	reserve: 0 to 1023, 0 for example, the same for all
}

// describe writes a parameter in words.
func describe(p chatguard.Parameter) (text string) {
	switch p.Kind {
	case chatguard.CountParameter:
		text = fmt.Sprintf("%s: %d to %d, %d for example", p.Name, p.Least, p.Most, p.Suggested)
	case chatguard.DurationParameter:
		text = fmt.Sprintf("%s: %s or more, %s for example", p.Name, time.Duration(p.Least), time.Duration(p.Suggested))
	case chatguard.ZoneParameter:
		text = p.Name + ": a time zone"
	case chatguard.ClockParameter:
		text = p.Name + ": a time of day"
	}
	if !p.Overridable {
		text += ", the same for all"
	}
	return text
}

// A page draws each limit as what it is.
func ExamplePicture() {
	sliced := chatguard.SlidingWindowLimit("sliced", 15, time.Minute)
	sliced.Slices = 6 // of 10 s
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("bucket", 16, 10*time.Second),
		chatguard.LeakyBucketLimit("queue", 10*time.Second, 15),
		chatguard.UserWindowLimit("window", 15, time.Minute),
		chatguard.SlidingWindowLimit("sliding", 15, time.Minute),
		sliced,
		chatguard.SlidingLogLimit("log", 15, time.Minute),
	}}
	guard := newGuardOf(policy)
	send := func(at time.Duration) chatguard.Message {
		return chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: noon.Add(at)}
	}
	for at := range 11 {
		if _, err := guard.Check(context.Background(), send(time.Duration(at)*time.Second)); err != nil {
			log.Fatal(err)
		}
	}
	why, err := guard.Explain(send(65 * time.Second))
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range why.Limits {
		fmt.Println(draw(l))
	}
	// Output:
	// 11.5 tokens
	// 4 wait, the next leaves at 1m10s
	// no window is open
	// 11 × 0.92 + 0 = 10.1
	// 10 × 0.50 + 1 = 6.0, of the slices [0 0 0 0 0 1 10]
	// 5 messages, the first of 6s
}

// draw writes what a picture shows.
func draw(l chatguard.LimitStatus) string {
	p := l.Picture
	switch {
	case l.Algorithm == chatguard.TokenBucket:
		return fmt.Sprintf("%.1f tokens", p.Tokens)
	case l.Algorithm == chatguard.LeakyBucket:
		return fmt.Sprintf("%d wait, the next leaves at %s", p.Waiting, p.Leaves.Sub(noon))
	case l.Algorithm == chatguard.SlidingWindow && p.Slices != nil:
		return fmt.Sprintf("%d × %.2f + %d = %.1f, of the slices %v", p.Previous, p.Weight, p.Count, p.Estimate, p.Slices)
	case l.Algorithm == chatguard.SlidingWindow:
		return fmt.Sprintf("%d × %.2f + %d = %.1f", p.Previous, p.Weight, p.Count, p.Estimate)
	case l.Algorithm == chatguard.SlidingLog:
		return fmt.Sprintf("%d messages, the first of %s", p.Times, p.Oldest.Sub(noon))
	case p.Until.IsZero():
		return "no window is open"
	}
	return fmt.Sprintf("%d messages from %s to %s", p.Count, p.From, p.Until)
}
