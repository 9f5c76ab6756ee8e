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
func ExampleNode() {
	err := showNodes("redis://127.0.0.1:1", func(board http.Handler) {
		server := httptest.NewServer(http.StripPrefix("/moderate", board))
		defer server.Close()
		fmt.Println(visit(server.URL+"/moderate/api/v1/nodes", "0b8c1f"))
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 200 application/json
}

// showNodes serves the dashboard of a node that shares limits over the server at url.
func showNodes(url string, serve func(http.Handler)) error {
	ctx := context.Background()
	logger := slog.New(slog.DiscardHandler)
	var guard *chatguard.Guard
	describe := func(n *redisstore.Node) { // called by store.Run, so that other nodes see what this one has done
		did := guard.Shared().Counts()
		n.Figures = map[string]int64{"from_memory": did.FromMemory, "offline": did.Offline, "pending": int64(did.Pending)}
	}
	// If Redis doesn't answer, the node starts without it.
	store, err := redisstore.Open(ctx, url, &redisstore.Options{Node: "chat-1", Describe: describe, Logger: logger})
	if err != nil {
		return err
	}
	guard, err = chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	board, err := dashboard.New(guard, &dashboard.Options{Authorize: moderator, SharedHealth: store.Health, Nodes: nodesOf(store), Logger: logger})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	background, stop := context.WithCancel(ctx)
	shown, shared := make(chan error, 1), make(chan error, 1)
	go func() { shown <- board.Run(background) }()
	go func() { shared <- store.Run(background, guard) }()
	serve(board)
	stop()
	return errors.Join(<-shown, ignoreAway(<-shared), store.Close())
}

// nodesOf returns the nodes of a redisstore.Store for the dashboard.
func nodesOf(store *redisstore.Store) func(context.Context) ([]dashboard.Node, error) {
	return func(ctx context.Context) (list []dashboard.Node, err error) {
		nodes, err := store.Nodes(ctx)
		for _, n := range nodes {
			list = append(list, dashboard.Node{
				Name: n.Name, Version: n.Version, Address: n.Address, Mode: n.Mode, Started: n.Started, Self: n.Self,
				Offset: n.Offset, Error: n.Error,
				MessagesPerSecond: float64(n.Figures["messages_per_second"]), // if the server counts them
				FromMemory:        n.Figures["from_memory"], Offline: n.Figures["offline"], Pending: int(n.Figures["pending"]),
			})
		}
		return list, err
	}
}

// ignoreAway drops the error of a last exchange that found no server.
func ignoreAway(err error) error {
	if errors.Is(err, shared.ErrAway) {
		return nil
	}
	return err
}
