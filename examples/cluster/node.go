package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

const (
	room      = "lobby"
	namespace = "chatguard-example" // of the keys in Redis
	mostText  = 4 << 10             // bytes of a request
	patience  = 10 * time.Second    // time that connections have to send their header, and to end
)

// node is one chat server. Your nodes run on machines of their own, each with one Guard and one
// Store. This file is all that such a server needs of chatguard.
type node struct {
	name, address string
	guard         *chatguard.Guard
	store         *redisstore.Store // nil if the nodes don't share limits
	server        *http.Server
	tasks         sync.WaitGroup
	stopRun       context.CancelFunc
	runErr        error // of Store.Run; read it after the tasks have ended

	allowed, throttled atomic.Int64
}

// startNode starts a chat server on an address. The URL of the Redis server is empty if the nodes
// don't share limits.
func startNode(ctx context.Context, name, address, redis string, mode shared.Mode, s settings) (*node, error) {
	n := &node{name: name}
	opts := &chatguard.Options{SharedMode: mode, TextKey: s.textKey}
	var err error
	if redis != "" {
		n.store, err = redisstore.Open(ctx, redis, &redisstore.Options{Namespace: namespace, Node: name, Timeout: s.timeout})
		if err != nil {
			return nil, err
		}
		opts.Shared = n.store
	}
	if n.guard, err = chatguard.New(s.policy, opts); err != nil {
		return nil, errors.Join(err, n.close())
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	n.address = listener.Addr().String()
	var background context.Context
	background, n.stopRun = context.WithCancel(context.Background())
	if n.store != nil {
		n.tasks.Go(func() { n.runErr = n.store.Run(background, n.guard) })
	}
	n.server = &http.Server{Handler: n.handler(), ReadHeaderTimeout: patience}
	n.tasks.Go(func() {
		if err := n.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("%s: %v", name, err)
		}
	})
	return n, nil
}

func (n *node) close() error {
	if n.store == nil {
		return nil
	}
	return n.store.Close()
}

// stop ends the server in the right order: first the requests, then Run, which writes what the
// other nodes don't know yet, then the connection.
func (n *node) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := n.server.Shutdown(ctx)
	n.stopRun()
	n.tasks.Wait()
	return errors.Join(err, n.runErr, n.close())
}

func (n *node) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", n.send)
	// The node is healthy without Redis too: it then decides by itself.
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	return http.NewCrossOriginProtection().Handler(mux)
}

// answer is what the page learns about a message.
type answer struct {
	Node    string            `json:"node"`
	Verdict chatguard.Verdict `json:"verdict"`
}

// send judges one message. A real chat would now deliver an allowed message to its readers.
func (n *node) send(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostText)
	user := strings.TrimSpace(r.PostFormValue("user")) // use the account of your session cookie here
	verdict, err := n.guard.Check(r.Context(), chatguard.Message{
		ChannelID: room,
		User:      chatguard.User{ID: user},
		Text:      r.PostFormValue("text"),
	})
	if err != nil {
		http.Error(w, "This message can't be judged: "+err.Error(), http.StatusBadRequest)
		return
	}
	httpguard.SetHeaders(w.Header(), n.guard, verdict)
	w.Header().Set("Content-Type", "application/json")
	if verdict.Allowed {
		n.allowed.Add(1)
	} else {
		n.throttled.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
	}
	// A client that has left needs no answer.
	_ = json.NewEncoder(w).Encode(answer{n.name, verdict})
}

// figures are what the page shows of a node.
type figures struct {
	shared.Counts        // all zero without a Store
	Name          string `json:"name"`
	Address       string `json:"address"`
	Up            bool   `json:"up"`
	Allowed       int64  `json:"allowed"`
	Throttled     int64  `json:"throttled"`
	Problem       string `json:"problem,omitempty"` // of the node's connection to Redis
}

func (n *node) figures() figures {
	f := figures{
		Counts: n.guard.Shared().Counts(), Name: n.name, Address: n.address, Up: true,
		Allowed: n.allowed.Load(), Throttled: n.throttled.Load(),
	}
	if n.store != nil {
		f.Problem = n.store.Health().Problem
	}
	return f
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i+1) }
