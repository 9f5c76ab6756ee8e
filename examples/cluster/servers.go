package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// startRedis starts a redis-server on a free port of the loopback interface. It keeps everything in
// memory. The returned function ends it.
func startRedis(ctx context.Context) (url string, stop func() error, err error) {
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	stop, err = startServer(ctx, address, exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", os.TempDir()))
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w: install redis-server, or name a server by -redis", err)
	}
	return "redis://" + address, stop, err
}

// startCaddy starts Caddy with the Caddyfile in this folder. The returned function ends it.
func startCaddy(ctx context.Context, listen, page string, nodes []string) (stop func() error, err error) {
	folder, err := os.MkdirTemp("", "caddy")
	if err != nil {
		return nil, err
	}
	caddy := exec.Command("caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile")
	caddy.Env = append(os.Environ(), "LISTEN="+listen, "PAGE="+page, "NODES="+strings.Join(nodes, " "), "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder)
	end, err := startServer(ctx, listen, caddy)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return func() error { return errors.Join(end(), os.RemoveAll(folder)) }, nil
}

// freeAddress returns an address of the loopback interface that nobody uses. The system gives ports
// from this range neither to connections nor to listeners without a port.
func freeAddress() (address string, err error) {
	for range 100 {
		var listener net.Listener
		address = fmt.Sprint("127.0.0.1:", 11_000+rand.IntN(10_000))
		if listener, err = net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", err
}

// startServer starts a program and waits until it accepts connections. The returned function ends
// it.
func startServer(ctx context.Context, address string, command *exec.Cmd) (stop func() error, err error) {
	detach(command)
	log := &strings.Builder{}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return func() error { return stopServer(command, ended) }, conn.Close()
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%s: %w\n%s", command.Path, err, log)
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s doesn't accept connections on %s: %w", command.Path, address, err), stopServer(command, ended))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stopServer asks a program to end.
func stopServer(command *exec.Cmd, ended <-chan error) error {
	if err := interrupt(command); err != nil {
		return err
	}
	select {
	case <-ended: // some programs call a signal an error
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s doesn't end", command.Path), command.Process.Kill())
	}
}
