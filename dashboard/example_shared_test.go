package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// The moderators of a chat server with several nodes see the nodes, and whether Redis answers.
// Here nothing listens on the port, so the node starts without Redis, and the page says so.
func ExampleOptions_nodes() {
	err := showNodes("redis://127.0.0.1:1", func(ctx context.Context, board http.Handler) {
		server := httptest.NewServer(http.StripPrefix("/moderate", board))
		defer server.Close()
		fmt.Println(visit(ctx, server.URL+"/moderate/api/v1/nodes", "0b8c1f"))
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 200 application/json
}

// showNodes serves the dashboard of a node that shares limits over the server at url.
func showNodes(url string, serve func(context.Context, http.Handler)) error {
	ctx := context.Background()
	logger := slog.New(slog.DiscardHandler)
	// If Redis doesn't answer, the node starts without it.
	store, err := redisstore.Open(ctx, url, &redisstore.Options{Node: "chat-1", Logger: logger})
	if err != nil {
		return err
	}
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	board, err := dashboard.New(guard, &dashboard.Options{Authorize: moderator, SharedHealth: store.Health, Nodes: store.Nodes, Logger: logger})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	background, stop := context.WithCancel(ctx)
	shown, shared := make(chan error, 1), make(chan error, 1)
	go func() {
		defer stop()
		shown <- board.Run(background)
	}()
	go func() { shared <- store.Run(background, guard) }()
	serve(background, board)
	stop()
	return errors.Join(<-shown, ignoreAway(<-shared), store.Close())
}

// ignoreAway drops the error of a last exchange that found no server.
func ignoreAway(err error) error {
	if errors.Is(err, shared.ErrAway) {
		return nil
	}
	return err
}
