//go:build !race

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

// checkExport checks that `shared export` writes the rows of anna and bob.
func checkExport(t *testing.T, configuration string) {
	t.Helper()
	var users []string
	r := runShared(t, configuration, storePassword, "shared", "export")
	for line := range strings.Lines(r.out) {
		var row exportedRow
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Row == nil || row.ChannelID != "check:hall" || row.Row.Limits[0].Name != "burst" {
			t.Errorf("%s, %v", line, err)
		}
		users = append(users, row.UserID)
	}
	if slices.Sort(users); fmt.Sprint(users) != "[check:anna check:bob]" {
		t.Errorf("exported %v: %+v", users, r)
	}
}

// TestShared_Commands switches a node to a shared store: `seed` keeps what users have spent,
// `nodes` lists the nodes, `export` shows rows, and `forget` deletes them.
func TestShared_Commands(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", storePassword)
	configuration := filepath.Join(t.TempDir(), "chatguard.toml")
	alone := &roomServer{T: t, configuration: writeRooms(t, configuration, ""), owner: webToken}
	alone.start()
	for _, user := range []string{"anna", "anna", "anna", "bob"} {
		alone.check("hall", user, http.StatusOK)
	}
	alone.check("hall", "anna", http.StatusTooManyRequests)

	table := sharedTable(server, "first")
	writeRooms(t, configuration, table)
	if r := runShared(t, configuration, storePassword, "shared", "seed"); r.code != exitFailed || !strings.Contains(r.complaint, "stop") {
		t.Errorf("while chatguard runs: %+v", r)
	}
	alone.stop(t)
	gives := func(line string, want sharedRun) {
		t.Helper()
		if r := runShared(t, configuration, storePassword, strings.Fields(line)...); r != want {
			t.Errorf("%s: %+v, want %+v", line, r, want)
		}
	}
	gives("shared seed --dry-run", sharedRun{out: "Would copy 2 rows; the store already has 0.\n"})
	gives("shared seed", sharedRun{out: "Copied 2 rows; the store already has 0.\n"})
	gives("shared seed", sharedRun{out: "Copied 0 rows; the store already has 2.\n"})
	gives("nodes", sharedRun{out: "No nodes. `chatguard run` adds one.\n"})
	gives("nodes --json", sharedRun{out: "{\"nodes\":[]}\n"})
	// Another node, with a database of its own, continues where the first ended.
	other := &roomServer{T: t, configuration: filepath.Join(t.TempDir(), "other.toml"), owner: webToken, env: []string{"CHATGUARD_SHARED_PASSWORD=" + storePassword}}
	writeRooms(t, other.configuration, strings.Replace(table, `"first"`, `"second"`, 1))
	other.start()
	other.check("hall", "anna", http.StatusTooManyRequests)
	other.check("hall", "bob", http.StatusOK)
	var list struct{ Nodes []shared.Node }
	waittest.Until(t, func() bool {
		r := runShared(t, configuration, storePassword, "nodes", "--json")
		return json.Unmarshal([]byte(r.out), &list) == nil && len(list.Nodes) == 1
	})
	if n := list.Nodes[0]; n.Name != "second" || n.Mode != "exact" || n.Started.IsZero() || n.Address == "" || n.PolicyHash == "" || len(n.Formats) == 0 {
		t.Errorf("%+v", n)
	}
	if r := runShared(t, configuration, storePassword, "nodes"); !strings.HasPrefix(r.out, "name ") || !strings.Contains(r.out, "\nsecond ") {
		t.Errorf("%+v", r)
	}
	checkExport(t, configuration)
	if r := runShared(t, configuration, storePassword, "shared", "export", "check:bob"); strings.Count(r.out, "\n") != 1 || !strings.Contains(r.out, "check:bob") {
		t.Errorf("%+v", r)
	}
	gives("shared forget check:anna", sharedRun{out: "Deleted 1 row of check:anna.\n"})
	noBob := sharedRun{complaint: "chatguard: the shared store has no rows of bob: IDs of a server's users begin with \"check:\" (check:bob)\n", code: exitFailed}
	gives("shared export bob", noBob)
	gives("shared forget bob", noBob)
	gives("shared forget check:nobody", sharedRun{complaint: "chatguard: the shared store has no rows of check:nobody\n", code: exitFailed})
	waittest.Until(t, func() bool {
		answer, _ := sendRequest(t, "POST", other.address+"api/v1/check", `{"channel":"hall","user_id":"anna"}`, "Authorization", other.server)
		return answer.StatusCode == http.StatusOK
	})
	other.check("hall", "bob", http.StatusOK)
	other.check("hall", "bob", http.StatusTooManyRequests)
	if r := runShared(t, other.configuration, storePassword, "doctor"); r.code != 0 || !strings.Contains(r.out, "shared store   reachable: "+server.Addr()+" answers") ||
		!strings.Contains(r.out, "node second") {
		t.Errorf("%+v", r)
	}
	other.stop(t)
	if strings.Contains(other.log(), storePassword) {
		t.Errorf("the password is in the log:\n%s", other.log())
	}
}

