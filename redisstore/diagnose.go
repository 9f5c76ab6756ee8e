package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Level says how serious a Finding is.
type Level int

const (
	// OK means that nothing needs to be done.
	OK Level = iota
	// Warning means that limits are shared, but something isn't as it should be.
	Warning
	// Problem means that limits aren't shared, or may be lost.
	Problem
)

// String returns "ok", "warning" or "problem".
func (l Level) String() string {
	switch l {
	case OK:
		return "ok"
	case Warning:
		return "warning"
	}
	return "problem"
}

// Finding is one result of Diagnose.
type Finding struct {
	Level Level
	Name  string // what was checked: "reachable", "encryption", "rights", …
	Text  string // what was found, in one line without secrets
	Fix   string // what to do; empty if nothing
}

// Diagnose checks the server and the connection, for an operator. It takes about as long as 150
// round trips, and uses separate keys. A Problem that lets later checks fail too, such as a server
// that can't be reached, is the last Finding.
func (s *Store) Diagnose(ctx context.Context) []Finding {
	d := diagnosis{s.server, s.writer, s.registry}
	findings := []Finding{d.findReachable(ctx)}
	if findings[0].Level == Problem {
		return findings
	}
	findings = append(findings, d.findEncryption(), d.findVersion(), d.findClock())
	findings = append(findings, d.findServerSettings(ctx)...)
	for _, find := range []func(context.Context) Finding{d.findRights, d.findLatency} {
		f := find(ctx)
		if findings = append(findings, f); f.Level == Problem {
			return findings
		}
	}
	findings = append(findings, d.findReplicas(ctx)...)
	return append(findings, d.findNodes(ctx)...)
}

// failed is the Finding of a check that failed. A problem ends with its fix.
func failed(level Level, name, problem string) Finding {
	f := Finding{level, name, problem, "try again in some seconds"}
	if at := strings.LastIndex(problem, ": "); at >= 0 {
		f.Text, f.Fix = problem[:at], problem[at+2:]
	}
	return f
}

// diagnosis makes the findings of Diagnose.
type diagnosis struct {
	server   *server
	writer   *writer
	registry *registry
}

func (d *diagnosis) findReachable(ctx context.Context) Finding {
	ctx, cancel := withTimeout(ctx, d.server.options.connectTimeout())
	defer cancel()
	err := d.pingNow(ctx)
	if err == nil {
		return Finding{Name: "reachable", Text: d.server.where + " answers"}
	}
	if out := d.server.breaker.away.Load(); out != nil && d.server.client.Load() == nil {
		return failed(Problem, "reachable", out.problem)
	}
	problem, _ := d.server.explain.problem(err)
	return failed(Problem, "reachable", problem)
}

func (d *diagnosis) pingNow(ctx context.Context) error {
	results, err := d.server.requestAnyway(ctx, ping)
	if err != nil {
		return err
	}
	if err := results[0].Error(); err != nil {
		return err
	}
	if d.server.known.Load() == nil {
		return d.server.connect(ctx)
	}
	return nil
}

func (d *diagnosis) findEncryption() Finding {
	f := Finding{Name: "encryption", Text: "the connection is encrypted"}
	if d.server.options.TLS != nil {
		if d.server.options.TLS.InsecureSkipVerify {
			return Finding{Warning, f.Name, "the server's certificate isn't checked", "remove " + d.server.options.nameOf("TLS") + ".InsecureSkipVerify, and set " + d.server.options.nameOf("TLS.RootCAs")}
		}
		return f
	}
	for _, host := range d.server.address.hosts {
		if !loopback(host) {
			return Finding{Warning, f.Name, "the connection to " + host + " isn't encrypted", "write rediss:// and enable TLS at the server"}
		}
	}
	f.Text = "the server is on this machine, without encryption"
	return f
}

func (d *diagnosis) findVersion() Finding {
	known := d.server.known.Load()
	f := Finding{Name: "version", Text: known.name + ", swaps by SET with IFEQ"}
	if !known.ifEqual {
		f.Text = known.name + ", swaps by script (Valkey 8.1 and Redis 8.4 need half the time)"
	}
	return f
}

