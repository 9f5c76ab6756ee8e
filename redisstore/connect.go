package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// serverInfo is what is known about the server.
type serverInfo struct {
	name    string // "valkey 8.1.1"
	runID   string // changes when the server restarts; empty if it isn't known
	epoch   string // changes when the data was lost; empty if it couldn't be written yet
	ifEqual bool   // SET has IFEQ
	noInfo  bool   // INFO is refused
	made    int64  // how many connections were made when this was found out, or examineAgain
}

// examineAgain makes the next heartbeat examine the server over the same connection.
const examineAgain = -1

// connect makes a client if there is none, and finds out whether and how the server can be used.
func (s *server) connect(ctx context.Context) error {
	if s.client.Load() == nil {
		s.explain.pastSentinels.Store(false)
		client, err := rueidis.NewClient(s.clientOption())
		if err != nil {
			if client != nil {
				client.Close()
			}
			return err
		}
		s.client.Store(&client)
	}
	ctx, cancel := withTimeout(ctx, s.options.connectTimeout())
	defer cancel()
	err := s.examine(ctx)
	if err == nil {
		err = s.measureOnce(ctx)
	}
	return withWait(ctx, err)
}

func (s *server) clientOption() rueidis.ClientOption {
	o := &s.options
	dialer := net.Dialer{Timeout: o.connectTimeout(), KeepAlive: time.Second}
	return rueidis.ClientOption{
		InitAddress: s.address.hosts, Username: o.Username, Password: o.Password, SelectDB: s.address.database,
		TLSConfig: o.TLS, Dialer: dialer, DialCtxFn: s.dial,
		ClientName: "chatguard:" + o.Node, ClientSetInfo: rueidis.DisableClientSetInfo,
		Sentinel: rueidis.SentinelOption{
			MasterSet: s.address.primary, Username: o.SentinelUsername, Password: o.SentinelPassword,
			TLSConfig: o.TLS, Dialer: dialer, TopologyRefreshInterval: 5 * time.Second,
		},
		ClusterOption:    rueidis.ClusterOption{ShardsRefreshInterval: 5 * time.Second, MaxMovedRedirections: 5},
		ConnWriteTimeout: o.connectTimeout(), RingScaleEachConn: queueScale, BlockingPoolSize: 16,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
		// Retries are ours, and the cache is the Guard's. A call that isn't pipelined would wait
		// for a connection even after its context ends.
		DisableRetry: true, DisableCache: true, AlwaysPipelining: true, PipelineMultiplex: -1,
		ForceSingleClient: s.address.kind == single,
	}
}

// examine finds out the server's version and abilities, and the namespace's format and epoch. If
// the server makes no changes for now, such as one whose memory is full, examine uses what is
// stored, and the next heartbeat examines the server again.
func (s *server) examine(ctx context.Context) error {
	found := &serverInfo{made: s.conns.made.Load()}
	results, err := s.requestAnyway(ctx, func(b builder) command { return b.Arbitrary("HELLO").Build() })
	if err != nil {
		return err
	}
	if found.name, err = s.checkHello(results[0]); err != nil {
		return err
	}
	epoch := rand.Text()
	results, err = s.requestAnyway(ctx,
		func(b builder) command {
			return b.Arbitrary("SET").Keys(s.keys.scratch()).Args("1", "IFEQ", "0", "GET", "PX", "1000").Build()
		},
		func(b builder) command { return swapCommand(b, s.keys.format(), "", s.options.Placement.format()) },
		func(b builder) command { return swapCommand(b, s.keys.epoch(), "", epoch) })
	if err != nil {
		return err
	}
	known := s.known.Load()
	for i, key := range []string{s.keys.scratch(), s.keys.format(), s.keys.epoch()} {
		err := results[i].Error()
		if replyCode(err) == "WRONGTYPE" {
			return s.named(ctx, err, key)
		}
		if noWrites(replyCode(err)) {
			s.changeRefused(err, key)
			found.made = examineAgain
		}
	}
	err = results[0].Error()
	switch code := replyCode(err); {
	case noWrites(code):
		found.ifEqual = known != nil && known.ifEqual
	case code != "" && code != "ERR":
		return err
	default:
		found.ifEqual = err == nil || rueidis.IsRedisNil(err)
	}
	format, err := stored(results[1], s.options.Placement.format())
	if err != nil && !noWrites(replyCode(err)) {
		return err
	}
	if err == nil && format != s.options.Placement.format() {
		return s.otherFormat(format)
	}
	found.epoch, err = stored(results[2], epoch)
	if err != nil && !noWrites(replyCode(err)) {
		return err
	}
	if found.runID, err = s.runID(ctx); err != nil {
		found.made = examineAgain
	}
	if known != nil { // what isn't known now is as before
		found.epoch = cmp.Or(found.epoch, known.epoch)
		if found.epoch == known.epoch {
			found.runID = cmp.Or(found.runID, known.runID)
		}
	}
	found.noInfo = !s.checkEviction(ctx)
	s.known.Store(found)
	s.explain.examined.Store(true)
	s.compared.CompareAndSwap(nil, found)
	return nil
}

