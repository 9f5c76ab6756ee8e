package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
)

var stopBrowser = func() {}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(stopper{m})
}

// stopper stops the browser after the tests.
type stopper struct{ *testing.M }

func (s stopper) Run() int {
	defer stopBrowser()
	return s.M.Run()
}

// slow is a policy whose allowance doesn't grow during a test.
func slow() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("burst", 3, time.Hour)}
	return p
}

// startThree starts three nodes with a redis-server, and returns the URL of their load balancer.
func startThree(t *testing.T, share string, policy chatguard.Policy) (*cluster, string) {
	t.Helper()
	redis, stop, err := startRedis(t.Context())
	if err != nil {
		t.Fatalf("%v; scripts/prepare.sh installs it", err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	// A busy machine keeps this timeout.
	s := settings{policy: policy, share: share, timeout: 10 * time.Second}
	c, err := startCluster(t.Context(), s, redis, []string{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stopAll(); err != nil {
			t.Error(err)
		}
	})
	handler, closeIdle := newBalancer(c.handler(), c.addresses)
	front := httptest.NewServer(handler)
	t.Cleanup(closeIdle)
	t.Cleanup(front.Close)
	return c, front.URL
}

// result is how the nodes judged messages.
type result struct {
	allowed, throttled, degraded int
	nodes                        map[string]int
}

// send sends messages of a user one after another.
func send(t *testing.T, front, user string, n int) result {
	t.Helper()
	r := result{nodes: map[string]int{}}
	for range n {
		response, err := http.PostForm(front+"/messages", url.Values{"user": {user}, "text": {"hello"}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		var a struct {
			Node    string
			Verdict struct{ Allowed, Degraded bool }
		}
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatalf("%s: %s", response.Status, body)
		}
		r.nodes[a.Node]++
		switch {
		case a.Verdict.Allowed && response.StatusCode == http.StatusOK:
			r.allowed++
		case !a.Verdict.Allowed && response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") != "":
			r.throttled++
		default:
			t.Errorf("%s, %v: %s", response.Status, response.Header, body)
		}
		if a.Verdict.Degraded {
			r.degraded++
		}
	}
	http.DefaultClient.CloseIdleConnections()
	return r
}

// put makes a change, as the page does.
func put(t *testing.T, address string) (s state) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, response.Status, err)
	}
	return s
}

// Three nodes that share limits exactly allow 3 of 9 messages, and 9 of 9 if they share nothing.
func TestCluster_Share(t *testing.T) {
	c, front := startThree(t, "exact", slow())
	check := func(share string, want int) {
		t.Helper()
		got := send(t, front, "anna "+share, 9)
		if got.allowed != want || got.throttled != 9-want || got.degraded != 0 {
			t.Errorf("%s: %+v, want %d allowed", share, got, want)
		}
		for i := range c.nodes {
			if got.nodes[nodeName(i)] != 3 {
				t.Errorf("%s: the nodes get %v, want 3 each", share, got.nodes)
			}
		}
	}
	check("exact", 3)
	if put(t, front+"/share/off").Share != "off" {
		t.Error("the nodes still share limits")
	}
	check("off", 9)
	put(t, front+"/share/exact")
	check("exact again", 3)
}