// findRights tries all commands on a separate key.
func (d *diagnosis) findRights(ctx context.Context) Finding {
	ctx, cancel := withTimeout(ctx, d.server.options.listTimeout())
	defer cancel()
	key := d.server.keys.doctor()
	set := key + ":set"
	type trial struct {
		right string
		build build
	}
	trials := []trial{
		{"set", func(b builder) command { return b.Set().Key(key).Value("1").Px(time.Minute).Build() }},
		{"get", func(b builder) command { return b.Get().Key(key).Build() }},
		{"mget", func(b builder) command { return b.Mget().Key(key).Build() }},
		{"eval", func(b builder) command { return swapCommand(b, key, "", "1") }},
		{"evalsha", func(b builder) command {
			return b.Evalsha().Sha1(swapSHA).Numkeys(1).Key(key).Arg("", "1", "").Build()
		}},
		{"sadd", func(b builder) command { return b.Sadd().Key(set).Member("1").Build() }},
		{"smembers", func(b builder) command { return b.Smembers().Key(set).Build() }},
		{"srem", func(b builder) command { return b.Srem().Key(set).Member("1").Build() }},
		{"del", func(b builder) command { return b.Del().Key(key).Build() }},
		{"time", func(b builder) command { return b.Time().Build() }},
		{"publish", func(b builder) command {
			return b.Publish().Channel(d.server.keys.changes()).Message("row - - " + d.server.instance).Build()
		}},
	}
	if d.server.options.Replicas > 0 {
		trials = append(trials, trial{"wait", func(b builder) command { return b.Wait().Numreplicas(0).Timeout(1).Build() }})
	}
	var missing []string
	for _, trial := range trials {
		results, err := d.server.requestAnyway(ctx, trial.build)
		if err != nil {
			problem, _ := d.server.explain.problem(err)
			return failed(Problem, "rights", problem)
		}
		if replyCode(results[0].Error()) == "NOPERM" {
			missing = append(missing, "+"+trial.right)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		user := d.server.options.user()
		return Finding{Problem, "rights", fmt.Sprintf("the user %q lacks rights: %s", user, strings.Join(missing, " ")),
			fmt.Sprintf("ACL SETUSER %s %s ~%s:* &%s:*", user, strings.Join(missing, " "), d.server.options.Namespace, d.server.options.Namespace)}
	}
	return Finding{Name: "rights", Text: "all commands are permitted"}
}

// findNodes lists the nodes.
func (d *diagnosis) findNodes(ctx context.Context) []Finding {
	ctx, cancel := withTimeout(ctx, d.server.options.listTimeout())
	defer cancel()
	found, err := d.registry.read(ctx)
	if err != nil {
		return []Finding{failed(Problem, "nodes", withoutPrefix(err))}
	}
	var findings []Finding
	for _, key := range found.unreadable {
		findings = append(findings, Finding{Warning, "nodes", printable(key) + " wasn't written by a node", "delete it at the server"})
	}
	nodes := found.nodes
	if len(nodes) == 0 {
		return append(findings, Finding{Name: "nodes", Text: "no node is running"})
	}
	for _, node := range nodes {
		f := Finding{Name: "node " + printable(node.Name), Text: strings.TrimSpace(fmt.Sprintf("%s %s, since %s", printable(node.Version), printable(string(node.Mode)), node.Started.UTC().Format(time.DateTime)))}
		if node.Version != "" && d.server.options.Version != "" && node.Version != d.server.options.Version {
			f.Level, f.Text, f.Fix = Warning, f.Text+", another version than this node's "+d.server.options.Version, "finish the update"
		}
		if !slices.Contains(node.Formats, rowFormat()) && len(node.Formats) > 0 {
			f.Level, f.Fix = Warning, "finish the update"
			f.Text += fmt.Sprintf(", doesn't read rows of format %d, which this version may write", rowFormat())
		}
		if slices.ContainsFunc(nodes, func(n shared.Node) bool { return n.Name == node.Name && n.Instance != node.Instance }) {
			f.Level, f.Fix = Warning, "set another "+d.server.options.nameOf("Node")
			f.Text += ", another node has the same name"
		}
		if i := slices.IndexFunc(nodes, func(n shared.Node) bool { return n.Mode != "" }); i >= 0 && node.Mode != "" && node.Mode != nodes[i].Mode {
			f.Level, f.Fix = Warning, "set the same mode on all nodes"
			f.Text += ", another mode than node " + printable(nodes[i].Name) + "'s"
		}
		if i := slices.IndexFunc(nodes, func(n shared.Node) bool { return n.PolicyHash != "" }); i >= 0 && node.PolicyHash != "" && node.PolicyHash != nodes[i].PolicyHash {
			f.Level, f.Fix = Warning, "deploy the same policy on all nodes, with the same key of texts"
			f.Text += ", another policy than node " + printable(nodes[i].Name) + "'s"
		}
		findings = append(findings, f)
	}
	return findings
}

// rowFormat returns the latest version of rows that this program writes.
func rowFormat() int {
	formats := limits.RowFormats()
	return formats[len(formats)-1]
}
