package redisstore_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// Two nodes share limits, so a user can't get around them by using both. Here both nodes are in one
// process; yours are in several, each with one Store and one Guard.
func Example() {
	url, stopServer := startServer()
	defer stopServer()

	node := func(name string) (guard *chatguard.Guard, store *redisstore.Store, stop func()) {
		store, err := redisstore.Open(context.Background(), url, &redisstore.Options{Node: name, Timeout: patience, Logger: quiet})
		if err != nil {
			log.Fatal(err) // a mistake in the configuration; the server may be away
		}
		guard, err = chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
		if err != nil {
			log.Fatal(err)
		}
		background, cancel := context.WithCancel(context.Background())
		ran := make(chan error, 1)
		go func() { ran <- store.Run(background, guard) }()
		return guard, store, func() {
			cancel() // once no more messages are judged
			if err := errors.Join(<-ran, store.Close()); err != nil {
				log.Print(err)
			}
		}
	}
	first, store, stopFirst := node("first")
	defer stopFirst()
	second, _, stopSecond := node("second")
	defer stopSecond()

	now := time.Now()
	for _, guard := range []*chatguard.Guard{first, second, first, second} {
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, SentAt: now})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict.Allowed, verdict.RetryAfter, verdict.Degraded)
	}
	health := store.Health()
	fmt.Printf("up: %t; problem: %q\n", health.Up, health.Problem)
	// Output:
	// true 0s false
	// true 0s false
	// true 0s false
	// false 4s false
	// up: true; problem: ""
}

