package redisstore_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/redisstore"
)

// patience is a timeout that a busy machine keeps. The default suits a program.
const patience = 10 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// startServer starts a redis-server for an example.
func startServer(args ...string) (url string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		log.Fatal(err)
	}
	server := exec.Command("redis-server", append(args, "--port", fmt.Sprint(address.Port), "--bind", "127.0.0.1", "--save", "", "--dir", os.TempDir())...)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		log.Fatalf("%v: run scripts/prepare.sh", err)
	}
	waitUntil(func() bool {
		conn, err := net.Dial("tcp", address.String())
		return err == nil && conn.Close() == nil
	})
	return "redis://" + address.String(), func() {
		server.Process.Kill()
		server.Wait() // it was killed
	}
}

// runUntilListed starts Run, and waits until the other nodes see this one.
func runUntilListed(store *redisstore.Store, guard redisstore.Guard) (stop func()) {
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
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			log.Fatal("an example waits in vain")
		}
	}
}
