package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// A chat server runs the dashboard and its store together. The dashboard stops first, so that the
// store's last write contains everything.
func ExampleDashboard_Run() {
	folder, err := os.MkdirTemp("", "chat")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := serve(filepath.Join(folder, "chat.db"), &http.Server{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// the store runs
	// the store has written everything
}

// loudStore is a store that tells what it does.
type loudStore struct{ *sqlitestore.Store }

func (s loudStore) Run(ctx context.Context) error {
	fmt.Println("the store runs")
	defer fmt.Println("the store has written everything")
	return s.Store.Run(ctx)
}

// serve sets a server up and shuts it down.
func serve(path string, server *http.Server) error {
	ctx := context.Background()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, path, guard, &sqlitestore.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	board, err := dashboard.New(guard, &dashboard.Options{Authorize: moderator, Store: loudStore{store}})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	server.Handler = http.StripPrefix("/moderate", board)
	background, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- board.Run(background) }()

	// serve until a signal arrives, and then:
	err = server.Shutdown(ctx)
	stop() // no more messages are judged
	return errors.Join(err, <-stopped, store.Close())
}
