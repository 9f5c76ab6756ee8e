package redisstore_test

import (
	"context"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/redisstore"
)

// patience is a timeout that a busy machine keeps. The default suits a program.
const patience = 10 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// startServer starts a redis-server for an example.
func startServer(args ...string) (url string, stop func()) {
	server, err := redistest.StartForExample(os.TempDir(), args...)
	if err != nil {
		log.Fatal(err)
	}
	return server.URL(), server.Kill
}

// openStore starts a redis-server, and opens a store there.
func openStore(args ...string) (store *redisstore.Store, stop func()) {
	url, stopServer := startServer(args...)
	store, err := redisstore.Open(context.Background(), url, &redisstore.Options{Timeout: patience, Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	return store, func() { store.Close(); stopServer() }
}

// newGuard returns a Guard that shares its limits over a store.
func newGuard(store *redisstore.Store) *chatguard.Guard {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// runUntilListed starts Run, and waits until the other nodes see this one.
func runUntilListed(store *redisstore.Store, guard *chatguard.Guard) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx, guard) }()
	waitUntil(func() bool {
		_, numbered := store.Number()
		return numbered && store.Health().Nodes == 1
	})
	return func() {
		cancel()
		if err := <-ended; err != nil {
			log.Print(err)
		}
	}
}

func waitUntil(is func() bool) {
	if !waittest.Poll(context.Background(), 5*time.Millisecond, is) {
		log.Fatal("an example waits in vain")
	}
}
