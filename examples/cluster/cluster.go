package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/chatguard/chatguard/shared"
)

//go:embed static
var static embed.FS

// cluster is the nodes, and the page that controls them.
type cluster struct {
	settings
	redis     string
	addresses []string

	changing sync.Mutex // at most one change at a time; a change may take seconds
	mu       sync.Mutex // guards what follows
	share    string
	nodes    []*node // nil where a node is stopped
}

// shares lists how the nodes can share limits.
var shares = []string{"off", "exact", "synchronised"}

// startCluster starts a node on each address. An address may have the port 0.
func startCluster(ctx context.Context, s settings, redis string, addresses []string) (*cluster, error) {
	c := &cluster{settings: s, redis: redis, addresses: addresses, nodes: make([]*node, len(addresses))}
	rand.Read(c.textKey[:])
	if err := c.setShare(ctx, s.share); err != nil {
		return nil, errors.Join(err, c.stopAll())
	}
	return c, nil
}

// setShare restarts all nodes, so that they share limits in another way.
func (c *cluster) setShare(ctx context.Context, share string) error {
	if !slices.Contains(shares, share) {
		return fmt.Errorf("%q is no way of sharing (want off, exact or synchronised)", share)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	for i := range c.addresses {
		if err := c.stopNode(i); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.share = share
	c.mu.Unlock()
	for i := range c.addresses {
		if err := c.startNode(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// start starts a node, unless it is running.
func (c *cluster) start(ctx context.Context, i int) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.startNode(ctx, i)
}

// stop stops nodes.
func (c *cluster) stop(nodes ...int) (err error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	for _, i := range nodes {
		err = errors.Join(err, c.stopNode(i))
	}
	return err
}

// stopAll stops all nodes.
func (c *cluster) stopAll() error {
	all := make([]int, len(c.addresses))
	for i := range all {
		all[i] = i
	}
	return c.stop(all...)
}

// startNode is start while changing is locked.
func (c *cluster) startNode(ctx context.Context, i int) error {
	running, share := c.node(i)
	if running != nil {
		return nil
	}
	redis, mode := c.redis, shared.Exact
	switch share {
	case "off":
		redis = ""
	case "synchronised":
		mode = shared.Synchronised
	}
	n, err := startNode(ctx, nodeName(i), c.addresses[i], redis, mode, c.settings)
	if err != nil {
		return err
	}
	c.setNode(i, n)
	return nil
}

// stopNode stops a node, unless it is stopped, while changing is locked.
func (c *cluster) stopNode(i int) error {
	n, _ := c.node(i)
	if n == nil {
		return nil
	}
	c.setNode(i, nil)
	return n.stop()
}

// node returns a node, or nil if it is stopped, and how the nodes share limits.
func (c *cluster) node(i int) (n *node, share string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i], c.share
}

// setNode records that a node runs on its address, or that none does.
func (c *cluster) setNode(i int, n *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[i] = n; n != nil && c.addresses[i] != n.address {
		c.addresses[i] = n.address // at the first start, before anybody else reads it
	}
}

// state is what the page shows.
type state struct {
	Share string    `json:"share"`
	Nodes []figures `json:"nodes"`
}

func (c *cluster) state() state {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := state{Share: c.share}
	for i, n := range c.nodes {
		if n == nil {
			s.Nodes = append(s.Nodes, figures{Name: nodeName(i), Address: c.addresses[i]})
		} else {
			s.Nodes = append(s.Nodes, n.figures())
		}
	}
	return s
}

// handler serves the page and its controls.
func (c *cluster) handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // can't happen: the page is embedded
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		http.FileServerFS(files).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { c.writeState(w, nil) })
	mux.HandleFunc("PUT /share/{share}", func(w http.ResponseWriter, r *http.Request) {
		c.writeState(w, c.setShare(context.WithoutCancel(r.Context()), r.PathValue("share")))
	})
	mux.HandleFunc("PUT /nodes/{node}/{command}", func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(r.PathValue("node"))
		if err != nil || i < 1 || i > len(c.addresses) {
			http.Error(w, "There is no such node.", http.StatusNotFound)
			return
		}
		switch r.PathValue("command") {
		case "start":
			err = c.start(context.WithoutCancel(r.Context()), i-1)
		case "stop":
			err = c.stop(i - 1)
		default:
			err = errors.New("want start or stop")
		}
		c.writeState(w, err)
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// writeState answers with the state, or with the error of a change.
func (c *cluster) writeState(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(c.state()) // a page that has left needs no answer
}
