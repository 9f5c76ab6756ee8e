package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/live"
)

// patience is a timeout that a busy machine keeps, the longest that there is. With impatience, a
// store that is away is noticed soon, and so is one on a busy machine.
const (
	patience   = 10 * time.Second
	impatience = 500 * time.Millisecond
)

// sharedTable is the configuration of a node that shares limits over a server.
func sharedTable(server *redistest.Server, node string) string {
	return sharedTableWith(server, node, patience)
}

func sharedTableWith(server *redistest.Server, node string, timeout time.Duration) string {
	return fmt.Sprintf("\n[shared]\nmode = \"exact\"\nurl = %q\nnode = %q\ntimeout = %q\n", server.URL(), node, timeout)
}

// startSharedRooms starts two nodes that servers ask. Both have the same tokens.
func startSharedRooms(t *testing.T, server *redistest.Server, timeout time.Duration) []*roomServer {
	t.Helper()
	return startRooms(t, roomsConfig, []string{sharedTableWith(server, "node-0", timeout), sharedTableWith(server, "node-1", timeout)}, nil)
}

func stopAll(t *testing.T, nodes []*roomServer) {
	t.Helper()
	for _, n := range nodes {
		n.stop(t)
	}
}

// get returns the answer to the owner.
func (s *roomServer) get(path string) (status int, text string) {
	s.Helper()
	answer, text := sendRequest(s.T, "GET", s.address+path, "", "Authorization", "Bearer "+s.owner)
	return answer.StatusCode, text
}

// awaitGet sends messages of anna, and asks, until the answer contains a text.
func (s *roomServer) awaitGet(path, want string) {
	s.Helper()
	waittest.Until(s.T, func() bool {
		s.verdict("anna")
		status, text := s.get(path)
		return status == http.StatusOK && strings.Contains(text, want)
	})
}

// verdict asks whether a user may write, and returns the answer.
func (s *roomServer) verdict(user string) (status int, degraded bool) {
	s.Helper()
	answer, text := sendRequest(s.T, "POST", s.address+"api/v1/check", fmt.Sprintf(`{"channel":"hall","user_id":%q}`, user), "Authorization", s.server)
	return answer.StatusCode, decode[struct{ Degraded bool }](s.T, text).Degraded
}

// Two nodes that answer for one chat allow what one would. People's changes on one are in force on
// the other.
func TestShared_TwoNodes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	nodes := startSharedRooms(t, server, patience)
	var list web.Nodes
	waittest.Until(t, func() bool {
		nodes[0].sendAsOwner("GET", "nodes", &list)
		return len(list.List) == 2
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
	nodes[0].turn("pause", http.StatusOK)
	waittest.Until(t, func() bool { status, _ := nodes[1].verdict("anna"); return status == http.StatusOK })
	nodes[0].turn("resume", http.StatusOK)
	waittest.Until(t, func() bool { status, _ := nodes[1].verdict("anna"); return status == http.StatusTooManyRequests })
	for _, name := range []string{
		"chatguard_shared_up 1", "chatguard_shared_nodes 2", "chatguard_shared_offline_messages_total",
		"# TYPE chatguard_shared_exchanged_rows_total counter\nchatguard_shared_exchanged_rows_total ", "# TYPE chatguard_shared_lost_rows_total counter\nchatguard_shared_lost_rows_total 0\n",
		`chatguard_shared_swaps_total{result="done"}`, `chatguard_shared_swaps_total{result="conflict"}`,
		`chatguard_shared_swaps_total{result="again"}`, `chatguard_shared_swaps_total{result="error"}`,
		"# TYPE chatguard_shared_swap_duration_seconds histogram\nchatguard_shared_swap_duration_seconds_bucket{le=\"0.0001\"} ",
		"chatguard_shared_swap_duration_seconds_sum ", "chatguard_shared_exchange_duration_seconds_count ", `chatguard_shared_exchange_rows_bucket{le="+Inf"} `,
	} {
		nodes[0].awaitGet("metrics", name)
	}
	stopAll(t, nodes)
}

// turn pauses or resumes the channel.
func (s *roomServer) turn(what string, want int) {
	s.Helper()
	answer, text := sendRequest(s.T, "POST", s.address+"api/v1/channels/check:hall/"+what, "", "Authorization", "Bearer "+webToken)
	if answer.StatusCode != want {
		s.Fatalf("%s: %s %s", what, answer.Status, text)
	}
}

// While the store is gone, both nodes answer by what they know, and nobody can change anything.
func TestShared_StoreAway(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs several nodes for seconds")
	}
	t.Parallel()
	server := redistest.Start(t)
	nodes := startSharedRooms(t, server, impatience)
	for _, n := range nodes {
		waittest.Until(t, func() bool { status, _ := n.verdict("anna"); return status == http.StatusTooManyRequests })
	}
	server.Kill()
	for _, n := range nodes {
		waittest.Until(t, func() bool { _, degraded := n.verdict("carl"); return degraded })
		n.awaitGet("readyz", "shared store: away since")
		if status, _ := n.verdict("anna"); status != http.StatusTooManyRequests {
			t.Errorf("anna while the store is gone: %d", status)
		}
	}
	nodes[0].turn("pause", http.StatusServiceUnavailable)
	server.Start()
	for _, n := range nodes {
		waittest.Until(t, func() bool { _, degraded := n.verdict("carl"); return !degraded })
		if status, _ := n.verdict("anna"); status != http.StatusTooManyRequests {
			t.Errorf("anna after the store came back empty: %d", status)
		}
	}
	stopAll(t, nodes)
}

