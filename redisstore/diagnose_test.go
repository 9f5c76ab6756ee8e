package redisstore

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// found returns the finding with a name.
func found(t *testing.T, s *Store, name string) Finding {
	t.Helper()
	findings := s.Diagnose(t.Context())
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no finding is named %q: %+v", name, findings)
	}
	return findings[i]
}

// wantFinding fails the test unless the finding with a name has this level and this text. It must
// have a fix unless it is OK.
func wantFinding(t *testing.T, s *Store, name string, level Level, text string) Finding {
	t.Helper()
	f := found(t, s, name)
	checkFinding(t, f, level, text)
	return f
}

func checkFinding(t *testing.T, f Finding, level Level, text string) {
	t.Helper()
	if f.Level != level || !strings.Contains(f.Text, text) || (f.Fix == "") != (level == OK) {
		t.Errorf("%+v, want %v: %s", f, level, text)
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{Node: "n", Version: "v1"})
	stop := run(t, s, &fakeGuard{})
	eventually(t, "the node is listed", func() bool { return s.Health().Nodes == 1 })
	var names []string
	for _, f := range s.Diagnose(t.Context()) {
		names = append(names, f.Name)
		if f.Level != OK || f.Text == "" || f.Fix != "" {
			t.Errorf("%+v", f)
		}
	}
	if want := []string{"reachable", "encryption", "version", "clock", "eviction", "persistence", "rights", "latency", "node n"}; !slices.Equal(names, want) {
		t.Errorf("checks %q, want %q", names, want)
	}
	stop()
	if keys, err := r.must("KEYS", "cg1:doctor*").AsStrSlice(); err != nil || len(keys) != 0 {
		t.Errorf("keys stay: %q, %v", keys, err)
	}
	if f := found(t, s, "nodes"); f.Text != "no node is running" {
		t.Errorf("%+v", f)
	}
	other := open(t, r.URL(), Options{Node: "other", Version: "v2"})
	run(t, other, &fakeGuard{})
	eventually(t, "the node is listed", func() bool { return other.Health().Nodes == 1 })
	wantFinding(t, s, "node other", Warning, "another version")
	for _, node := range []shared.Node{{Name: "later", Version: "v1", Formats: []int{9}}, {Name: "slow", Version: "v1", Mode: shared.Synchronised}, {Name: "unknown"}} {
		record, err := json.Marshal(node)
		must(t, err)
		r.must("SET", "cg1:node:"+node.Name, string(record))
		r.must("SADD", "cg1:nodes", node.Name)
	}
	wantFinding(t, s, "node unknown", OK, "")
	wantFinding(t, s, "node slow", Warning, "another mode than node other's")
	eventually(t, "Health names the other mode", func() bool {
		return strings.Contains(other.Health().Problem, "node slow is synchronised and this node is exact: set the same mode on all nodes")
	})
	wantFinding(t, s, "node later", Warning, fmt.Sprintf("doesn't read rows of format %d", rowFormat()))
}

func TestDiagnose_Server(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	for policy, level := range map[string]Level{
		"noeviction": OK, "volatile-ttl": OK, "volatile-lru": Warning, "volatile-random": Warning, "allkeys-lru": Problem, "allkeys-random": Problem,
	} {
		r.must("CONFIG", "SET", "maxmemory-policy", policy)
		wantFinding(t, s, "eviction", level, policy)
	}
	r.must("CONFIG", "SET", "appendonly", "yes")
	if f := wantFinding(t, s, "persistence", OK, ""); !strings.HasPrefix(f.Text, "append-only file: ") {
		t.Errorf("%+v", f)
	}
	checkFinding(t, findPersistence("aof_enabled:0\r\nrdb_last_bgsave_status:ok\r\n"), OK, "no append-only file: a crash of the server loses everything since its last snapshot")
	checkFinding(t, findPersistence("aof_enabled:0\r\nrdb_last_bgsave_status:err\r\n"), Warning, "")
	checkFinding(t, findEviction(""), Warning, "")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d := &diagnosis{server: s.server}
	if f := d.findServerSettings(ended)[0]; f.Level != Warning || !strings.Contains(f.Text, "weren't checked: ") || strings.Contains(f.Text, "right") {
		t.Errorf("%+v", f)
	}
	d = &diagnosis{server: &server{}}
	d.server.clock.start(time.Now())
	d.server.clock.follow(reading{at: d.server.clock.local(), target: int64(time.Hour)}, "")
	checkFinding(t, d.findClock(), Warning, " ahead of this machine's")
	d.server.clock.reading.Store(nil)
	d.server.clock.follow(reading{at: d.server.clock.local(), target: -int64(time.Millisecond)}, "")
	checkFinding(t, d.findClock(), OK, " behind this machine's")
}

