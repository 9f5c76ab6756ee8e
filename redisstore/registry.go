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
)

const (
	heartbeatEvery = time.Second
	nodeExpires    = 5 * time.Second
)

// Node is what the nodes of a namespace know of each other. Options.Describe completes what a Store
// can't know: Address, Mode and Figures.
type Node struct {
	Name    string    `json:"name"`
	Version string    `json:"version,omitempty"`
	Address string    `json:"address,omitempty"` // where people reach the node
	Mode    string    `json:"mode,omitempty"`    // how the node shares limits
	Formats []int     `json:"formats,omitempty"` // the versions of rows that the node reads
	Policy  string    `json:"policy,omitempty"`  // see Guard.PolicyHash
	Number  int       `json:"number"`            // see Store.Number; -1 if it has none
	Tasks   int       `json:"tasks,omitempty"`   // how many Leaderships of the node are running
	Started time.Time `json:"started"`
	// Offset is the server's clock minus the node's. Error is how far the clock that the node uses
	// may be from the server's.
	Offset  time.Duration    `json:"offset_ns"`
	Error   time.Duration    `json:"error_ns"`
	Figures map[string]int64 `json:"figures,omitempty"` // what the program counts

	Instance string `json:"instance"` // random: a process and its successor have different ones
	Self     bool   `json:"-"`        // this node
}

// registry is what Run has last seen of the other nodes.
type registry struct {
	nodes    atomic.Int64 // how many are live, with this one
	namesake atomic.Bool  // another live node has the same name

	namesakes map[string]int64 // when instances with this node's name were first seen; only for Run

	compared atomic.Pointer[server] // the server of the last heartbeat; before one, the first server

	refusing atomic.Pointer[string] // why the server refuses to list this node; nil if it doesn't

	otherPolicy atomic.Pointer[string] // the name of a node with another policy; nil if there is none
	disagreed   int                    // how often in succession there was one; only for Run
}

// maxDisagreed is how often in succession another node may have another policy. Nodes that change
// their policy at the same moment aren't listed with it at the same moment.
const maxDisagreed = 3

// Nodes returns the nodes whose Run is running, in the order of their names. A node that has
// crashed disappears after 5 s.
func (s *Store) Nodes(ctx context.Context) ([]Node, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	ctx, cancel := withTimeout(ctx, s.options.listTimeout())
	defer cancel()
	nodes, _, err := s.readNodes(ctx)
	return nodes, err
}

// readNodes returns the live nodes, and the IDs of those that have expired.
func (s *Store) readNodes(ctx context.Context) (nodes []Node, expired []string, err error) {
	results, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{b.Smembers().Key(s.keys.nodes()).Build()}
	})
	if err != nil {
		return nil, nil, s.unknown(ctx, &change{cause: err})
	}
	ids, err := results[0].AsStrSlice()
	if err != nil {
		return nil, nil, s.refused(err)
	}
	texts, err := s.readAll(ctx, ids, s.keys.node)
	if err != nil {
		return nil, nil, err
	}
	for i, text := range texts {
		var node Node
		if text == "" {
			expired = append(expired, ids[i])
		} else if json.Unmarshal([]byte(text), &node) == nil {
			node.Self = node.Instance == s.instance
			nodes = append(nodes, node)
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Instance, b.Instance))
	})
	return nodes, expired, nil
}

// readAll returns the values of many keys, in the order of the names. A missing one is empty.
func (s *Store) readAll(ctx context.Context, names []string, key func(string) string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	inCluster := s.address.kind == cluster
	results, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = key(name)
		}
		if !inCluster {
			return []rueidis.Completed{b.Mget().Key(all...).Build()}
		}
		commands := make([]rueidis.Completed, len(all)) // MGET can't span slots
		for i := range all {
			commands[i] = b.Get().Key(all[i]).Build()
		}
		return commands
	})
	if err != nil {
		return nil, s.unknown(ctx, &change{cause: err})
	}
	values := make([]string, len(names))
	if inCluster {
		for i, result := range results {
			if values[i], err = result.ToString(); err != nil && !rueidis.IsRedisNil(err) {
				return nil, s.refused(err)
			}
		}
		return values, nil
	}
	list, err := results[0].ToArray()
	if err != nil {
		return nil, s.refused(err)
	}
	for i := range min(len(values), len(list)) {
		values[i], _ = list[i].ToString() // a missing value, or one of another type
	}
	return values, nil
}

