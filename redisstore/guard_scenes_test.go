package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limittest"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/shared"
)

// place is one server, or several together.
type place struct {
	url     string
	servers []*redisServer
	watcher *redisServer // the Sentinel
	moved   int          // slots of a Cluster
}

// moveSlot moves the slot of the next user's row to another shard.
func (p *place) moveSlot() {
	r := p.servers[0]
	slot := r.integer("CLUSTER", "KEYSLOT", fmt.Sprintf("{u:%d}", p.moved%sceneUsers))
	at := shardOf(slot) + p.moved/sceneUsers
	moveSlot(r.t, p.servers[at%3], p.servers[(at+1)%3], slot)
	p.moved++
}

// sceneUsers is how many users write in a scene.
const sceneUsers = 20

// all sends a command to all servers. It may fail, for example because the connection is killed.
func (p *place) all(command ...string) {
	for _, r := range p.servers {
		client, err := r.connect()
		if err != nil {
			continue // it changes its role
		}
		client.Do(context.Background(), client.B().Arbitrary(command...).Build())
		client.Close()
	}
}

// places are where scenes are played. "IFEQ" is a Valkey, or a stand-in if there is none.
var places = map[string]func(t *testing.T) *place{
	"Redis": func(t *testing.T) *place {
		r := startRedis(t, "--enable-debug-command", "local")
		return &place{url: r.URL(), servers: []*redisServer{r}}
	},
	"IFEQ": func(t *testing.T) *place {
		if all := binaries(t); len(all) > 1 {
			r := startServer(t, all[1], "--save", "", "--appendonly", "no")
			return &place{url: r.URL(), servers: []*redisServer{r}}
		}
		r := startRedis(t)
		return &place{url: "redis://" + withIfEqual(t, r), servers: []*redisServer{r}}
	},
	"Cluster": func(t *testing.T) *place {
		servers := startCluster(t, 3)
		return &place{url: "redis+cluster://" + servers[0].Addr() + "," + servers[1].Addr(), servers: servers}
	},
	"Sentinel": func(t *testing.T) *place {
		first, second := startPair(t)
		watcher := startSentinel(t, first)
		return &place{url: "redis+sentinel://" + watcher.Addr() + "/main", servers: []*redisServer{first, second}, watcher: watcher}
	},
}

// disturbances are what may happen while messages are judged without any effect. Each happens again
// and again, after so many swaps.
var disturbances = []struct {
	name  string
	swaps int64
	only  string // place
	do    func(p *place)
}{
	{"nothing", 1000, "", func(*place) {}},
	{"SCRIPT FLUSH", 20, "", func(p *place) { p.all("SCRIPT", "FLUSH") }},
	{"CLIENT KILL", 50, "", func(p *place) { p.all("CLIENT", "KILL", "TYPE", "normal") }},
	{"CLIENT PAUSE", 100, "", func(p *place) { p.all("CLIENT", "PAUSE", "20") }},
	{"DEBUG RELOAD", 100, "Redis", func(p *place) { p.all("DEBUG", "RELOAD") }},
	{"SIGSTOP", 100, "", func(p *place) {
		for _, r := range p.servers {
			r.Signal(syscall.SIGSTOP)
			defer r.Signal(syscall.SIGCONT)
		}
		<-time.After(20 * time.Millisecond) // it doesn't matter what happens meanwhile
	}},
	{"slots move", 20, "Cluster", func(p *place) { p.moveSlot() }},
}

// scenePolicies are limits that scenes are played with.
var scenePolicies = map[string][]chatguard.Limit{
	"bucket": {chatguard.TokenBucketLimit("bucket", 3, 4*time.Second)},
	"windows": {
		chatguard.FixedWindowLimit("short", 9, 10*time.Second), chatguard.FixedWindowLimit("minute", 60, time.Minute), chatguard.FixedWindowLimit("hour", 900, time.Hour),
		{Name: "day", Algorithm: chatguard.DailyWindow, Messages: 9000, Timezone: "UTC"},
	},
	"log and cascade": {chatguard.SlidingLogLimit("log", 9, 15*time.Second), chatguard.CascadeLimit("cascade", 5, 2*time.Second, 3, 10*time.Second)},
	"scopes": {
		chatguard.UserWindowLimit("own", 8, 10*time.Second),
		{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.LeakyBucket, Queue: 9, Every: 2 * time.Second},
		{Name: "room", Per: chatguard.PerChannel, Algorithm: chatguard.SlidingWindow, Messages: 60, Every: 20 * time.Second},
		{Name: "all", Per: chatguard.PerEverywhere, Algorithm: chatguard.FixedWindow, Messages: 80, Every: 30 * time.Second},
	},
}

// judge compares a round with a model of one node, in which the messages of a round come at the
// same time. A user who gets more than fits has too many. A user who is refused although another
// message fits has too few, whoever was first.
func judge(model *limittest.Model, got round, each int, at time.Time) (tooMany, tooFew int) {
	for u, allowed := range got.allowed {
		for range allowed {
			if !model.Fits(at, "lobby", strconv.Itoa(u)) {
				tooMany++
			}
			model.Spend(at, "lobby", strconv.Itoa(u))
		}
	}
	for u, allowed := range got.allowed {
		if allowed < each && model.Fits(at, "lobby", strconv.Itoa(u)) {
			tooFew++
		}
	}
	return tooMany, tooFew
}

// Several nodes allow exactly what one would, and nothing is degraded, whatever happens to scripts,
// connections, and servers that answer in time.
func TestGuards_Scenes(t *testing.T) {
	t.Parallel()
	type scene struct {
		disturbance   int
		where, policy string
		nodes         int
	}
	var all []scene
	for i, d := range disturbances {
		for _, where := range []string{"Redis", "IFEQ", "Cluster", "Sentinel"} {
			for _, policy := range []string{"bucket", "windows", "log and cascade", "scopes"} {
				for _, nodes := range []int{1, 2, 3, 5} {
					if d.only == "" || d.only == where {
						all = append(all, scene{i, where, policy, nodes})
					}
				}
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // a sample is mixed
	for _, s := range turntest.Sample(t, 20, all) {
		d := disturbances[s.disturbance]
		t.Run(fmt.Sprintf("%s, %s, %s, %d nodes", d.name, s.where, s.policy, s.nodes), func(t *testing.T) {
			t.Parallel()
			p := places[s.where](t)
			var opts Options
			if s.where == "Cluster" && s.policy == "scopes" {
				opts.Placement = PlaceTogether
			}
			if s.where == "Sentinel" {
				opts.Replicas = 1
			}
			limits := scenePolicies[s.policy]
			nodes := startNodes(t, p.url, s.nodes, enforced(limits...), opts, shared.Exact)
			stop := disturb(nodes, d.swaps, func() { d.do(p) })
			model, at := limittest.New(limits...), time.Now()
			var tooMany, tooFew, degraded int
			const users, each, rounds = sceneUsers, 30, 6
			for range rounds {
				got := hammer(t, nodes, users, each, at)
				more, fewer := judge(model, got, each, at)
				tooMany, tooFew, degraded = tooMany+more, tooFew+fewer, degraded+total(got.degraded)
				at = at.Add(5 * time.Second)
			}
			times := stop()
			t.Logf("of %d messages, %d too many, %d too few, %d degraded; disturbed %d times", rounds*users*each, tooMany, tooFew, degraded, times)
			if tooMany+tooFew+degraded > 0 {
				t.Error("want none")
			}
			if times == 0 && d.name != "nothing" {
				t.Error("nothing has disturbed the nodes")
			}
		})
	}
}
