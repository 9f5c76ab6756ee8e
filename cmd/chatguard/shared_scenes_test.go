//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
	"github.com/chatguard/chatguard/internal/limittest"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/turntest"
)

// Nodes that servers ask over HTTP allow exactly what one would, and nothing is degraded, whatever
// happens to scripts, connections, and a server that answers in time. Nothing is refilled, so the
// moment of a message doesn't matter.
func TestShared_Scenes(t *testing.T) {
	t.Parallel()
	type scene struct {
		name    string
		nodes   int
		disturb func(t *testing.T, server *redistest.Server)
	}
	command := func(line string) func(*testing.T, *redistest.Server) {
		return func(_ *testing.T, server *redistest.Server) {
			c, err := net.Dial("tcp", server.Addr())
			if err != nil {
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "%s\r\n", line)
			c.Read(make([]byte, 1)) // the command may end the connection
		}
	}
	var all []scene
	for _, nodes := range []int{1, 2, 3, 5} {
		all = append(all,
			scene{"nothing", nodes, func(*testing.T, *redistest.Server) {}},
			scene{"SCRIPT FLUSH", nodes, command("SCRIPT FLUSH")},
			scene{"CLIENT KILL", nodes, command("CLIENT KILL TYPE normal")},
			scene{"CLIENT PAUSE", nodes, command("CLIENT PAUSE 20")},
			scene{"SIGSTOP", nodes, func(_ *testing.T, server *redistest.Server) {
				server.Signal(syscall.SIGSTOP)
				defer server.Signal(syscall.SIGCONT)
				<-time.After(20 * time.Millisecond) // it doesn't matter what happens meanwhile
			}})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // a sample is mixed
	for _, s := range turntest.Sample(t, 6, all) {
		t.Run(fmt.Sprintf("%s, %d nodes", s.name, s.nodes), func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			var tables []string
			for i := range s.nodes {
				tables = append(tables, sharedTable(server, fmt.Sprint("node-", i)))
			}
			nodes := startRooms(t, roomsWith(3, "1000h", "[[limit]]\nname = \"room\"\nper = \"channel\"\nalgorithm = \"token-bucket\"\nburst = 40\nrefill = \"1000h\"\n"), tables, nil)
			room := chatguard.TokenBucketLimit("room", 40, 1000*time.Hour)
			room.Per = chatguard.PerChannel
			model, at := limittest.New(chatguard.TokenBucketLimit("burst", 3, 1000*time.Hour), room), time.Now()

			const users, each = 30, 10
			var allowed [users]atomic.Int64
			var asked, degraded atomic.Int64
			var disturbing, senders sync.WaitGroup
			messages := rand.Perm(users * each)
			for i, n := range nodes {
				clients := []*checkclient.Client{n.client(), n.client()}
				for k, client := range clients {
					senders.Go(func() {
						for m := i*len(clients) + k; m < len(messages); m += len(clients) * len(nodes) {
							user := messages[m] % users
							v, err := client.Check(t.Context(), chatguard.Message{ChannelID: "hall", User: chatguard.User{ID: strconv.Itoa(user)}})
							if err != nil {
								t.Error(err)
							}
							if v.Degraded {
								degraded.Add(1)
							}
							if v.Allowed {
								allowed[user].Add(1)
							}
							if asked.Add(1)%8 == 0 {
								disturbing.Go(func() { s.disturb(t, server) })
							}
						}
					})
				}
			}
			senders.Wait()
			disturbing.Wait()
			tooMany, tooFew := 0, 0
			for user := range allowed {
				for range allowed[user].Load() {
					if !model.Check(at, "hall", strconv.Itoa(user)) {
						tooMany++
					}
				}
			}
			for user := range allowed {
				if model.Fits(at, "hall", strconv.Itoa(user)) {
					tooFew++
				}
			}
			t.Logf("of %d messages, %d too many, %d too few, %d degraded", users*each, tooMany, tooFew, degraded.Load())
			if tooMany+tooFew > 0 || degraded.Load() > 0 {
				t.Error("want none")
			}
			stopAll(t, nodes)
		})
	}
}
