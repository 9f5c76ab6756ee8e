package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/web"
)

// sharedTable is the configuration of a node that shares limits over a server.
func sharedTable(server *redistest.Server, node string) string {
	return fmt.Sprintf("\n[shared]\nmode = \"exact\"\nurl = %q\nnode = %q\ntimeout = \"500ms\"\n", server.URL(), node)
}

// startSharedRooms starts two nodes that servers ask. Both have the same tokens.
func startSharedRooms(t *testing.T, server *redistest.Server) (nodes []*roomServer) {
	t.Helper()
	for i := range 2 {
		s := &roomServer{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml"), owner: webToken}
		if err := os.WriteFile(s.configuration, []byte(roomsConfig+sharedTable(server, fmt.Sprint("node-", i))), 0o600); err != nil {
			t.Fatal(err)
		}
		s.start()
		nodes = append(nodes, s)
	}
	return nodes
}

// verdict asks whether a user may write, and returns the answer.
func (s *roomServer) verdict(user string) (status int, degraded bool) {
	s.Helper()
	answer, text := sendRequest(s.T, "POST", s.address+"api/v1/check", fmt.Sprintf(`{"channel":"hall","user_id":%q}`, user), "Authorization", s.server)
	var v struct{ Degraded bool }
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	return answer.StatusCode, v.Degraded
}

// Two nodes that answer for one chat allow what one would. People's changes on one are in force on
// the other. While the store is gone, both answer by what they know.
func TestShared_TwoNodes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	nodes := startSharedRooms(t, server)
	var list web.Nodes
	waitUntil(t, func() bool {
		nodes[0].sendAsOwner("GET", "nodes", &list)
		return len(list.Nodes) == 2
	})
	if out := runBeside(t, nodes[0].configuration, "nodes"); !strings.Contains(out, "node-0") || !strings.Contains(out, "node-1") || !strings.Contains(out, "exact") {
		t.Errorf("chatguard nodes: %s", out)
	}
	if out := runBeside(t, nodes[0].configuration, "doctor"); !strings.Contains(out, "shared store") {
		t.Errorf("chatguard doctor says nothing about the shared store: %s", out)
	}
	for i, want := range []int{200, 200, 200, 429, 429} {
		if status, degraded := nodes[i%2].verdict("anna"); status != want || degraded {
			t.Errorf("message %d: %d, degraded %v, want %d", i, status, degraded, want)
		}
	}
	turn := func(what string, want int) {
		t.Helper()
		answer, text := sendRequest(t, "POST", nodes[0].address+"api/v1/channels/check:hall/"+what, "", "Authorization", "Bearer "+webToken)
		if answer.StatusCode != want {
			t.Fatalf("%s: %s %s", what, answer.Status, text)
		}
	}
	turn("pause", http.StatusOK)
	waitUntil(t, func() bool { status, _ := nodes[1].verdict("anna"); return status == http.StatusOK })
	turn("resume", http.StatusOK)
	waitUntil(t, func() bool { status, _ := nodes[1].verdict("anna"); return status == http.StatusTooManyRequests })

	server.Kill()
	for _, n := range nodes {
		waitUntil(t, func() bool { _, degraded := n.verdict("carl"); return degraded })
		waitUntil(t, func() bool {
			answer, text := sendRequest(t, "GET", n.address+"readyz", "", "Authorization", "Bearer "+webToken)
			return answer.StatusCode == http.StatusOK && strings.Contains(text, "shared store: away since")
		})
		if status, _ := n.verdict("anna"); status != http.StatusTooManyRequests {
			t.Errorf("anna while the store is gone: %d", status)
		}
	}
	turn("pause", http.StatusServiceUnavailable)
	server.Start()
	for _, n := range nodes {
		waitUntil(t, func() bool { _, degraded := n.verdict("carl"); return !degraded })
		if status, _ := n.verdict("anna"); status != http.StatusTooManyRequests {
			t.Errorf("anna after the store came back empty: %d", status)
		}
	}
	for _, name := range []string{
		"chatguard_shared_up 1", "chatguard_shared_nodes 2", "chatguard_shared_apart_total",
		"# TYPE chatguard_shared_exchanged_rows_total counter\nchatguard_shared_exchanged_rows_total ", "# TYPE chatguard_shared_lost_total counter\nchatguard_shared_lost_total 0\n",
		`chatguard_shared_swaps_total{result="done"}`, `chatguard_shared_swaps_total{result="conflict"}`,
		`chatguard_shared_swaps_total{result="again"}`, `chatguard_shared_swaps_total{result="error"}`,
		"# TYPE chatguard_shared_swap_seconds histogram\nchatguard_shared_swap_seconds_bucket{le=\"0.0001\"} ",
		"chatguard_shared_swap_seconds_sum ", "chatguard_shared_exchange_seconds_count ", `chatguard_shared_exchange_rows_bucket{le="+Inf"} `,
	} {
		waitUntil(t, func() bool { return strings.Contains(nodes[0].metrics(), name) })
	}
	for _, n := range nodes {
		n.stop(t)
	}
}

