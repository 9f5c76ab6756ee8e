package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

// TestOpen_Refused checks configurations that Open refuses, and that no error has the password.
func TestOpen_Refused(t *testing.T) {
	t.Parallel()
	locked := startRedis(t, "--requirepass", "s3cret")
	future := startRedis(t)
	future.must("SET", "cg1:format", "2")
	future.must("SET", "user:format", "1")
	future.must("SET", "odd:format", strings.Repeat("x\n", 100))
	future.must("SADD", "wrong:format", "1")
	future.must("ACL", "SETUSER", "reader", "on", ">s3cret", "~*", "&*", "+@all", "-@write")
	for name, test := range map[string]struct {
		url  string
		opts Options
		want string
	}{
		"no password":      {locked.URL(), Options{}, "asks for a password: set Options.Password"},
		"wrong password":   {locked.URL(), Options{Password: "wr0ng"}, "the user name or password is wrong: correct Options.Password, or Options.Username"},
		"wrong in the URL": {"redis://:wr0ng@" + locked.Addr(), Options{}, "the user name or password is wrong"},
		"wrong user":       {"redis://bob:wr0ng@" + locked.Addr(), Options{}, "the user name or password is wrong"},
		"user alone":       {"redis://bob@" + locked.Addr(), Options{}, `the user "bob" has no password`},
		"read-only user":   {"redis://reader:s3cret@" + future.Addr(), Options{Namespace: "fresh"}, `the user "reader" lacks rights to `},
		"no Sentinel":      {"redis+sentinel://" + future.Addr() + "/main", Options{}, "the server isn't a Sentinel: write redis://"},
		"other program":    {"redis://" + answerAll(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), Options{}, "the server doesn't speak the protocol of Redis: correct the host or port"},
		"no such database": {future.URL() + "/99", Options{}, "the server has no database 99: set a smaller number after the / of the URL"},
		"newer format":     {future.URL(), Options{}, `the namespace cg1 has data of format "2", and this node has "1": use the same version`},
		"odd format":       {future.URL(), Options{Namespace: "odd"}, "another program uses keys that begin with odd: set another namespace"},
		"other type":       {future.URL(), Options{Namespace: "wrong"}, "the key wrong:format has another type: delete it at the server"},
		"later placement":  {future.URL(), Options{Placement: PlaceTogether}, `and this node has "1 together"`},
		"placement":        {future.URL(), Options{Namespace: "user", Placement: PlaceTogether}, "the rows of namespace user are placed by PlaceByUser, and this node has PlaceTogether: use the same"},
		"old server":       {"redis://" + oldServer(t), Options{}, "older than 6.2"},
		"older server":     {"redis://" + fakeHello(t, "6.0.16", "standalone"), Options{}, "has version 6.0.16"},
		"odd version":      {"redis://" + fakeHello(t, "new", "standalone"), Options{}, "has version new"},
		"a Cluster":        {"redis://" + fakeHello(t, "7.0.15", "cluster"), Options{}, "write redis+cluster://"},
		"a Sentinel":       {"redis://" + fakeHello(t, "7.0.15", "sentinel"), Options{}, "write redis+sentinel://"},
		"plain, far away":  {"redis://:pass@192.0.2.1", Options{}, "192.0.2.1:6379 is another machine"},
		"one is far away":  {"redis+cluster://:pass@127.0.0.1,example.com:1", Options{}, "example.com:1 is another machine"},
		"TLS for nothing":  {future.URL(), Options{TLS: &tls.Config{}}, "write rediss"},
		"scheme":           {"http://u:pass@127.0.0.1", Options{}, "http://***@127.0.0.1 must begin with redis://"},
		"no scheme":        {"u:pass@127.0.0.1", Options{}, `"***@127.0.0.1" must begin`},
		"no host":          {"redis://:pass@", Options{}, "doesn't have a host and port"},
		"port":             {"redis://:pass@127.0.0.1:99999", Options{}, "doesn't have a host and port"},
		"port 0":           {"redis://:pass@127.0.0.1:0", Options{}, "doesn't have a host and port"},
		"slash":            {"redis://:pa/ss@127.0.0.1", Options{}, "write %2F"},
		"escape":           {"redis://:pa%zzss@127.0.0.1", Options{}, "isn't %-encoded"},
		"database":         {"redis://:pass@127.0.0.1/x", Options{}, "must end with the number"},
		"parameters":       {"redis://:pass@127.0.0.1?db=1", Options{}, "after ? or #: remove them"},
		"parameters later": {"redis://:pass@127.0.0.1/1?x", Options{}, "after ? or #: remove them"},
		"several hosts":    {"redis://:pass@127.0.0.1,127.0.0.2", Options{}, "write redis+sentinel:// or redis+cluster://"},
		"no primary":       {"redis+sentinel://:pass@127.0.0.1", Options{}, "doesn't name the primary"},
		"Cluster database": {"redis+cluster://:pass@127.0.0.1/1", Options{}, "a Cluster only has 0"},
		"Cluster replicas": {"redis+cluster://127.0.0.1", Options{Replicas: 1}, "Options.Replicas"},
		"namespace":        {future.URL(), Options{Namespace: "a{b}"}, `Options.Namespace "a{b}"`},
		"Placement":        {future.URL(), Options{Placement: 7}, "Options.Placement 7 doesn't exist: use PlaceByUser"},
		"Replicas":         {future.URL(), Options{Replicas: -1}, "Replicas is -1"},
	} {
		text := openRefused(t, test.url, test.opts).Error()
		if !strings.HasPrefix(text, "redisstore: ") || !strings.Contains(text, test.want) || strings.Contains(text, "\n") {
			t.Errorf("%s: %s\nwant %s", name, text, test.want)
		}
		for _, secret := range []string{"s3cret", "wr0ng", "pass@", "pa/", "ss@", "pa%"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: the error has the password: %s", name, text)
			}
		}
	}
}

