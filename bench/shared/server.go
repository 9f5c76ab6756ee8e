package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// serverKind is how a server compares and swaps.
type serverKind string

const (
	byScript serverKind = "script"
	byIFEQ   serverKind = "IFEQ"
)

// servers are the servers to measure on. There may be none with IFEQ.
type servers map[serverKind]*server

// server is a Redis or Valkey server that this program has started.
type server struct {
	name    string // with its version
	address string
	dir     string
	cmd     *exec.Cmd
	client  *redis.Client
}

// startServers starts redis-server, and a server that has IFEQ if there is one.
func startServers(ctx context.Context) (servers, error) {
	started := servers{}
	for _, program := range []string{"redis-server", valkeyProgram()} {
		path, err := exec.LookPath(program)
		if err != nil && program != "redis-server" {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("%w: run scripts/prepare.sh", err)
		}
		s, err := startServer(ctx, path)
		if err != nil {
			started.stop()
			return nil, err
		}
		kind := s.kind(ctx)
		if started[kind] != nil {
			s.stop()
			continue
		}
		started[kind] = s
	}
	if started[byIFEQ] == nil {
		log.Print("no server with SET IFEQ: install valkey-server 8.1, or set CHATGUARD_VALKEY_SERVER")
	}
	return started, nil
}

func valkeyProgram() string {
	if path := os.Getenv("CHATGUARD_VALKEY_SERVER"); path != "" {
		return path
	}
	return "valkey-server"
}

func (all servers) stop() {
	for _, s := range all {
		s.stop()
	}
}

// startServer starts a server with an empty database.
func startServer(ctx context.Context, path string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	dir, err := os.MkdirTemp("", "bench-shared")
	if err != nil {
		return nil, err
	}
	s := &server{address: address, dir: dir, client: redis.NewClient(&redis.Options{Addr: address})}
	s.cmd = exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for begin := time.Now(); s.client.Ping(ctx).Err() != nil; {
		if time.Since(begin) > 10*time.Second || ctx.Err() != nil {
			s.stop()
			return nil, fmt.Errorf("%s doesn't answer on %s", path, address)
		}
	}
	s.name = s.describe(ctx)
	return s, nil
}

func (s *server) stop() {
	_ = s.client.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // the error says that it was killed
	_ = os.RemoveAll(s.dir)
}

// kind tries whether the server has IFEQ.
func (s *server) kind(ctx context.Context) serverKind {
	err := s.client.Do(ctx, "SET", "probe", "1", "IFEQ", "0", "GET").Err()
	if err == nil || errors.Is(err, redis.Nil) {
		return byIFEQ
	}
	return byScript
}

// describe returns the server's name and version.
func (s *server) describe(ctx context.Context) string {
	if version, err := s.info(ctx, "valkey_version"); err == nil {
		return "Valkey " + version
	}
	version, _ := s.info(ctx, "redis_version")
	return "Redis " + version
}

// empty deletes all keys, and waits until their memory is free. Otherwise, a server that frees it
// in the background would have more free memory after a run than before.
func (s *server) empty(ctx context.Context) error { return s.client.Do(ctx, "FLUSHALL", "SYNC").Err() }

// processorTime returns the processor time that the server has used so far.
func (s *server) processorTime(ctx context.Context) (used time.Duration, err error) {
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		seconds, err := s.number(ctx, field)
		if err != nil {
			return 0, err
		}
		used += time.Duration(seconds * float64(time.Second))
	}
	return used, nil
}

// number returns a field of INFO that is a number.
func (s *server) number(ctx context.Context, field string) (float64, error) {
	text, err := s.info(ctx, field)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// info returns a field of INFO.
func (s *server) info(ctx context.Context, field string) (string, error) {
	text, err := s.client.Info(ctx).Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("INFO has no field %s", field)
}