// restarted reports whether the server has restarted, lost its data or was replaced since the last
// call. An unknown run ID or epoch says nothing.
func (s *server) restarted() bool {
	before, now := s.compared.Load(), s.known.Load()
	otherRun := now.runID != "" && before.runID != "" && now.runID != before.runID
	return s.compared.CompareAndSwap(before, now) && (otherRun || before.epoch != "" && now.epoch != before.epoch)
}

// otherFormat is the error of a namespace whose data has another format than this node's.
func (s *server) otherFormat(format string) error {
	for p := PlaceByUser; p <= PlaceTogether; p++ {
		if format == p.format() {
			return &refusal{fmt.Sprintf("the rows of namespace %s are placed by %s, and this node has %s: use the same on all nodes, or another %s",
				s.options.Namespace, s.options.nameOf(p.name()), s.options.nameOf(s.options.Placement.name()), s.options.nameOf("Namespace"))}
		}
	}
	version, _, _ := strings.Cut(format, " ")
	if _, err := strconv.ParseUint(version, 10, 16); err != nil {
		return &refusal{s.options.otherProgram()}
	}
	return &refusal{fmt.Sprintf("the namespace %s has data of format %q, and this node has %q: use the same version and %s on all nodes, or another %s",
		s.options.Namespace, printable(format), s.options.Placement.format(), s.options.nameOf("Placement"), s.options.nameOf("Namespace"))}
}

// swapCommand returns a command that replaces the value of a key if it is still was. An empty value
// means that the key doesn't exist.
func swapCommand(b builder, key, was, is string) command {
	return b.Eval().Script(swapScript).Numkeys(1).Key(key).Arg(was, is, "").Build()
}

// stored returns the value that a swapCommand has left; value is the one that it stores.
func stored(result rueidis.RedisResult, value string) (string, error) {
	now, err := result.AsStrSlice()
	switch {
	case rueidis.IsRedisNil(err):
		return value, nil
	case err != nil:
		return "", err
	case len(now) != 1:
		return "", errors.New("the server's reply has another form than the script's")
	}
	return now[0], nil
}

// checkHello returns the server's name and version, and refuses servers that can't be used.
func (s *server) checkHello(result rueidis.RedisResult) (string, error) {
	hello, err := result.AsMap()
	if err != nil {
		if code := replyCode(err); code == "ERR" {
			return "", &refusal{"the server is older than 6.2, and can't be used: install Valkey, or Redis 6.2 or newer"}
		}
		return "", err
	}
	text := func(name string) string {
		value := hello[name]
		line, _ := value.ToString()
		return printable(line)
	}
	var major, minor int
	version := text("version")
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major < 6 || major == 6 && minor < 2 {
		return "", &refusal{fmt.Sprintf("the server has version %s, and can't be used: install Valkey, or Redis 6.2 or newer", version)}
	}
	switch mode := text("mode"); {
	case mode == "cluster" && s.address.kind != cluster:
		return "", &refusal{partOfCluster}
	case mode == "sentinel":
		return "", &refusal{"the server is a Sentinel: write redis+sentinel://host:26379/name with the primary's name"}
	case mode == "cluster" && s.options.Replicas > 0:
		return "", &refusal{s.options.nameOf("Replicas") + " isn't possible on a Cluster: set it to 0"}
	}
	return text("server") + " " + version, nil
}

// runID returns the server's run ID, or an error if INFO isn't answered. The ID is empty if INFO is
// refused, and in a Cluster, whose nodes have different ones.
func (s *server) runID(ctx context.Context) (string, error) {
	if s.address.kind == cluster {
		return "", nil
	}
	ctx, cancel := withTimeout(ctx, heartbeatEvery/4) // the rest of a heartbeat needs time, too
	defer cancel()
	results, err := s.requestAnyway(ctx, func(b builder) command { return b.Info().Section("server").Build() })
	if err != nil {
		return "", err
	}
	text, _ := results[0].ToString() // an error is a refusal
	return infoField(text, "run_id"), nil
}