// TestShared_Refused checks that a mistake is one line with the fix and an exit code, and that the
// doctor names it, too.
func TestShared_Refused(t *testing.T) {
	t.Parallel()
	locked := redistest.Start(t, "--requirepass", storePassword)
	other := redistest.Start(t)
	configuration := filepath.Join(t.TempDir(), "chatguard.toml")
	use := func(table string) { writeRooms(t, configuration, "\n[shared]\n"+table) }
	at := func(server *redistest.Server, more string) string {
		return fmt.Sprintf("mode = \"exact\"\nurl = %q\n%s", server.URL(), more)
	}
	use(at(other, ""))
	checkShared(t, configuration, "nodes", 0) // stores the namespace's format
	for name, c := range map[string]struct{ table, password, want string }{
		"wrong password":    {at(locked, ""), "xanadu-1797", "shared.url: " + locked.Addr() + ": the user name or password is wrong: correct CHATGUARD_SHARED_PASSWORD"},
		"no password":       {at(locked, ""), "", "the server asks for a password: set CHATGUARD_SHARED_PASSWORD"},
		"no TLS":            {"mode = \"exact\"\nurl = \"redis://10.0.0.7\"", "", "shared.url: 10.0.0.7 is another machine, and the connection isn't encrypted: write rediss://"},
		"other format":      {at(other, "placement = \"together\""), "", "use the same on all nodes, or another shared.namespace"},
		"no certificates":   {"mode = \"exact\"\nurl = \"rediss://127.0.0.1:1\"\ntls_ca = \"none.pem\"", "", "shared.tls_ca: "},
		"password in a URL": {"mode = \"exact\"\nurl = \"redis://:xanadu-1797@127.0.0.1\"", "xanadu-1797", "shared.url: a password doesn't belong here"},
	} {
		use(c.table)
		for _, args := range [][]string{{"run"}, {"nodes"}, {"shared", "seed"}, {"shared", "export"}} {
			if args[0] == "shared" && args[1] == "seed" {
				// It needs a database before it looks at the store.
				must(t, os.WriteFile(filepath.Join(filepath.Dir(configuration), "chatguard.db"), nil, 0o600))
			}
			r := runShared(t, configuration, c.password, args...)
			lines := strings.Split(strings.TrimSpace(r.complaint), "\n")
			if r.code != exitUsage || !strings.Contains(lines[len(lines)-1], c.want) || strings.Count(r.complaint, "chatguard: ") != 1 {
				t.Errorf("%s: %v: %+v, want %q", name, args, r, c.want)
			}
		}
	}
	use("mode = \"off\"")
	checkShared(t, configuration, "nodes", exitUsage, `shared.mode: is "off", so there is no shared store`)
	use(at(locked, ""))
	if r := runShared(t, configuration, "xanadu-1797", "doctor"); r.code != exitFailed || !strings.Contains(r.out, "problem  shared store") || !strings.Contains(r.out, "CHATGUARD_SHARED_PASSWORD") {
		t.Errorf("%+v", r)
	}
	other.Kill()
	use(at(other, ""))
	for _, args := range [][]string{{"nodes"}, {"shared", "export"}, {"shared", "forget", "anna"}, {"shared", "seed"}} {
		if r := runShared(t, configuration, "", args...); r.code != exitFailed || !strings.Contains(r.complaint, "the shared store is away: "+other.Addr()) || strings.Count(r.complaint, "\n") != 1 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	checkShared(t, configuration, "doctor", exitFailed, "problem  shared store   reachable: ")
}

// TestShared_Shares runs a node that has half of every limit. A reload applies half of the new
// numbers, and the mode needs a restart.
func TestShared_Shares(t *testing.T) {
	t.Parallel()
	configuration := filepath.Join(t.TempDir(), "chatguard.toml")
	const lobby = "[[channel.lobby.limit]]\nname = \"slow\"\nalgorithm = \"token-bucket\"\nburst = 2\nrefill = \"1h\"\n"
	write := func(burst int, table string) {
		text := strings.Replace(roomsConfig[:strings.Index(roomsConfig, "[[channel.lobby")], "burst = 3", fmt.Sprint("burst = ", burst), 1)
		must(t, os.WriteFile(configuration, []byte(text+lobby+table), 0o600))
	}
	const half = "[shared]\nmode = \"shares\"\nshare = 0.5\n"
	write(5, half)
	s := &roomServer{T: t, configuration: configuration, owner: webToken}
	s.start()
	s.check("Lobby", "anna", http.StatusOK)
	s.check("Lobby", "anna", http.StatusTooManyRequests)
	for range 2 {
		s.check("hall", "anna", http.StatusOK)
	}
	s.check("hall", "anna", http.StatusTooManyRequests)
	write(8, "[shared]\nmode = \"off\"\n")
	if said := runBeside(t, configuration, "reload"); !strings.Contains(said, "Needs a restart: shared.mode, shared.share") {
		t.Error(said)
	}
	for range 4 {
		s.check("hall", "bob", http.StatusOK)
	}
	s.check("hall", "bob", http.StatusTooManyRequests)
	write(1, "")
	checkShared(t, configuration, "reload", exitFailed, `limit "burst": a share of 0.5 is less than one message`)
	write(1, half)
	checkShared(t, configuration, "run", exitUsage, `shared.share: limit "burst": a share of 0.5 is less than one message`)
	s.stop(t)
}

// TestDisagreements checks the lines below the table of nodes.
func TestDisagreements(t *testing.T) {
	node := func(name, policy, mode string) shared.Node {
		return shared.Node{Name: name, PolicyHash: policy, Mode: shared.Mode(mode)}
	}
	for _, c := range []struct {
		nodes []shared.Node
		want  []string
	}{
		{nil, nil},
		{[]shared.Node{node("node-1", "a", "exact"), node("node-2", "a", "exact"), node("node-3", "", "")}, nil},
		{
			[]shared.Node{node("node-1", "a", "exact"), node("node-2", "b", "exact"), node("node-3", "c", "exact")},
			[]string{"node-2 has another policy than node-1: deploy the same policy on all nodes, with the same key of texts"},
		},
		{
			[]shared.Node{node("node-1", "a", "exact"), node("node-2", "a", "synchronised")},
			[]string{"node-1 is exact and node-2 is synchronised: set the same mode on all nodes"},
		},
		{
			[]shared.Node{node("node-1", "a", "exact"), node("node-1", "a", "exact")},
			[]string{"two nodes are named node-1: set another shared.node on one of them"},
		},
	} {
		if got := disagreements(c.nodes); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.nodes, got, c.want)
		}
		var table, below strings.Builder
		if err := errors.Join(printNodes(&table, c.nodes), printDisagreements(&below, c.nodes, shared.Health{})); err != nil || strings.Count(below.String(), "\n") != len(c.want) {
			t.Errorf("%v, %q", err, below.String())
		}
	}
}