// While the server refuses changes, a node says so, with the fix, also a node that starts
// meanwhile.
func TestShared_MemoryFull(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	nodes := startSharedRooms(t, server, patience)
	for _, n := range nodes {
		n.verdict("anna")
		n.turn("pause", http.StatusOK)
		n.turn("resume", http.StatusOK)
	}
	sendCommand(t, server, "CONFIG SET maxmemory 1")
	nodes[1].stop(t)
	nodes[1].start()
	for _, node := range nodes {
		node.awaitGet("readyz", "the server's memory is full: raise maxmemory\"],\"status\":\"degraded\"}")
		node.awaitGet("api/v1/nodes", `"up":true,"refusing":true,`)
		node.awaitGet("metrics", "\nchatguard_shared_refusing 1\n")
		node.turn("pause", http.StatusServiceUnavailable)
		answer, text := sendRequest(t, "POST", node.address+"api/v1/channels/check:hall/users/check:anna/reset", "", "Authorization", "Bearer "+webToken)
		if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "The shared store refuses changes: nothing was changed.") {
			t.Errorf("a reset: %s %s", answer.Status, text)
		}
		const problem = "the server's memory is full"
		if r := runShared(t, node.configuration, "", "doctor"); r.code != exitFailed || strings.Count(r.out, problem) != 1 || !strings.Contains(r.complaint, "1 problem found") {
			t.Errorf("the doctor: %+v", r)
		}
		if out := runBeside(t, node.configuration, "nodes"); !strings.Contains(out, "The store refuses changes, so nodes that run may be missing here: "+server.Addr()+": "+problem+": raise maxmemory") || strings.Contains(out, "No nodes") {
			t.Errorf("chatguard nodes: %s", out)
		}
	}
	sendCommand(t, server, "CONFIG SET maxmemory 0")
	for _, node := range nodes {
		node.awaitGet("readyz", `{"status":"ok"}`)
		node.awaitGet("metrics", "\nchatguard_shared_refusing 0\n")
	}
}

// sendCommand sends a command to the server, which must answer OK.
func sendCommand(t *testing.T, server *redistest.Server, command string) {
	t.Helper()
	c, err := net.Dial("tcp", server.Addr())
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "%s\r\n", command)
	must(t, err)
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "+OK\r\n" {
		t.Fatalf("%s: %q, %v", command, line, err)
	}
}

func (s *roomServer) metrics() string {
	s.Helper()
	_, text := s.get("metrics")
	return text
}

// A node that starts later knows what people have changed in its channels before the first message.
func TestShared_ChangesKnownAtStart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	rooms := strings.Replace(roomsConfig, `["Lobby"]`, `["Lobby", "hall"]`, 1)
	startNode := func(name string) *roomServer {
		return startRooms(t, rooms, []string{sharedTable(server, name)}, nil)[0]
	}
	first := startNode("first")
	first.turn("pause", http.StatusOK)
	later := startNode("later")
	waittest.Until(t, func() bool {
		var got struct{ Channels []live.Channel }
		later.sendAsOwner("GET", "channels", &got)
		return slices.ContainsFunc(got.Channels, func(c live.Channel) bool { return c.ID == app.RoomID("hall") && c.PausedBy != "" })
	})
	stopAll(t, []*roomServer{first, later})
}

// sharedRun is the outcome of a command line.
type sharedRun struct {
	out, complaint string
	code           int
}

// storePassword is the store's password in these tests, which no output may contain.
const storePassword = "rosebud-1941"

// checkShared runs a command without the store's password. It must end with this exit code. Its
// complaint, or the doctor's output, must contain these texts.
func checkShared(t *testing.T, configuration, command string, code int, texts ...string) {
	t.Helper()
	r := runShared(t, configuration, "", command)
	said := r.complaint
	if command == "doctor" {
		said = r.out
	}
	if r.code != code || slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(said, text) }) {
		t.Errorf("%s: %+v, want %d and %q", command, r, code, texts)
	}
}

// runShared runs a command line with the store's password, and checks that it prints none.
func runShared(t *testing.T, configuration, password string, args ...string) (r sharedRun) {
	t.Helper()
	command := commandLine(t, append(args, "--config", configuration)...)
	command.Env = append(command.Env, "CHATGUARD_SHARED_PASSWORD="+password)
	r.out, r.complaint, r.code = runToEnd(t, command)
	for _, secret := range []string{storePassword, password} {
		if secret != "" && strings.Contains(r.out+r.complaint, secret) {
			t.Errorf("%v prints the password: %+v", args, r)
		}
	}
	return r
}

// writeRooms writes a configuration for rooms with more tables, and returns its path.
func writeRooms(t *testing.T, path, more string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(roomsConfig+more), 0o600))
	return path
}
