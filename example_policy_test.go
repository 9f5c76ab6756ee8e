package chatguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
)

// A room gets its own limits while people write, and they keep the usage that they have.
func ExampleGuard_SetChannelPolicy() {
	guard := newGuardOf(chatguard.DefaultPolicy())
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	if _, err := guard.Check(context.Background(), message); err != nil {
		log.Fatal(err)
	}

	policy := guard.ChannelPolicy("lobby") // a copy
	policy.Limits[0].Burst = 0
	fmt.Println(guard.SetChannelPolicy("lobby", policy))
	policy.Limits[0].Burst = 5
	if err := guard.SetChannelPolicy("lobby", policy); err != nil {
		log.Fatal(err)
	}

	verdict, err := guard.Check(context.Background(), message)
	fmt.Println(verdict, err)
	guard.ForgetChannel("lobby") // the room is closed
	fmt.Println(guard.ChannelPolicy("lobby").Limits[0].Burst)
	// Output:
	// chatguard: limit "burst": burst is 0, want 1 or more
	// allowed, 3 left of burst <nil>
	// 3
}

// A new policy for all rooms: it begins by only observing, to see whom it would throttle.
func ExampleGuard_SetPolicy() {
	guard := newGuardOf(chatguard.DefaultPolicy())
	policy := guard.Policy()
	policy.Mode = chatguard.ModeObserve
	policy.Limits = append(policy.Limits, chatguard.SlidingWindowLimit("steady", 1, time.Minute))
	if err := guard.SetPolicy(policy); err != nil {
		log.Fatal(err)
	}
	message := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}
	for range 2 {
		verdict, err := guard.Check(context.Background(), message)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict.Allowed, verdict.Observed, verdict.WouldBe)
	}
	// Output:
	// true false none
	// true true drop
}

// One limit of each algorithm, and three of the scopes.
func ExampleLimit() {
	everywhere := chatguard.SlidingWindowLimit("minute", 30, time.Minute)
	everywhere.Per = chatguard.PerUserEverywhere
	room := chatguard.FixedWindowLimit("room", 1000, time.Second)
	room.Per = chatguard.PerChannel
	night := chatguard.DailyWindowLimit("daily", 300)
	night.Timezone, night.ResetAt = "Europe/Berlin", "04:00"
	pictures := chatguard.SlidingLogLimit("log", 5, time.Hour)
	pictures.CountThrottled = true // users who continue meanwhile wait longer
	first := chatguard.UserWindowLimit("first", 10, time.Minute)
	first.Mode = chatguard.ModeObserve // only reports, in a policy that enforces
	policy := chatguard.Policy{
		Mode: chatguard.ModeEnforce, // the zero value
		Limits: []chatguard.Limit{
			chatguard.TokenBucketLimit("burst", 3, 4*time.Second),
			chatguard.LeakyBucketLimit("pace", time.Second, 5),
			room, night, first, everywhere, pictures,
		},
	}
	if err := policy.Validate(); err != nil {
		log.Fatal(err)
	}
	for _, l := range policy.Limits {
		switch l.Algorithm {
		case chatguard.TokenBucket:
			fmt.Printf("%s: %d at once, one more every %s\n", l.Name, l.Burst, l.Refill)
		case chatguard.LeakyBucket:
			fmt.Printf("%s: one every %s, %d wait\n", l.Name, l.Every, l.Queue)
		case chatguard.DailyWindow:
			fmt.Printf("%s: %d until %s in %s\n", l.Name, l.Messages, l.ResetAt, l.Timezone)
		case chatguard.FixedWindow, chatguard.UserWindow, chatguard.SlidingWindow, chatguard.SlidingLog:
			fmt.Printf("%s: %d in %s, %s %s\n", l.Name, l.Messages, l.Every, l.Algorithm, l.Per)
		}
	}
	// Output:
	// burst: 3 at once, one more every 4s
	// pace: one every 1s, 5 wait
	// room: 1000 in 1s, fixed-window channel
	// daily: 300 until 04:00 in Europe/Berlin
	// first: 10 in 1m0s, user-window user
	// minute: 30 in 1m0s, sliding-window user-everywhere
	// log: 5 in 1h0m0s, sliding-log user
}

