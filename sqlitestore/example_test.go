package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

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
	// allowed, 2 left
	// allowed, 1 left
	// allowed, 0 left
	// throttled by burst
}

// serve is one process of the chat server, from start to end. Two messages arrive in between.
func serve(ctx context.Context, path string) (err error) {
	policy := chatguard.DefaultPolicy()
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, path, &sqlitestore.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := store.Restore(ctx, guard); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- store.Run(running) }()
	for range 2 {
		answer(ctx, guard)
	}
	stop() // no messages are judged any more
	return <-done
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
