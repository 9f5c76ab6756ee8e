package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// registry lists this node at the server, and holds what Run has last seen of the other nodes.
type registry struct {
	server  *server
	writer  *writer
	notices *notices
	leases  *leases
	number  *number

	namesake  atomic.Bool      // another live node has the same name
	namesakes map[string]int64 // when instances with this node's name were first seen; only for Run

	unlisted atomic.Pointer[string] // why the last heartbeat has failed; nil if it hasn't

	beats int // how many heartbeats there were; only for Run

	otherPolicy atomic.Pointer[string] // the name of a node with another policy; nil if there is none
	disagreed   int                    // how many times in a row there was one; only for Run
	otherMode   atomic.Pointer[string] // says that a node has another mode; nil if there is none
}

// maxDisagreed is how many times in a row a node with another policy must be seen before Health
// reports it. Nodes that change their policy at the same moment update the list at different
// moments.
const maxDisagreed = 3

// maxRecord is the maximum length of a node's record in bytes. A node's own is much shorter.
const maxRecord = 1 << 16

// list returns the nodes whose Run is running, in the order of their names.
func (r *registry) list(ctx context.Context) ([]shared.Node, error) {
	ctx, cancel := withTimeout(ctx, r.server.options.listTimeout())
	defer cancel()
	found, err := r.read(ctx)
	return found.nodes, err
}

// registered is what the server has about nodes.
type registered struct {
	nodes      []shared.Node // that are live
	expired    []string      // IDs of nodes whose record has expired
	unreadable []string      // keys of records that another program has written
}

// read reads the list of nodes.
func (r *registry) read(ctx context.Context) (found registered, err error) {
	ids, err := r.server.members(ctx, r.server.keys.nodes())
	if err != nil {
		return found, err
	}
	texts, err := r.server.readAll(ctx, ids, r.server.keys.node)
	if err != nil {
		return found, err
	}
	for i, text := range texts {
		var node shared.Node
		switch {
		case text == "":
			found.expired = append(found.expired, ids[i])
		case len(text) > maxRecord || json.Unmarshal([]byte(text), &node) != nil || node.Name == "":
			found.unreadable = append(found.unreadable, r.server.keys.node(ids[i]))
		default:
			node.Self = node.Instance == r.server.instance
			found.nodes = append(found.nodes, node)
		}
	}
	slices.SortFunc(found.nodes, func(a, b shared.Node) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Instance, b.Instance))
	})
	return found, nil
}

// heartbeat finds out which problems are over, lists this node for 5 s, observes the others, checks
// the epoch, and renews the node's number. If that fails although the server answers, Health has
// the problem until the next heartbeat that succeeds.
func (r *registry) heartbeat(ctx context.Context, guard shared.Guard) error {
	if refused := r.server.refusing.Load(); refused != nil {
		r.writer.tryChange(ctx, refused.key)
	}
	r.server.checkOtherType(ctx)
	err := r.beat(ctx, guard)
	if err == nil {
		err = r.number.renew(ctx)
	}
	switch {
	case err == nil:
		r.unlisted.Store(nil)
	case !errors.Is(err, shared.ErrAway) && !errors.Is(err, shared.ErrUnconfirmed):
		problem := withoutPrefix(err)
		r.unlisted.Store(&problem)
		if r.server.refusing.Load() == nil {
			r.writer.tryChange(ctx, r.server.keys.node(r.id())) // are swaps refused, too?
		}
	}
	return err
}

func (r *registry) beat(ctx context.Context, guard shared.Guard) error {
	ctx, cancel := withTimeout(ctx, max(r.server.options.Timeout, heartbeatEvery/2))
	defer cancel()
	if known := r.server.known.Load(); known.made != r.server.conns.made.Load() {
		if err := r.server.examine(ctx); err != nil {
			return r.notListed(ctx, err)
		}
	}
	r.compareServers(guard)
	record, err := json.Marshal(r.self(guard))
	if err != nil {
		return fmt.Errorf("describe this node: %w", err)
	}
	r.beats++
	results, err := r.server.request(ctx,
		func(b builder) command {
			return b.Set().Key(r.server.keys.node(r.id())).Value(string(record)).Px(nodeExpires).Build()
		},
		func(b builder) command { return b.Sadd().Key(r.server.keys.nodes()).Member(r.id()).Build() },
		func(b builder) command { return b.Get().Key(r.server.keys.epoch()).Build() })
	if err != nil {
		return r.server.unknown(ctx, err)
	}
	if r.server.evicting.Load() != nil || r.beats%evictionBeats == 0 && !r.server.known.Load().noInfo {
		r.server.checkEviction(ctx)
	}
	for i, key := range []string{r.server.keys.node(r.id()), r.server.keys.nodes(), r.server.keys.epoch()} {
		if err := results[i].Error(); err != nil && !rueidis.IsRedisNil(err) {
			return r.notListed(ctx, r.server.named(ctx, err, key))
		}
	}
	if epoch, _ := results[2].ToString(); epoch != r.server.known.Load().epoch {
		if err := r.server.examine(ctx); err != nil {
			return r.notListed(ctx, err)
		}
		r.compareServers(guard)
	}
	return r.observe(ctx, guard)
}

