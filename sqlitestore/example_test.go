package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// A chat server restarts, and users keep the usage they had.
func Example() {
	folder, err := os.MkdirTemp("", "chat")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	for range 2 {
		if err := serve(context.Background(), filepath.Join(folder, "chat.db")); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// rows restored: 0, unreadable: 0
	// allowed, 2 left
	// allowed, 1 left
	// rows restored: 2, unreadable: 0
	// allowed, 0 left
	// throttled by burst
}

// serve is one process of the chat server, from start to end. Two messages arrive in between.
func serve(ctx context.Context, path string) error {
	policy := chatguard.DefaultPolicy()
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, path, guard, &sqlitestore.Options{
		Logger:        slog.New(slog.DiscardHandler),
		FlushInterval: 5 * time.Second, // a crash loses up to 5 s
		Retention:     7 * 24 * time.Hour,
	})
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- store.Run(background) }()
	restored := store.Restored()
	fmt.Printf("rows restored: %d, unreadable: %d\n", restored.Rows, restored.Unreadable)
	for range 2 {
		answer(ctx, guard)
	}
	stop() // no messages are judged any more
	return errors.Join(<-stopped, store.Close())
}

// answer judges one message.
func answer(ctx context.Context, guard *chatguard.Guard) {
	verdict, err := guard.Check(ctx, chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: "hello"})
	switch {
	case err != nil:
		fmt.Println(err)
	case verdict.Allowed:
		fmt.Printf("allowed, %d left\n", verdict.Remaining)
	default:
		fmt.Println("throttled by", verdict.Limit)
	}
}

// Health tells an operator whether the Store can write.
func ExampleStore_Health() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "chat")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := sqlitestore.Open(context.Background(), filepath.Join(folder, "chat.db"), guard, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	h := store.Health()
	if h.Failing {
		fmt.Println("failing since", h.Since, h.Problem)
	}
	if h.Dropped > 0 {
		fmt.Println("records lost:", h.Dropped)
	}
	fmt.Println("records pending:", h.Waiting)
	fmt.Println("a crash now would lose", h.Lag, "and the last write was at", h.LastFlush)
	// Output:
	// records pending: 0
	// a crash now would lose 0s and the last write was at 0001-01-01 00:00:00 +0000 UTC
}
