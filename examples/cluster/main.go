// Command cluster runs several chat servers that share limits over Redis, a load balancer in front
// of them, and a page that shows which node judges each message. node.go is such a chat server; the
// other files are the demonstration around it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/chatguard/chatguard"
)

// settings say what to start.
type settings struct {
	policy  chatguard.Policy
	timeout time.Duration // redisstore.Options.Timeout
	textKey [16]byte      // chatguard.Options.TextKey; give your nodes the same secret

	listen, redis, share string
	nodes                int
	caddy                bool
}

func main() {
	s := settings{policy: chatguard.DefaultPolicy()}
	flag.IntVar(&s.nodes, "nodes", 3, "number of chat servers")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:8090", "address of the page and the load balancer")
	flag.StringVar(&s.redis, "redis", "", "URL of a Redis or Valkey server; empty: start redis-server")
	flag.StringVar(&s.share, "share", "exact", "how the nodes share limits at first: off, exact or synchronised")
	flag.BoolVar(&s.caddy, "caddy", false, "balance with Caddy, which must be installed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		log.Fatal("cluster: ", err)
	}
}

// run serves until the context ends.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	if s.nodes < 1 {
		return errors.New("-nodes: want at least 1")
	}
	if s.redis == "" {
		url, stop, err := startRedis(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		s.redis = url
	}
	addresses := make([]string, s.nodes)
	for i := range addresses {
		addresses[i] = "127.0.0.1:0"
	}
	c, err := startCluster(ctx, s, s.redis, addresses)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stopAll()) }()
	fmt.Fprintf(out, "Redis is %s. The nodes are %v.\n", s.redis, c.addresses)
	if s.caddy {
		return serveBehindCaddy(ctx, s.listen, c, out)
	}
	handler, closeIdle := newBalancer(c.handler(), c.addresses)
	defer closeIdle()
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s/\n", listener.Addr())
	return serve(ctx, listener, handler)
}

// serveBehindCaddy serves the page on a free port, and Caddy in front of it and of the nodes.
func serveBehindCaddy(ctx context.Context, listen string, c *cluster, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stop, err := startCaddy(ctx, listen, listener.Addr().String(), c.addresses)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(out, "http://%s/\n", listen)
	return errors.Join(serve(ctx, listener, c.handler()), stop())
}

// serve serves until the context ends, and then waits for all requests.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: patience}
	ctx, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener); end() }()
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