// notListed is the error of a heartbeat.
func (r *registry) notListed(ctx context.Context, err error) error {
	_, lasting := r.server.explain.problem(err)
	switch code := replyCode(err); {
	case passing(code): // after examine has tried for as long as it can
		return r.server.changeRefused(err, r.server.keys.node(r.id()))
	case code == "" && !lasting:
		return r.server.unknown(ctx, err)
	}
	return r.server.refused(err)
}

// id returns this node's ID in the list of nodes. Nodes with the same name have different IDs.
func (r *registry) id() string { return r.server.options.Node + "." + r.server.instance }

// findNamesake notes whether another live node has this node's name. A crashed earlier process
// stays listed until its record expires. So an instance counts only if it is seen for longer.
func (r *registry) findNamesake(nodes []shared.Node) {
	now := r.server.since()
	seen, found := map[string]int64{}, false
	for _, node := range nodes {
		if node.Self || node.Name != r.server.options.Node {
			continue
		}
		first, known := r.namesakes[node.Instance]
		if !known {
			first = now
		}
		seen[node.Instance] = first
		found = found || now-first > int64(nodeExpires+heartbeatEvery)
	}
	r.namesakes = seen
	r.namesake.Store(found)
}

// compareServers makes the Guard read all rows again, and restore those that it remembers, if the
// server has lost data, restarted or been replaced since the last call.
func (r *registry) compareServers(guard shared.Guard) {
	if !r.server.restarted() {
		return
	}
	r.server.options.Logger.Warn("redisstore: the server has restarted, or its data was lost or replaced: this node gives back the rows that it remembers", "address", r.server.where)
	r.number.lost.Store(true)
	r.notices.invalidateAll(guard)
	guard.Heal()
	signal(r.notices.relisten)
}

// observe notes how many nodes there are, how wrong their clocks may be, and whether one has
// another policy. It removes the nodes that have expired.
func (r *registry) observe(ctx context.Context, guard shared.Guard) error {
	found, err := r.read(ctx)
	if err != nil {
		return err
	}
	nodes := found.nodes
	var worst time.Duration
	for _, node := range nodes {
		if !node.Self {
			worst = max(worst, node.Error)
		}
	}
	r.server.clock.others.Store(int64(min(worst, maxSkew)))
	r.findNamesake(nodes)
	r.comparePolicies(nodes, guard.PolicyHash())
	r.compareModes(nodes, guard.Mode())
	r.leases.see(nodes)
	if len(found.expired) == 0 {
		return nil
	}
	_, err = r.server.ask(ctx, func(b builder) command {
		return b.Srem().Key(r.server.keys.nodes()).Member(found.expired...).Build()
	})
	return err
}

// comparePolicies notes whether a node has another policy than this one.
func (r *registry) comparePolicies(nodes []shared.Node, hash string) {
	i := slices.IndexFunc(nodes, func(n shared.Node) bool { return !n.Self && n.PolicyHash != "" && n.PolicyHash != hash })
	if i < 0 {
		r.disagreed = 0
		r.otherPolicy.Store(nil)
		return
	}
	if r.disagreed++; r.disagreed >= maxDisagreed {
		r.otherPolicy.Store(&nodes[i].Name)
	}
}

// compareModes notes whether a node has another mode than this one.
func (r *registry) compareModes(nodes []shared.Node, mode shared.Mode) {
	i := slices.IndexFunc(nodes, func(n shared.Node) bool { return !n.Self && n.Mode != "" && n.Mode != mode })
	if i < 0 {
		r.otherMode.Store(nil)
		return
	}
	problem := fmt.Sprintf("node %s is %s and this node is %s: set the same mode on all nodes", printable(nodes[i].Name), printable(string(nodes[i].Mode)), mode)
	r.otherMode.Store(&problem)
}

// self describes this node.
func (r *registry) self(guard shared.Guard) shared.Node {
	node := shared.Node{
		Name: r.server.options.Node, Version: r.server.options.Version, Started: r.server.started.Round(0), Instance: r.server.instance,
		Mode: guard.Mode(), Offset: r.server.clock.offset(), Error: r.server.clock.error(), Counts: guard.Counts(), Number: -1,
	}
	if r.server.options.Describe != nil {
		r.server.options.Describe(&node)
	}
	node.Name, node.Instance, node.Number, node.Tasks = r.server.options.Node, r.server.instance, -1, int(r.leases.tasks.Load())
	node.Formats, node.PolicyHash = limits.RowFormats(), guard.PolicyHash()
	if number, ok := r.number.current(); ok {
		node.Number = number
	}
	return node
}

// deregister removes this node, so that the others needn't wait until it expires.
func (r *registry) deregister(ctx context.Context) {
	r.number.release(ctx)
	_, err := r.server.request(ctx,
		func(b builder) command { return b.Del().Key(r.server.keys.node(r.id())).Build() },
		func(b builder) command { return b.Srem().Key(r.server.keys.nodes()).Member(r.id()).Build() })
	if err != nil {
		r.server.options.Logger.Debug("redisstore: this node stays listed for 5 s", "problem", err)
	}
}
