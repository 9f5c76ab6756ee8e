package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/internal/limits"
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

// diagnoseSwaps is how many swaps Diagnose measures.
const diagnoseSwaps = 100

// Diagnose checks the server and the connection, for an operator. It takes about as long as 150
// round trips, and uses keys of its own. If the server can't be reached, the list is short.
func (s *Store) Diagnose(ctx context.Context) []Finding {
	d := diagnosis{server: s.server, writer: s.writer, registry: s.registry}
	d.run(ctx)
	return d.findings
}

// diagnosis is one run of Diagnose.
type diagnosis struct {
	server   *server
	writer   *writer
	registry *registry
	findings []Finding
}

func (d *diagnosis) run(ctx context.Context) {
	d.add(d.findReachable(ctx))
	if d.findings[0].Level == Problem {
		return
	}
	d.add(d.findEncryption(), d.findVersion(), d.findRights(ctx))
	d.add(d.findServerSettings(ctx)...)
	d.add(d.findReplicas(ctx)...)
	d.add(d.findLatency(ctx), d.findClock())
	d.add(d.findNodes(ctx)...)
}

func (d *diagnosis) add(found ...Finding) { d.findings = append(d.findings, found...) }

func (d *diagnosis) findReachable(ctx context.Context) Finding {
	ctx, cancel := withTimeout(ctx, d.server.options.connectTimeout())
	defer cancel()
	err := d.pingNow(ctx)
	if err == nil {
		return Finding{Name: "reachable", Text: d.server.where + " answers"}
	}
	if out := d.server.breaker.away.Load(); out != nil && d.server.client.Load() == nil {
		return Finding{Problem, "reachable", out.problem, "start the server, and check the URL and the firewall"}
	}
	problem, _ := d.server.explain.problem(err)
	return Finding{Problem, "reachable", problem, "start the server, and check the URL, the password and the firewall"}
}

func (d *diagnosis) pingNow(ctx context.Context) error {
	results, err := d.server.requestAnyway(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{b.Ping().Build()}
	})
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
			return Finding{Warning, f.Name, "the server's certificate isn't checked", "remove TLS.InsecureSkipVerify, and set " + d.server.options.nameOf("TLS.RootCAs")}
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

// findRights tries all commands on a key of its own.
func (d *diagnosis) findRights(ctx context.Context) Finding {
	key := d.server.keys.doctor()
	type command = rueidis.Completed
	set := key + ":set"
	trials := []struct {
		right string
		build func(b rueidis.Builder) command
	}{
		{"set", func(b rueidis.Builder) command { return b.Set().Key(key).Value("1").Px(time.Minute).Build() }},
		{"get", func(b rueidis.Builder) command { return b.Get().Key(key).Build() }},
		{"mget", func(b rueidis.Builder) command { return b.Mget().Key(key).Build() }},
		{"eval", func(b rueidis.Builder) command { return swapCommand(b, key, "1") }},
		{"evalsha", func(b rueidis.Builder) command {
			return b.Evalsha().Sha1(swapSHA).Numkeys(1).Key(key).Arg("", "1", "").Build()
		}},
		{"sadd", func(b rueidis.Builder) command { return b.Sadd().Key(set).Member("1").Build() }},
		{"smembers", func(b rueidis.Builder) command { return b.Smembers().Key(set).Build() }},
		{"srem", func(b rueidis.Builder) command { return b.Srem().Key(set).Member("1").Build() }},
		{"del", func(b rueidis.Builder) command { return b.Del().Key(key).Build() }},
		{"time", func(b rueidis.Builder) command { return b.Time().Build() }},
		{"publish", func(b rueidis.Builder) command {
			return b.Publish().Channel(d.server.keys.changes()).Message("row - - " + d.server.instance).Build()
		}},
	}
	var missing []string
	for _, trial := range trials {
		results, err := d.server.requestAnyway(ctx, func(b rueidis.Builder) []rueidis.Completed {
			return []rueidis.Completed{trial.build(b)}
		})
		if err != nil {
			return Finding{Problem, "rights", "the check wasn't completed: " + err.Error(), "run it again"}
		}
		if replyCode(results[0].Error()) == "NOPERM" {
			missing = append(missing, "+"+trial.right)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return Finding{Problem, "rights", fmt.Sprintf("the user %q lacks rights: %s", d.server.options.Username, strings.Join(missing, " ")),
			fmt.Sprintf("ACL SETUSER %s %s ~%s:* &%s:*", cmp.Or(d.server.options.Username, "default"), strings.Join(missing, " "), d.server.options.Namespace, d.server.options.Namespace)}
	}
	return Finding{Name: "rights", Text: "all commands are permitted"}
}

// findServerSettings reads INFO, which the user may have no right to.
func (d *diagnosis) findServerSettings(ctx context.Context) []Finding {
	results, err := d.server.requestAnyway(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{b.Info().Section("memory").Build(), b.Info().Section("persistence").Build()}
	})
	var memory, persistence string
	if err == nil {
		memory, err = results[0].ToString()
	}
	if err == nil {
		persistence, err = results[1].ToString()
	}
	if err != nil && replyCode(err) != "NOPERM" {
		problem, _ := d.server.explain.problem(err)
		return []Finding{{Warning, "eviction", "eviction and persistence weren't checked: " + problem, "run it again"}}
	}
	if err != nil {
		return []Finding{{Warning, "eviction", "the user has no right to INFO, so eviction and persistence aren't checked", "ACL SETUSER … +info, or set maxmemory-policy to noeviction"}}
	}
	return []Finding{findEviction(infoField(memory, "maxmemory_policy")), findPersistence(persistence)}
}