func TestOpen_Password(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--requirepass", "a@b/c%:,?#")
	var log waittest.Output
	for _, test := range []struct {
		url  string
		opts Options
	}{
		{r.URL(), Options{Password: "a@b/c%:,?#"}},
		{"redis://default:a%40b%2Fc%25:%2C%3F%23@" + r.Addr() + "/0", Options{}},
		{"redis://:wrong@" + r.Addr() + "/1", Options{Password: "a@b/c%:,?#"}},
	} {
		test.opts.Logger = logTo(&log)
		s := open(t, test.url, test.opts)
		check(t, s, one("a", "", "1"), true)
		check(t, s, one("a", "1", ""), true)
		if text := fmt.Sprintf("%+v", s.Health()); strings.Contains(text, "c%") {
			t.Error(text)
		}
		s.server.goAway(errors.New("test"))
	}
	if text := log.String(); !strings.Contains(text, "away") || strings.Contains(text, "a@b") || strings.Contains(text, "c%") {
		t.Error(text)
	}
}

// TestOpen_PasswordChanged checks that a node whose password is changed at the server says so, and
// never logs it.
func TestOpen_PasswordChanged(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Timeout: 300 * time.Millisecond})
	r.Kill()
	awayAfter(t, s)
	r.Args = append(r.Args, "--requirepass", "s3cret")
	r.Start()
	eventually(t, "Health names the problem", func() bool {
		attempt(t, s, one("a", "", "1"))
		return strings.Contains(s.Health().Problem, "asks for a password")
	})
}

// TestOpen_MinimalRights checks the user of the package's documentation.
func TestOpen_MinimalRights(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	r.must(strings.Fields("ACL SETUSER chatguard on >secret ~cg1:* &cg1:* -@all +hello +auth +ping +client|setname +get +set +del +mget +sadd +srem +smembers +evalsha +eval +time +publish +subscribe +unsubscribe")...)
	r.must("ACL", "SETUSER", "default", "off")
	url := "redis://chatguard:secret@" + r.Addr()
	a, b := open(t, url, Options{Node: "a"}), open(t, url, Options{Node: "b"})
	guard := &fakeGuard{}
	run(t, b, guard)
	run(t, a, &fakeGuard{})
	eventually(t, "both subscribe and are listed", func() bool {
		return guard.count(allRows) > 0 && a.Health().Nodes == 2 && b.Health().Nodes == 2
	})
	check(t, a, one("u", "", "1"), true)
	swap := one("u", "1", "2")
	swap.Notify, swap.Rows[0].HasOverride = true, true
	check(t, a, swap, true)
	eventually(t, "the notice arrives", func() bool { return guard.count("lobby/u") == 1 })
	if users, err := b.Overrides(t.Context(), "lobby"); err != nil || len(users) != 1 {
		t.Error(users, err)
	}
	must(t, a.SetDocument(t.Context(), "lobby", []byte("{}"), 0))
	readDocuments(t, b, "lobby", "other")
	if _, ok := a.Number(); !ok {
		t.Error("no number")
	}
	if h := a.Health(); !h.Up || h.Problem != "" {
		t.Errorf("%+v", h)
	}
	// Outside of the namespace it has no rights.
	wantError(t, openRefused(t, url, Options{Namespace: "other"}), "lacks rights")
}