// A server with TLS on another machine, and a user with the necessary rights only.
func ExampleOpen() {
	store, err := redisstore.Open(context.Background(), "rediss+sentinel://a.internal:26379,b.internal:26379/chat", &redisstore.Options{
		Username:         "chatguard",
		Password:         "from your secrets",
		SentinelUsername: "watcher",
		SentinelPassword: "from your secrets",
		TLS:              &tls.Config{ServerName: "redis.internal"},
		Namespace:        "forum", // other limits on the same server have another one
		Placement:        redisstore.PlaceByUser,
		Replicas:         1, // so that a failover loses less
		Node:             "chat-7",
		Version:          "1.4.0",
		Timeout:          50 * time.Millisecond,
		Interval:         time.Second,
		NameOf:           func(option string) string { return "the flag -" + strings.ToLower(option) }, // for errors and logs
		Logger:           slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// On a Cluster, the policies say how rows are placed.
func ExamplePlacementFor() {
	policies := []chatguard.Policy{chatguard.DefaultPolicy()} // of all channels
	placement := redisstore.PlacementFor(policies...)
	store, err := redisstore.Open(context.Background(), "redis+cluster://10.0.0.1:6379,10.0.0.2:6379", &redisstore.Options{
		Placement: placement,
		Insecure:  true, // a network of your own
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// Before a policy changes, check that it suits the placement, which can't change.
func ExampleOptions_CheckPlacement() {
	policy := chatguard.DefaultPolicy()
	policy.Limits = append(policy.Limits, chatguard.Limit{
		Name: "room", Algorithm: chatguard.TokenBucket, Per: chatguard.PerChannel, Burst: 100, Refill: time.Second,
	})
	for _, placement := range []redisstore.Placement{redisstore.PlaceByUser, redisstore.PlaceByChannel, redisstore.PlaceTogether} {
		fmt.Println((&redisstore.Options{Placement: placement}).CheckPlacement(policy))
	}
	// Output:
	// redisstore: on a Cluster, PlaceByUser as Options.Placement doesn't suit the limit "room", which a whole channel shares: set it to PlaceByChannel, and another Options.Namespace, on all nodes
	// <nil>
	// <nil>
}

// Health is for a page or a metric of yours. It never waits.
func ExampleStore_Health() {
	store, err := redisstore.Open(context.Background(), "redis://127.0.0.1:1", &redisstore.Options{Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	var health shared.Health = store.Health()
	if !health.Up {
		fmt.Println(health.Problem)
	} else {
		log.Printf("%s since %s, refusing %t, %d nodes, round trip %s, clock %s±%s, jump %s, IFEQ %t",
			health.Server, health.Since, health.Refusing, health.Nodes, health.RoundTrip, health.Offset, health.Skew/2, health.Jump, health.IfEqual)
	}
	// Output:
	// 127.0.0.1:1: connection refused: is the server running and reachable?
}

// A page of yours can list the nodes, and what each has done with the store.
func ExampleStore_Nodes() {
	url, stopServer := startServer()
	defer stopServer()
	store, err := redisstore.Open(context.Background(), url, &redisstore.Options{
		Node: "chat-7", Version: "1.4.0", Timeout: patience, Logger: quiet,
		Describe: func(n *shared.Node) {
			n.Address = "https://chat-7.example"
			n.MessagesPerSecond = 812
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	guard := newGuard(store)
	defer runUntilListed(store, guard)()

	nodes, err := store.Nodes(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nodes {
		fmt.Println(n.Name, n.Version, n.Address, n.Mode, n.Formats, n.MessagesPerSecond, n.Self)
		log.Println(n.Instance, n.Number, n.PolicyHash, n.Tasks, n.Started, n.Offset, n.Error, n.Counts, n.Overshoot)
	}
	// Output:
	// chat-7 1.4.0 https://chat-7.example exact [1 2 3 4 5] 812 true
}

// Counts for a metrics page: how long swaps and exchanges take, and what failed.
func ExampleStore_Stats() {
	ctx := context.Background()
	store, stop := openStore()
	defer stop()
	guard := newGuard(store)
	if _, err := guard.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}); err != nil {
		log.Fatal(err)
	}
	stats := store.Stats()
	var swaps redisstore.Histogram = stats.Swaps
	total := int64(0)
	for i, count := range swaps.Counts { // the last has no bound
		if total += count; i < len(swaps.Bounds) && count > 0 {
			log.Printf("%d swaps took up to %v s", count, swaps.Bounds[i])
		}
	}
	fmt.Println(total, swaps.Sum > 0, stats.Failed)
	log.Println(stats.Repeated, stats.Exchanges.Sum, stats.ExchangeRows.Sum) // Run exchanges
	// Output:
	// 1 true 0
}

// An operator's command prints what is wrong, and the fix.
func ExampleStore_Diagnose() {
	store, stop := openStore("--maxmemory-policy", "allkeys-lru")
	defer stop()
	var worst redisstore.Level = redisstore.OK
	for _, f := range store.Diagnose(context.Background()) {
		worst = max(worst, f.Level)
		if f.Level > redisstore.Warning {
			fmt.Println(f.Name+":", f.Text)
			fmt.Println("fix:", f.Fix)
		}
	}
	fmt.Println(worst == redisstore.Problem)
	// Output:
	// eviction: the server evicts rows when its memory is full, and users get new allowances: maxmemory-policy is allkeys-lru
	// fix: set maxmemory-policy to noeviction or volatile-ttl
	// true
}

// Nodes share a document, such as a policy that moderators edit. Nobody overwrites a change that
// they haven't seen.
func ExampleStore_Document() {
	store, stop := openStore()
	defer stop()
	ctx := context.Background()
	data, revision, err := store.Document(ctx, "lobby")
	fmt.Printf("%q %d %v\n", data, revision, err)
	fmt.Println(store.SetDocument(ctx, "lobby", []byte(`{"burst":5}`), revision))
	err = store.SetDocument(ctx, "lobby", []byte(`{"burst":2}`), revision) // written by somebody who read revision 0 too
	fmt.Println(errors.Is(err, redisstore.ErrConflict))
	err = store.ReadDocuments(ctx, []string{"lobby", "music"}, func(name string, data []byte, revision int64) {
		fmt.Printf("%s: %q %d\n", name, data, revision)
	})
	fmt.Println(err)
	select {
	case name := <-store.Changes():
		fmt.Println("another node has changed", name)
	default:
		fmt.Println("no other node has changed a document")
	}
	// Output:
	// "" 0 <nil>
	// <nil>
	// true
	// lobby: "{\"burst\":5}" 1
	// music: "" 0
	// <nil>
	// no other node has changed a document
}

// Of two bots in a channel, one acts.
func ExampleStore_Lead() {
	store, stop := openStore()
	defer stop()
	var lead *redisstore.Leadership = store.Lead("lobby")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lead.Run(ctx) }()
	waitUntil(func() bool { _, _, ok := lead.Leading(); return ok })

	_, since := lead.JudgedUntil() // earlier messages may have been handled by another leader
	message := chatguard.Message{ID: "1", SentAt: time.Now()}
	fence, until, ok := lead.Leading()
	if ok && time.Now().Before(until) && message.SentAt.After(since) { // look again directly before each action
		_, problem := lead.Problem() // why other nodes may not know that this one leads
		fmt.Println("acting, as leader number", fence, problem == "", lead.Leader() != "")
		lead.SetJudgedUntil(message.SentAt)
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// acting, as leader number 1 true true
	// <nil>
}

// A Guard calls these methods itself. They are useful for a tool that reads rows.
func ExampleStore_Swap() {
	store, stop := openStore()
	defer stop()
	guard := newGuard(store)
	defer runUntilListed(store, guard)()
	_, numbered := store.Number()
	now, skew := store.Clock()
	fmt.Println(numbered, time.Since(now).Abs() < time.Minute, skew < time.Second, store.Timeout() == patience)

	ctx := context.Background()
	key := chatguard.Key{ChannelID: "lobby", UserID: "anna"}
	if err := guard.SetUserOverride(ctx, key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}); err != nil {
		log.Fatal(err)
	}
	users, err := store.Overrides(ctx, "lobby")
	fmt.Println(users, err)

	empty := shared.Swap{Rows: []shared.Row{{ChannelID: "lobby", UserID: "anna"}}} // is there no row?
	store.Swap(ctx, []*shared.Swap{&empty})
	fmt.Println(empty.Done, empty.Err, len(empty.Rows[0].Now) > 0)
	// Output:
	// true true true true
	// [anna] <nil>
	// false <nil> true
}

// A user asks what is stored about them, and wants to be forgotten.
func ExampleStore_Delete() {
	ctx := context.Background()
	store, stop := openStore()
	defer stop()
	guard := newGuard(store)
	for _, user := range []string{"anna", "bob"} {
		if _, err := guard.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: user}}); err != nil {
			log.Fatal(err)
		}
	}
	for row, err := range store.Rows(ctx, "anna") { // an empty ID means everybody
		fmt.Println(row.ChannelID, row.UserID, len(row.Now) > 0, err)
	}
	fmt.Println(store.Delete(ctx, "anna"))
	fmt.Println(store.Delete(ctx, "anna"))
	// Output:
	// lobby anna true <nil>
	// 1 <nil>
	// 0 <nil>
}