// While the server refuses changes, a node says so, with the fix.
func TestShared_MemoryFull(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	node := startSharedRooms(t, server)[0]
	get := func(path, want string) {
		t.Helper()
		waitUntil(t, func() bool {
			node.verdict("anna")
			answer, text := sendRequest(t, "GET", node.address+path, "", "Authorization", "Bearer "+webToken)
			return answer.StatusCode == http.StatusOK && strings.Contains(text, want)
		})
	}
	sendCommand(t, server, "CONFIG SET maxmemory 1")
	get("readyz", "the server's memory is full: raise maxmemory\"],\"status\":\"degraded\"}")
	get("api/v1/nodes", `"up":true,"refusing":true,`)
	sendCommand(t, server, "CONFIG SET maxmemory 0")
	get("readyz", `{"status":"ok"}`)
}

// sendCommand sends a command to the server, which must answer OK.
func sendCommand(t *testing.T, server *redistest.Server, command string) {
	t.Helper()
	c, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "+OK\r\n" {
		t.Fatalf("%s: %q, %v", command, line, err)
	}
}

func (s *roomServer) metrics() string {
	s.Helper()
	_, text := sendRequest(s.T, "GET", s.address+"metrics", "", "Authorization", "Bearer "+s.owner)
	return text
}

// A wrong password is one line with the fix, and is nowhere in the output.
func TestShared_WrongPassword(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "rosebud-1941")
	s := newScene(t, threeMessages+sharedTable(server, "node"))
	s.env = append(s.env, "CHATGUARD_SHARED_PASSWORD=xanadu-1797")
	out, complaint, code := s.runWithInput("", "run")
	if code == 0 || !strings.Contains(complaint, "shared.url") || !strings.Contains(complaint, "password is wrong") {
		t.Errorf("exit code %d: %s", code, complaint)
	}
	if strings.Contains(out+complaint, "xanadu") {
		t.Errorf("the password is in the output: %s%s", out, complaint)
	}
}

// Of two bots in a channel, one acts. After it is killed, the other acts; after it was suspended
// and resumes, it deletes nothing.
func TestShared_TwoBots(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	first := newScene(t, threeMessages+sharedTable(server, "first"))
	second := *first
	second.configuration = filepath.Join(t.TempDir(), "chatguard.toml")
	text, err := os.ReadFile(first.configuration)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second.configuration, []byte(strings.Replace(string(text), `"first"`, `"second"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	first.bot = startCommand(t, first.chatguard("run"), first.env...)
	second.bot = startCommand(t, second.chatguard("run"), second.env...)
	twitch := first.twitch
	if err := twitch.WaitJoined(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	// anna's fourth message and the following are deleted, each once.
	deleted := func() (ids []string) {
		for _, d := range twitch.Deletes() {
			ids = append(ids, d.Message.ID)
		}
		return ids
	}
	said := map[string]bool{}
	say := func(login string) string {
		t.Helper()
		id, err := twitch.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		said[id] = true
		return id
	}
	wantDeleted := func(id string) {
		t.Helper()
		waitUntil(t, func() bool { return slices.Contains(deleted(), id) })
	}
	for range 3 {
		say("anna")
	}
	wantDeleted(say("anna"))
	leader, standby, name := first.bot, second.bot, "first"
	if !strings.Contains(leader.log(), "acts in the channel now") {
		leader, standby, name = standby, leader, "second"
	}
	get := func(bot *process, path string) string {
		t.Helper()
		_, text := sendRequest(t, "GET", bot.address+path, "", "Authorization", "Bearer "+webToken)
		return text
	}
	state := fmt.Sprintf(`{"name":"#gardenhour","state":"standby","detail":"node %s acts in it"}`, name)
	waitUntil(t, func() bool { return strings.Contains(get(standby, "api/v1/status"), state) })
	if text := get(leader, "api/v1/status"); strings.Contains(text, "standby") {
		t.Errorf("the leader says %s", text)
	}
	for number, bot := range []*process{standby, leader} {
		metric := fmt.Sprintf("chatguard_shared_leader{channel=%q} %d\n", twitch.UserID("gardenhour"), number)
		waitUntil(t, func() bool { return strings.Contains(get(bot, "metrics"), metric) })
	}
	if err := leader.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return strings.Contains(standby.log(), "acts in the channel now") })
	wantDeleted(say("anna"))
	if err := leader.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	wantDeleted(say("anna"))
	if err := standby.Process.Kill(); err != nil { // it leads now
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return strings.Count(leader.log(), "acts in the channel now") == 2 })
	last := say("anna")
	wantDeleted(last)
	ids := deleted()
	if slices.Sort(ids); len(ids) != len(slices.Compact(slices.Clone(ids))) {
		t.Errorf("a message was deleted twice: %v", ids)
	}
	for _, id := range ids {
		if !said[id] {
			t.Errorf("%s was deleted, and never said", id)
		}
	}
	leader.stop(t)
}