// Nodes that decide in memory allow more at first, and compare later.
func TestCluster_Synchronised(t *testing.T) {
	c, front := startThree(t, "synchronised", slow())
	if got := send(t, front, "anna", 9); got.allowed < 3 || got.allowed > 9 {
		t.Errorf("%+v", got)
	}
	for range 2 { // the first round may miss what a later node writes
		for _, n := range c.nodes {
			if err := n.guard.Shared().Exchange(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := send(t, front, "anna", 9); got.allowed != 0 {
		t.Errorf("after an exchange, %+v", got)
	}
}

// The limit holds when a node stops and comes back, and no message is lost.
func TestCluster_StopNode(t *testing.T) {
	_, front := startThree(t, "exact", slow())
	if got := send(t, front, "anna", 2); got.allowed != 2 {
		t.Errorf("%+v", got)
	}
	if s := put(t, front+"/nodes/2/stop"); s.Nodes[1].Up || !s.Nodes[0].Up || !s.Nodes[2].Up {
		t.Errorf("%+v", s)
	}
	if got := send(t, front, "anna", 9); got.allowed != 1 || got.degraded != 0 || got.nodes["node-2"] != 0 {
		t.Errorf("%+v", got)
	}
	if s := put(t, front+"/nodes/2/start"); !s.Nodes[1].Up {
		t.Errorf("%+v", s)
	}
	if got := send(t, front, "anna", 9); got.allowed != 0 || got.nodes["node-2"] != 3 {
		t.Errorf("%+v", got)
	}
	for node := range 3 {
		put(t, fmt.Sprintf("%s/nodes/%d/stop", front, node+1))
	}
	response, err := http.PostForm(front+"/messages", url.Values{"user": {"anna"}})
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadGateway {
		t.Errorf("without any node, the answer is %s", response.Status)
	}
}

// Another site can't make a visitor of the page stop nodes or send messages.
func TestCluster_OtherSite(t *testing.T) {
	c, front := startThree(t, "off", slow())
	for path, method := range map[string]string{"/nodes/1/stop": http.MethodPut, "/messages": http.MethodPost} {
		request, err := http.NewRequestWithContext(t.Context(), method, front+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if n, _ := c.node(0); n == nil {
		t.Error("the node is stopped")
	}
}

// waitUntilBalanced waits until the load balancer knows which node is stopped: ten messages in
// succession reach a node.
func waitUntilBalanced(t *testing.T, front string) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for reached := 0; reached < 10; reached++ {
		if time.Now().After(end) {
			t.Fatal("messages still go to the node that is stopped")
		}
		response, err := http.PostForm(front+"/messages", url.Values{"user": {"ben"}})
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode == http.StatusBadGateway {
			reached = -1
		}
	}
}

// The command starts everything and ends it.
func TestRun(t *testing.T) { testRun(t, settings{listen: "127.0.0.1:0"}) }

// Caddy balances over the nodes as the Caddyfile says. It must be installed.
func TestRun_Caddy(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	testRun(t, settings{listen: address, caddy: true})
}

func testRun(t *testing.T, s settings) {
	t.Helper()
	s.policy, s.share, s.nodes, s.timeout = slow(), "exact", 3, 10*time.Second
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, s, write)
		write.CloseWithError(err)
		ended <- err
	}()
	var front string
	said := make([]byte, 1024)
	for all := ""; front == ""; {
		n, err := read.Read(said)
		if err != nil {
			t.Fatalf("%s%v", all, err)
		}
		all += string(said[:n])
		if at := strings.Index(all, "http://"); at >= 0 && strings.HasSuffix(all, "/\n") {
			front = strings.TrimSpace(strings.TrimSuffix(all[at:], "/\n"))
		}
	}
	if got := send(t, front, "anna", 9); got.allowed != 3 || got.degraded != 0 || len(got.nodes) != 3 {
		t.Errorf("%+v", got)
	}
	if s := put(t, front+"/nodes/1/stop"); s.Nodes[0].Up {
		t.Errorf("%+v", s)
	}
	waitUntilBalanced(t, front)
	if got := send(t, front, "anna", 4); got.throttled != 4 || got.nodes["node-1"] != 0 {
		t.Errorf("%+v", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Three nodes together allow a text three times, no matter who writes it.
func TestCluster_RepeatedText(t *testing.T) {
	copies := chatguard.TokenBucketLimit("copies", 3, time.Hour)
	copies.Per, copies.FromLength = chatguard.PerText, 1
	_, front := startThree(t, "exact", chatguard.Policy{Limits: []chatguard.Limit{copies}})
	allowed := 0
	for i := range 9 {
		allowed += send(t, front, fmt.Sprint("user", i), 1).allowed
	}
	if allowed != 3 {
		t.Errorf("%d of 9 copies are allowed, want 3", allowed)
	}
}