// A policy from a file. Unknown keys are errors, and so are impossible numbers.
func ExamplePolicy() {
	var policy chatguard.Policy
	err := json.Unmarshal([]byte(`{
		"exempt": ["moderator"],
		"limits": [{"name": "burst", "algorithm": "token-bucket", "burst": 3, "refill": "4s",
			"roles": {"newcomer": {"burst": 1}, "subscriber": {"burst": 5, "refill": "2s"}}}],
		"roles": ["subscriber", "newcomer"],
		"penalties": {"ladder": ["delete", "timeout 30s"], "strike_every": "10s", "forget_after": "30m"}
	}`), &policy)
	if err != nil {
		log.Fatal(err)
	}
	stricter := policy.Clone() // shares nothing with policy
	stricter.Limits[0].Refill = 24 * time.Hour
	text, err := json.Marshal(stricter.Limits)
	fmt.Println(policy.Mode, policy.Limits[0].Refill, err)
	fmt.Println(string(text))
	// Output:
	// enforce 4s <nil>
	// [{"name":"burst","algorithm":"token-bucket","burst":3,"roles":{"newcomer":{"burst":1},"subscriber":{"burst":5,"refill":"2s"}},"refill":"24h"}]
}

// The memory of users has a limit, in each room and in all rooms together.
func ExampleNew() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{MaxMemory: 16 << 20, MaxTotalMemory: 256 << 20})
	if err != nil {
		log.Fatal(err)
	}
	memory := guard.Memory()
	fmt.Println(memory.Users, "users,", memory.Bytes, "bytes,", memory.Forgotten, "forgotten,", memory.Evicted, "evicted,", memory.Held, "of them too soon")
	fmt.Println(memory.Texts, "texts,", memory.TextsEvicted, "evicted")
	// Output:
	// 0 users, 0 bytes, 0 forgotten, 0 evicted, 0 of them too soon
	// 0 texts, 0 evicted
}

// A ladder of penalties: each strike moves the author one rung up.
func ExamplePenalties() {
	clock := chatguardtest.NewClock(noon)
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 1, time.Hour)},
		Penalties: chatguard.Penalties{
			Ladder: []chatguard.Penalty{
				{Action: chatguard.ActionDelete},
				{Action: "warn"}, // an action of your own
				{Action: chatguard.ActionTimeout, Duration: 30 * time.Second},
				{Action: chatguard.ActionTimeout, UntilRefill: true},
				{Action: chatguard.ActionBan},
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
	case chatguard.ActionDelete:
		return "delete message " + m.ID
	case "warn":
		return "warn " + m.User.Name()
	case chatguard.ActionTimeout:
		return fmt.Sprintf("%s can't write for %s", m.User.Name(), v.Penalty.Duration)
	case chatguard.ActionBan:
		return "ban " + m.User.Name()
	case chatguard.ActionDrop:
		return "don't show it"
	}
	return "show it"
}

// A moderator pardons a message that was throttled by mistake.
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
	for _, verdict := range verdicts {
		done, err := guard.Pardon(context.Background(), verdict)
		fmt.Println(done, errors.Is(err, chatguard.ErrNotThrottled))
	}
	again, err := guard.Pardon(context.Background(), verdicts[2])
	fmt.Println("again:", again, err)
	// Output:
	// false true
	// true false
	// true false
	// again: false <nil>
}

// An editor shows a mistake beside the field that is wrong.
func ExamplePolicyError() {
	policy := chatguard.DefaultPolicy()
	policy.Limits[1].Roles = map[chatguard.Role]chatguard.Override{"vip": {Messages: -5}}
	var mistake *chatguard.PolicyError
	if errors.As(policy.Validate(), &mistake) {
		fmt.Println(mistake.Limit, mistake.Role, mistake.Parameter, mistake.Value)
		fmt.Println(mistake.Problem)
	}
	// Output:
	// daily vip messages -5
	// messages is -5, want 1 or more
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
	done, err := guard.Pardon(context.Background(), saved)
	fmt.Println("pardoned:", done, err)
	fmt.Println("reset:", guard.Reset(context.Background(), saved.Key()))
	// Output:
	// saved: true true
	// pardoned: true <nil>
	// reset: <nil>
}