// heartbeat registers this node for 5 s, looks at the others, and checks the epoch.
func (s *Store) heartbeat(ctx context.Context, guard Guard) error {
	ctx, cancel := withTimeout(ctx, max(s.options.Timeout, heartbeatEvery/2))
	defer cancel()
	if known := s.server.Load(); known.made != s.conns.made.Load() {
		if err := s.examine(ctx); err != nil {
			return s.notListed(ctx, err)
		}
	}
	s.compareServers(guard)
	record, err := json.Marshal(s.self(guard))
	if err != nil {
		return fmt.Errorf("describe this node: %w", err)
	}
	results, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{
			b.Set().Key(s.keys.node(s.id())).Value(string(record)).Px(nodeExpires).Build(),
			b.Sadd().Key(s.keys.nodes()).Member(s.id()).Build(),
			b.Get().Key(s.keys.epoch()).Build(),
		}
	})
	if err != nil {
		return s.unknown(ctx, &change{cause: err})
	}
	for _, result := range results {
		if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) {
			return s.notListed(ctx, err)
		}
	}
	s.registry.refusing.Store(nil)
	if epoch, _ := results[2].ToString(); epoch != s.server.Load().epoch {
		if err := s.examine(ctx); err != nil {
			return s.notListed(ctx, err)
		}
		s.compareServers(guard)
	}
	return s.lookAround(ctx, guard)
}

// notListed is the error of a heartbeat. If the server has refused it, Health has the problem until
// the next heartbeat that succeeds.
func (s *Store) notListed(ctx context.Context, err error) error {
	problem, lasting := s.problem(err)
	if replyCode(err) == "" && !lasting {
		return s.unknown(ctx, &change{cause: err})
	}
	s.registry.refusing.Store(&problem)
	return errors.New("redisstore: " + problem)
}

// id is this node's in the list of nodes. Two nodes with one name have different ones.
func (s *Store) id() string { return s.options.Node + "." + s.instance }

// findNamesake notes whether another live node has this node's name. A process before this one that
// has crashed is listed until its record expires.
func (s *Store) findNamesake(nodes []Node) {
	r, now := &s.registry, s.since()
	seen, found := map[string]int64{}, false
	for _, node := range nodes {
		if node.Self || node.Name != s.options.Node {
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

// compareServers makes the Guard look at all rows again, and restore those that it remembers, if the
// server has lost data or isn't the same since the last heartbeat.
func (s *Store) compareServers(guard Guard) {
	now := s.server.Load()
	if !now.differs(s.registry.compared.Swap(now)) {
		return
	}
	s.options.Logger.Warn("redisstore: the server has restarted or was replaced", "address", s.where)
	s.forgetAll(guard)
	guard.Heal()
	select {
	case s.relisten <- struct{}{}:
	default: // listen knows already
	}
}

// lookAround notes how many nodes there are, how wrong their clocks may be, and whether one has
// another policy. It removes the nodes that have expired.
func (s *Store) lookAround(ctx context.Context, guard Guard) error {
	nodes, expired, err := s.readNodes(ctx)
	if err != nil {
		return err
	}
	var worst time.Duration
	for _, node := range nodes {
		if !node.Self {
			worst = max(worst, node.Error)
		}
	}
	s.clock.others.Store(int64(min(worst, maxApart)))
	s.registry.nodes.Store(int64(len(nodes)))
	s.findNamesake(nodes)
	s.registry.comparePolicies(nodes, guard.PolicyHash())
	s.leases.see(nodes)
	if len(expired) == 0 {
		return nil
	}
	results, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{b.Srem().Key(s.keys.nodes()).Member(expired...).Build()}
	})
	if err != nil {
		return s.unknown(ctx, &change{cause: err})
	}
	if err := results[0].Error(); err != nil {
		return s.refused(err)
	}
	return nil
}

// comparePolicies notes whether a node has another policy than this one.
func (r *registry) comparePolicies(nodes []Node, hash string) {
	i := slices.IndexFunc(nodes, func(n Node) bool { return !n.Self && n.Policy != "" && n.Policy != hash })
	if i < 0 {
		r.disagreed = 0
		r.otherPolicy.Store(nil)
		return
	}
	if r.disagreed++; r.disagreed >= maxDisagreed {
		r.otherPolicy.Store(&nodes[i].Name)
	}
}

// self describes this node.
func (s *Store) self(guard Guard) Node {
	node := Node{
		Name: s.options.Node, Version: s.options.Version, Started: s.started.Round(0), Instance: s.instance,
		Offset: s.clock.offset(), Error: s.clock.error(), Number: -1,
	}
	if s.options.Describe != nil {
		s.options.Describe(&node)
	}
	node.Name, node.Instance, node.Number, node.Tasks = s.options.Node, s.instance, -1, s.leases.tasks()
	node.Formats, node.Policy = limits.RowFormats(), guard.PolicyHash()
	if number, ok := s.Number(); ok {
		node.Number = number
	}
	return node
}

// deregister removes this node, so that the others needn't wait until it expires.
func (s *Store) deregister(ctx context.Context) {
	s.releaseNumber(ctx)
	_, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{
			b.Del().Key(s.keys.node(s.id())).Build(),
			b.Srem().Key(s.keys.nodes()).Member(s.id()).Build(),
		}
	})
	if err != nil {
		s.options.Logger.Debug("redisstore: this node stays listed for 5 s", "problem", err)
	}
}