// TestSwap_Refused checks that what the server refuses is an error, not a decision and no outage.
func TestSwap_Refused(t *testing.T) {
	t.Parallel()
	primary := startRedis(t)
	for name, test := range map[string]struct {
		harm func(r *redisServer)
		want string
		away bool
	}{
		"rights":     {func(r *redisServer) { r.must("ACL", "SETUSER", "default", "-set") }, "lacks rights", false},
		"memory":     {func(r *redisServer) { r.must("CONFIG", "SET", "maxmemory", "1") }, "memory is full", false},
		"wrong type": {func(r *redisServer) { r.must("DEL", "cg1:{u:a}:c:lobby"); r.must("SADD", "cg1:{u:a}:c:lobby", "x") }, "the key cg1:{u:a}:c:lobby has another type", false},
		"replica":    {func(r *redisServer) { r.must("REPLICAOF", "127.0.0.1", fmt.Sprint(primary.Port)) }, "the server is a replica", true},
		"replicas":   {func(r *redisServer) { r.must("CONFIG", "SET", "min-replicas-to-write", "3") }, "fewer replicas", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t)
			stand := withIfEqual(t, r)
			for _, url := range []string{r.URL(), "redis://" + stand} {
				s := open(t, url, Options{})
				check(t, s, one("a"+url[len(url)-2:], "", "1"), true)
				defer func() {
					swap := one("a", "1", "2")
					s.Swap(untilRepeated(t, s), []*shared.Swap{swap})
					if swap.Done || swap.Err == nil || !strings.Contains(swap.Err.Error(), test.want) || errors.Is(swap.Err, shared.ErrAway) != test.away {
						t.Errorf("done %t, error %v, want %s", swap.Done, swap.Err, test.want)
					}
					if !test.away && !s.Health().Up {
						t.Error("a refusal is taken for an outage")
					}
				}()
			}
			r.must("SET", "cg1:{u:a}:c:lobby", "1")
			test.harm(r)
		})
	}
}

// untilRepeated returns a context that ends when a swap was repeated a few times.
func untilRepeated(t *testing.T, s *Store) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	before := s.writer.repeated.Load()
	go func() {
		defer cancel()
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for ctx.Err() == nil && s.writer.repeated.Load() < before+3 {
			<-look.C
		}
	}()
	return ctx
}

// TestOpen_ContextEnded checks that Open returns when its context ends, although the server accepts
// the connection and doesn't answer.
func TestOpen_ContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "redis://"+startIdle(t), &Options{Logger: quiet()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{})
	must(t, s.Close())
	if err := s.Close(); err == nil {
		t.Error("closed twice without an error")
	}
	checkAway(t, s)
	if h := s.Health(); h.Up || h.Problem == "" {
		t.Errorf("%+v", h)
	}
}

// TestClose_Waits checks that Close waits for the goroutines of the Store, and that none begins
// afterwards.
func TestClose_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newStore("redis://127.0.0.1:1", nil)
		must(t, err)
		release, closed := make(chan struct{}), make(chan struct{})
		s.server.spawn(func() { <-release })
		go func() {
			defer close(closed)
			s.Close()
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close has returned before a goroutine has ended")
		default:
		}
		close(release)
		<-closed
		if s.server.spawn(func() {}) {
			t.Error("a goroutine begins after Close")
		}
	})
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"redis://localhost":                            "{false 0   [localhost:6379]  0}",
		"REDIS://[::1]":                                "{false 0   [[::1]:6379]  0}",
		"rediss://u:p@h:1/7":                           "{true 0 u p [h:1]  7}",
		"redis+sentinel://h1,[::2]:3/main":             "{false 1   [h1:26379 [::2]:3] main 0}",
		"rediss+sentinel://h1:1,h2/main":               "{true 1   [h1:1 h2:26379] main 0}",
		"redis+cluster://h1,h2:7":                      "{false 2   [h1:6379 h2:7]  0}",
		"rediss+cluster://user%40x:%3A%2F@h1:6380/0":   "{true 2 user@x :/ [h1:6380]  0}",
		"redis://only:colons:in:password@127.0.0.1:10": "{false 0 only colons:in:password [127.0.0.1:10]  0}",
	} {
		a, err := parseURL(text)
		if got := fmt.Sprint(a); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// FuzzParseURL checks that no error has the password, also where it doesn't belong.
func FuzzParseURL(f *testing.F) {
	f.Add("redis://", "user", "127.0.0.1")
	f.Add("redis+sentinel://", "", "h/main")
	f.Add("redis://", "u@127.0.0.1/0", "@x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		const password = "QjPkWzVx"
		if strings.Contains(scheme+user+rest, password) {
			return
		}
		for before, after := range map[string]string{":": "@" + rest, "?password=": rest, "#password=": rest} {
			if _, err := parseURL(scheme + user + before + password + after); err != nil && strings.Contains(err.Error(), password) {
				t.Error(err)
			}
		}
	})
}
