package redisstore

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

const (
	pingEvery   = time.Second
	silence     = 3 * time.Second // without a reply for this long, notices may be lost
	resubscribe = 100 * time.Millisecond
	maxChanges  = 256
)

// A notice tells the other nodes that somebody has changed something: "row <channel> <user>
// <instance>", "policy <name> <instance>" or "clock <instance>". IDs are escaped, and the instance
// is the sender's.

// notices sends notices to the other nodes, and receives theirs.
type notices struct {
	server   *server
	changes  chan string   // names of documents, see Store.Changes
	missed   atomic.Bool   // changes had no room
	relisten chan struct{} // another server may have the epoch now
	look     chan struct{} // another node has changed the record of the clock

	// Only listen uses the following fields, see checkJump.

	jump       string
	correction correction
	healed     time.Time
}

func newNotices(s *server) *notices {
	return &notices{server: s, changes: make(chan string, maxChanges), relisten: make(chan struct{}, 1), look: make(chan struct{}, 1)}
}

// publishRows sends notices for the swaps with Notify that have happened, or may have. A notice
// that is lost delays the change on the other nodes, until they read the row again.
func (n *notices) publishRows(ctx context.Context, swaps []*shared.Swap) {
	var notices []string
	for _, swap := range swaps {
		if happened := swap.Done || swap.Unknown && swap.Err == nil; !happened || !swap.Notify {
			continue
		}
		for i := range swap.Rows {
			row := &swap.Rows[i]
			notices = append(notices, "row "+escape(row.ChannelID)+" "+escape(row.UserID)+" "+n.server.instance)
		}
	}
	if err := n.publish(ctx, notices); err != nil {
		n.server.options.Logger.Warn("redisstore: other nodes see a change up to 10 s later", "problem", err)
	}
}

func (n *notices) publish(ctx context.Context, notices []string) error {
	if len(notices) == 0 {
		return nil
	}
	builds := make([]build, len(notices))
	for i, notice := range notices {
		builds[i] = func(b builder) command { return b.Publish().Channel(n.server.keys.changes()).Message(notice).Build() }
	}
	_, err := n.server.ask(ctx, builds...)
	return err
}

// changedDocument tells the program of a changed document.
func (n *notices) changedDocument(name string) {
	select {
	case n.changes <- name:
	default:
		n.missed.Store(true) // Run tries again
	}
}

// invalidateAll makes the Guard and the program read everything again.
func (n *notices) invalidateAll(guard shared.Guard) {
	guard.InvalidateAll()
	n.changedDocument("")
}

// receive handles one notice. What it can't read is from another version, and may concern anything.
func (n *notices) receive(guard shared.Guard, text string) {
	fields := strings.Split(text, " ")
	if fields[len(fields)-1] == n.server.instance {
		return
	}
	switch {
	case fields[0] == "row" && len(fields) >= 3:
		channel, ok1 := unescape(fields[1])
		user, ok2 := unescape(fields[2])
		if ok1 && ok2 {
			guard.Invalidate(channel, user)
			return
		}
	case fields[0] == "policy" && len(fields) >= 2:
		if name, ok := unescape(fields[1]); ok {
			n.changedDocument(name)
			return
		}
	case fields[0] == "clock" && len(fields) == 2:
		signal(n.look)
		return
	}
	n.invalidateAll(guard)
}

// listen receives notices and measures the clock, until ctx ends. Both use the same dedicated
// connection.
func (n *notices) listen(ctx context.Context, guard shared.Guard) {
	for ctx.Err() == nil {
		n.server.clock.wake()
		if n.server.breaker.away.Load() == nil {
			if err := n.subscribe(ctx, guard); err != nil && ctx.Err() == nil {
				problem, _ := n.server.explain.problem(err)
				n.server.options.Logger.Debug("redisstore: the subscription has ended", "problem", problem)
			}
		}
		sleep(ctx, resubscribe)
	}
}

// subscribe receives notices until the connection breaks or ctx ends.
func (n *notices) subscribe(ctx context.Context, guard shared.Guard) error {
	opening, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	d, err := n.server.dedicate(opening)
	if err != nil {
		return err
	}
	defer d.Close()
	broken := d.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(m rueidis.PubSubMessage) { n.receive(guard, m.Message) },
	})
	if err := d.Do(opening, d.B().Subscribe().Channel(n.server.keys.changes()).Build()).Error(); err != nil {
		return err
	}
	if err := n.synchronise(opening, d); err != nil {
		return err
	}
	n.invalidateAll(guard) // changes before the subscription weren't noticed
	n.checkJump(guard)
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-n.look:
		case <-n.relisten:
			return nil
		case err := <-broken:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := n.tick(ctx, d); err != nil {
			return err
		}
		n.checkJump(guard)
	}
}

// tick checks that the connection and the clock are still good. It measures the clock every 10 s,
// and at once if a clock has jumped or another node says so.
func (n *notices) tick(ctx context.Context, d *dedicated) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	one, record, err := d.look(ctx)
	if err != nil {
		return err
	}
	c := &n.server.clock
	if time.Since(d.measured) < measureEvery && !c.contradicts(one) && record == c.record() {
		return nil
	}
	return n.synchronise(ctx, d)
}