// TestDiagnose_Encryption checks that a connection that others can read or forge is named.
func TestDiagnose_Encryption(t *testing.T) {
	for _, test := range []struct {
		opts      Options
		host      string
		level     Level
		text, fix string
	}{
		{Options{TLS: &tls.Config{}}, "192.0.2.1:1", OK, "is encrypted", ""},
		{Options{TLS: &tls.Config{InsecureSkipVerify: true}}, "192.0.2.1:1", Warning, "isn't checked", "remove Options.TLS.InsecureSkipVerify, and set Options.TLS.RootCAs"},
		{Options{}, "192.0.2.1:1", Warning, "the connection to 192.0.2.1:1 isn't encrypted", "write rediss:// and enable TLS at the server"},
		{Options{}, "127.0.0.1:1", OK, "on this machine", ""},
	} {
		d := &diagnosis{server: &server{options: test.opts, address: address{hosts: []string{test.host}}}}
		f := d.findEncryption()
		if checkFinding(t, f, test.level, test.text); f.Fix != test.fix {
			t.Errorf("the fix is %q, want %q", f.Fix, test.fix)
		}
	}
}

// TestDiagnose_Rights checks that missing rights are named, and INFO isn't necessary.
func TestDiagnose_Rights(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	r.must("ACL", "SETUSER", "bob", "on", ">s3cret", "~cg1:*", "&cg1:*", "+@all", "-info", "-srem", "-publish")
	s := open(t, "redis://bob:s3cret@"+r.Addr(), Options{})
	if f := wantFinding(t, s, "rights", Problem, `"bob" lacks rights: +publish +srem`); !strings.HasPrefix(f.Fix, "ACL SETUSER bob +publish +srem ~cg1:*") {
		t.Errorf("%+v", f)
	}
	if f := wantFinding(t, s, "eviction", Warning, ""); !strings.Contains(f.Fix, "+info") {
		t.Errorf("%+v", f)
	}
	for _, f := range s.Diagnose(t.Context()) {
		if strings.Contains(f.Text+f.Fix, "s3cret") {
			t.Errorf("a finding has the password: %+v", f)
		}
	}
}

// problems returns the findings that are problems.
func problems(t *testing.T, s *Store) (list []Finding) {
	t.Helper()
	for _, f := range s.Diagnose(t.Context()) {
		if f.Level == Problem {
			list = append(list, f)
		}
	}
	return list
}

// TestDiagnose_OneProblem checks that a cause is one problem, with its own fix, which the text
// doesn't repeat.
func TestDiagnose_OneProblem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		harm            []string
		name, text, fix string
	}{
		{[]string{"CONFIG", "SET", "maxmemory", "1"}, "changes", "the server's memory is full", "raise maxmemory"},
		{[]string{"RPUSH", "cg1:nodes", "1"}, "nodes", "the key cg1:nodes has another type", "delete it at the server"},
		{[]string{"ACL", "SETUSER", "default", "-eval", "-evalsha", "-smembers"}, "rights", "", "ACL SETUSER default +eval +evalsha +smembers ~cg1:* &cg1:*"},
		{[]string{"ACL", "SETUSER", "default", "resetkeys", "~cg1:doctor*", "~cg1:epoch"}, "nodes", `the user "default" lacks rights to access `, "grant those that docs/scaling.md lists under TLS and rights"},
	} {
		r, s := startStore(t, Options{})
		r.must(test.harm...)
		list := problems(t, s)
		if len(list) != 1 || list[0].Name != test.name || list[0].Fix != test.fix || strings.Contains(list[0].Text, test.fix) || !strings.Contains(list[0].Text, test.text) {
			t.Errorf("%q: %+v, want %s: %s", test.harm, list, test.text, test.fix)
		}
	}
}

func TestDiagnose_Away(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	r.Kill()
	s := open(t, r.URL(), Options{Timeout: 100 * time.Millisecond})
	check := func() {
		t.Helper()
		findings := s.Diagnose(t.Context())
		if len(findings) != 1 || findings[0].Level != Problem || findings[0].Fix == "" || !strings.Contains(findings[0].Text, r.Addr()) {
			t.Errorf("%+v", findings)
		}
	}
	check()
	r.Start()
	eventually(t, "the server is back", func() bool { s.server.probe(); return s.Health().Up })
	wantFinding(t, s, "reachable", OK, "")
	r.Kill()
	check()
}

func TestInMicroseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 600: "1 µs", 123_456 * time.Microsecond: "123.456 ms", 90 * time.Second: "1m30s",
	} {
		if got := inMicroseconds(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

func TestLevel(t *testing.T) {
	if OK.String() != "ok" || Warning.String() != "warning" || Problem.String() != "problem" {
		t.Error(OK, Warning, Problem)
	}
}
