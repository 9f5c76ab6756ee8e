package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

func TestMain(m *testing.M) {
	usualLease = slowLease
	// A client of a Cluster waits for a second before it looks at the shards again, and for five
	// before it closes connections to former shards, even if closed.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"),
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

// redisServer is a server with a client for the test's own questions.
type redisServer struct {
	*redistest.Server
	t testing.TB
}

// startRedis starts a server with an empty database, and ends it with the test.
func startRedis(t testing.TB, args ...string) *redisServer {
	t.Helper()
	return &redisServer{redistest.Start(t, args...), t}
}

// startSentinel starts a Sentinel that watches a primary under the name main, with further lines of
// its configuration. It makes no failover by itself, however slow the machine is.
func startSentinel(t testing.TB, primary *redisServer, lines ...string) *redisServer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor main 127.0.0.1 %d 1\nsentinel down-after-milliseconds main 600000\n", primary.Port)
	text += strings.Join(lines, "\n") + "\n"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return startServer(t, "redis-server", file, "--sentinel")
}

// failOver makes a replica the primary, as a Sentinel does. It doesn't wait for the Sentinel's own
// timers: if the machine is slow, a Sentinel does nothing for 30 s. The old primary may be killed.
func failOver(watcher, from, to *redisServer) {
	watcher.must("SENTINEL", "REMOVE", "main")
	to.must("REPLICAOF", "NO", "ONE")
	watcher.must("SENTINEL", "MONITOR", "main", "127.0.0.1", fmt.Sprint(to.Port), "1")
	from.text("REPLICAOF", "127.0.0.1", fmt.Sprint(to.Port))
	from.text("CLIENT", "KILL", "TYPE", "pubsub") // otherwise its clock would be taken for the new primary's
	from.text("CLIENT", "KILL", "TYPE", "normal")
}

func startServer(t testing.TB, binary string, args ...string) *redisServer {
	t.Helper()
	return &redisServer{redistest.StartBinary(t, binary, args...), t}
}

// client connects to the server.
func (r *redisServer) client() rueidis.Client {
	r.t.Helper()
	client, err := r.connect()
	must(r.t, err)
	return client
}

func (r *redisServer) connect() (rueidis.Client, error) {
	return rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{r.Addr()}, DisableCache: true, ForceSingleClient: true, PipelineMultiplex: -1})
}

// text returns the reply to a command, or nothing if there is none: a server closes connections
// when its role changes.
func (r *redisServer) text(args ...string) string {
	client, err := r.connect()
	if err != nil {
		return ""
	}
	defer client.Close()
	result := client.Do(context.Background(), client.B().Arbitrary(args...).Build())
	text, _ := result.ToString()
	return text
}

// do sends one command over a connection of its own.
func (r *redisServer) do(args ...string) rueidis.RedisResult {
	r.t.Helper()
	client := r.client()
	defer client.Close()
	return client.Do(context.Background(), client.B().Arbitrary(args...).Build())
}

// must is do for a command that succeeds.
func (r *redisServer) must(args ...string) rueidis.RedisResult {
	r.t.Helper()
	result := r.do(args...)
	if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) {
		r.t.Fatalf("%v: %v", args, err)
	}
	return result
}

// integer is must for a command whose reply is a number.
func (r *redisServer) integer(args ...string) int64 {
	r.t.Helper()
	n, err := r.must(args...).AsInt64()
	must(r.t, err)
	return n
}

// info returns a field of INFO, or "".
func (r *redisServer) info(section, field string) string {
	r.t.Helper()
	for line := range strings.Lines(mustString(r.t, r.must("INFO", section))) {
		if text, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// eventually waits until something is true. It looks less often than waittest.Until, because many
// tests ask a server.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !waittest.Poll(t.Context(), 5*time.Millisecond, is) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// patience is a timeout that a busy machine keeps. Only calls that a test wants to fail have a
// shorter one.
const patience = maxTimeout

// open opens a store, by default with patience, and closes it with the test.
func open(t testing.TB, url string, opts Options) *Store {
	t.Helper()
	opts.Timeout = cmp.Or(opts.Timeout, patience)
	if opts.Logger == nil {
		opts.Logger = quiet()
	}
	s, err := Open(context.Background(), url, &opts)
	must(t, err)
	t.Cleanup(func() { s.Close() }) // some tests have closed it
	return s
}

// startStore starts a server, and opens a store there.
func startStore(t testing.TB, opts Options) (*redisServer, *Store) {
	t.Helper()
	r := startRedis(t)
	return r, open(t, r.URL(), opts)
}

// openRefused returns the error of Open, which it must have, with patience by default.
func openRefused(t testing.TB, url string, opts Options) error {
	t.Helper()
	opts.Timeout, opts.Logger = cmp.Or(opts.Timeout, patience), quiet()
	s, err := Open(t.Context(), url, &opts)
	if err == nil {
		t.Errorf("%s isn't refused: %+v", url, s.Health())
		s.Close()
		return errors.New("not refused")
	}
	return err
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// fakeGuard records what a Store tells a Guard.
type fakeGuard struct {
	shared.Guard

	mu        sync.Mutex
	forgotten []string
	policy    string
	counts    shared.Counts

	exchanges, healed atomic.Int64
}

func (g *fakeGuard) Mode() shared.Mode { return shared.Exact }

func (g *fakeGuard) Counts() shared.Counts { return g.counts }

func (g *fakeGuard) PolicyHash() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.policy
}

func (g *fakeGuard) setPolicy(hash string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.policy = hash
}

func (g *fakeGuard) Invalidate(channelID, userID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgotten = append(g.forgotten, channelID+"/"+userID)
}

// allRows is what InvalidateAll records.
const allRows = "all/rows"

func (g *fakeGuard) InvalidateAll() { g.Invalidate("all", "rows") }

func (g *fakeGuard) Heal() { g.healed.Add(1) }

func (g *fakeGuard) Exchange(context.Context) error {
	g.exchanges.Add(1)
	return nil
}

func (g *fakeGuard) count(row string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, f := range g.forgotten {
		if f == row {
			n++
		}
	}
	return n
}

// run runs the store until the test ends or the returned function is called.
func run(t testing.TB, s *Store, g shared.Guard) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, g) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// binaries lists the servers that the tests of swaps run on: redis-server, and the program that
// CHATGUARD_VALKEY_SERVER names or valkey-server, if it is in PATH.
func binaries(t testing.TB) []string {
	names := []string{"redis-server"}
	if path := os.Getenv("CHATGUARD_VALKEY_SERVER"); path != "" {
		return append(names, path)
	}
	if _, err := exec.LookPath("valkey-server"); err == nil {
		return append(names, "valkey-server")
	}
	t.Log("there is no valkey-server: SET with IFEQ is tested on a stand-in only")
	return names
}

// TestBinaries checks that CHATGUARD_VALKEY_SERVER goes before PATH.
func TestBinaries(t *testing.T) {
	t.Setenv("CHATGUARD_VALKEY_SERVER", "/opt/valkey")
	if got := binaries(t); !slices.Equal(got, []string{"redis-server", "/opt/valkey"}) {
		t.Error(got)
	}
}

// wantError fails the test unless there is an error with this text.
func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, want %s", err, text)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustString(t testing.TB, result rueidis.RedisResult) string {
	t.Helper()
	text, err := result.ToString()
	must(t, err)
	return text
}

func logTo(b *waittest.Output) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