func findEviction(policy string) Finding {
	switch policy {
	case "noeviction", "volatile-ttl":
		return Finding{Name: "eviction", Text: "maxmemory-policy is " + policy}
	case "":
		return Finding{Warning, "eviction", "the server doesn't tell its maxmemory-policy", "set it to noeviction"}
	}
	level := Warning
	if strings.HasPrefix(policy, "allkeys-") {
		level = Problem
	}
	return Finding{level, "eviction", evictionText(policy), evictionFix}
}

func findPersistence(info string) Finding {
	f := Finding{Name: "persistence", Text: "append-only file: a crash of the server loses what appendfsync allows, by default the last second"}
	if infoField(info, "aof_enabled") == "1" {
		return f
	}
	f.Text = "no append-only file: a crash of the server loses everything since its last snapshot, if it makes any; running nodes restore the rows that they remember"
	if infoField(info, "rdb_last_bgsave_status") == "err" {
		return Finding{Warning, f.Name, "the server's last snapshot has failed", "see the server's log"}
	}
	return f
}

// findReplicas checks whether enough replicas confirm writes.
func (d *diagnosis) findReplicas(ctx context.Context) []Finding {
	if d.server.options.Replicas == 0 {
		return nil
	}
	option := d.server.options.nameOf("Replicas")
	f := Finding{Name: "replicas", Text: fmt.Sprintf("%d confirm swaps, as %s requires", d.server.options.Replicas, option)}
	switch confirmed, err := d.writer.replicas.count(ctx); {
	case err != nil:
		f = Finding{Problem, f.Name, withoutPrefix(err), "grant the user +wait, or set " + option + " to 0"}
	case confirmed < int64(d.server.options.Replicas):
		f = Finding{Warning, f.Name, fmt.Sprintf("%d of %d replicas confirm swaps, so a failover can lose more", confirmed, d.server.options.Replicas), "connect replicas, or lower " + option}
	}
	return []Finding{f}
}

// findLatency measures swaps, one after another.
func (d *diagnosis) findLatency(ctx context.Context) Finding {
	trips := make([]time.Duration, 0, diagnoseSwaps)
	key, was := d.server.keys.doctor(), ""
	for i := range diagnoseSwaps {
		began := time.Now()
		is := fmt.Sprintf("%s %d", d.server.instance, i)
		stored, done, err := d.writer.compareAndSet(ctx, key, was, is, time.Minute)
		if err != nil {
			return Finding{Problem, "latency", strings.TrimPrefix(err.Error(), "redisstore: "), "check the network and the server's load"}
		}
		trips = append(trips, time.Since(began))
		if was = is; !done {
			was = stored // another node's Diagnose is running
		}
	}
	d.writer.compareAndSet(ctx, key, was, "", 0) // otherwise it expires
	slices.Sort(trips)
	p50, p99 := trips[len(trips)/2], trips[len(trips)*99/100]
	f := Finding{Name: "latency", Text: fmt.Sprintf("%d swaps: median %s, 99%% within %s", len(trips), inMicroseconds(p50), inMicroseconds(p99))}
	if p99 > d.server.options.Timeout/2 {
		f.Level, f.Fix = Warning, fmt.Sprintf("move the server nearer, or raise %s, which is %s", d.server.options.nameOf("Timeout"), d.server.options.Timeout)
	}
	return f
}

func (d *diagnosis) findClock() Finding {
	offset, worst := d.server.clock.offset(), d.server.clock.error()
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	f := Finding{Name: "clock", Text: fmt.Sprintf("the server's clock is %s %s this machine's, measured to %s", inMicroseconds(offset.Abs()), direction, inMicroseconds(worst))}
	if offset > time.Second || offset < -time.Second {
		f.Level, f.Fix = Warning, "synchronise both clocks, for example with chrony; limits use the server's"
	}
	return f
}

// inMicroseconds formats a duration for people, rounded to 1 µs and with a space before the unit.
func inMicroseconds(d time.Duration) string {
	text := d.Round(time.Microsecond).String()
	if d < time.Second {
		unit := strings.IndexFunc(text, unicode.IsLetter)
		text = text[:unit] + " " + text[unit:]
	}
	return text
}

// findNodes lists the other nodes.
func (d *diagnosis) findNodes(ctx context.Context) []Finding {
	nodes, err := d.registry.list(ctx)
	if err != nil {
		return []Finding{{Problem, "nodes", strings.TrimPrefix(err.Error(), "redisstore: "), "run it again"}}
	}
	if len(nodes) == 0 {
		return []Finding{{Name: "nodes", Text: "no node is running"}}
	}
	var findings []Finding
	for _, node := range nodes {
		f := Finding{Name: "node " + printable(node.Name), Text: strings.TrimSpace(fmt.Sprintf("%s %s, since %s", printable(node.Version), printable(node.Mode), node.Started.UTC().Format(time.DateTime)))}
		if node.Version != "" && d.server.options.Version != "" && node.Version != d.server.options.Version {
			f.Level, f.Text, f.Fix = Warning, f.Text+", another version than this node's "+d.server.options.Version, "finish the update"
		}
		if !slices.Contains(node.Formats, rowFormat()) && len(node.Formats) > 0 {
			f.Level, f.Fix = Warning, "finish the update"
			f.Text += fmt.Sprintf(", doesn't read rows of format %d, which this version may write", rowFormat())
		}
		if slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == node.Name && n.Instance != node.Instance }) {
			f.Level, f.Fix = Warning, "set another "+d.server.options.nameOf("Node")
			f.Text += ", another node has the same name"
		}
		if i := slices.IndexFunc(nodes, func(n Node) bool { return n.Policy != "" }); i >= 0 && node.Policy != "" && node.Policy != nodes[i].Policy {
			f.Level, f.Fix = Warning, "deploy the same policy on all nodes"
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
