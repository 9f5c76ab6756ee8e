package redisstore

import (
	"context"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

const (
	pingEvery   = time.Second
	silence     = 3 * time.Second // without a reply for so long, notices may be lost
	listenAgain = 100 * time.Millisecond
	maxChanges  = 256
)

// A notice tells the other nodes that somebody has changed something: "row <channel> <user>
// <instance>" or "policy <name> <instance>". IDs are escaped, and the instance is the sender's.

// publishRows sends notices for the swaps that need them, and have happened or may have. A notice
// that is lost delays the change on the other nodes, until they look at the row again.
func (s *Store) publishRows(ctx context.Context, swaps []*shared.Swap) {
	var notices []string
	for _, swap := range swaps {
		if happened := swap.Done || swap.Unknown && swap.Err == nil; !happened || !swap.Notify {
			continue
		}
		for i := range swap.Rows {
			row := &swap.Rows[i]
			notices = append(notices, "row "+escape(row.ChannelID)+" "+escape(row.UserID)+" "+s.instance)
		}
	}
	if err := s.publish(ctx, notices); err != nil {
		s.options.Logger.Warn("redisstore: other nodes see a change up to 10 s later", "problem", err)
	}
}

func (s *Store) publish(ctx context.Context, notices []string) error {
	if len(notices) == 0 {
		return nil
	}
	results, err := s.ask(ctx, func(b rueidis.Builder) []rueidis.Completed {
		commands := make([]rueidis.Completed, len(notices))
		for i, notice := range notices {
			commands[i] = b.Publish().Channel(s.keys.changes()).Message(notice).Build()
		}
		return commands
	})
	if err != nil {
		return s.unknown(ctx, &change{cause: err})
	}
	for _, result := range results {
		if err := result.Error(); err != nil {
			return s.refused(err)
		}
	}
	return nil
}

// Changes returns the channel of the names of documents that other nodes have changed. An empty
// name means that any may have changed: notices were lost, or not received fast enough.
func (s *Store) Changes() <-chan string { return s.changes }

// changed tells the program of a changed document.
func (s *Store) changedDocument(name string) {
	select {
	case s.changes <- name:
	default:
		s.missed.Store(true) // Run tries again
	}
}

// forgetAll makes the Guard and the program look at everything again.
func (s *Store) forgetAll(guard Guard) {
	guard.InvalidateAll()
	s.changedDocument("")
}

// receive handles one notice. What it can't read is from another version, and may concern anything.
func (s *Store) receive(guard Guard, text string) {
	fields := strings.Split(text, " ")
	if fields[len(fields)-1] == s.instance {
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
			s.changedDocument(name)
			return
		}
	}
	s.forgetAll(guard)
}

// listen receives notices and measures the clock, until ctx ends. Both have a connection of their
// own.
func (s *Store) listen(ctx context.Context, guard Guard) {
	for ctx.Err() == nil {
		if s.breaker.away.Load() == nil {
			if err := s.subscribe(ctx, guard); err != nil && ctx.Err() == nil {
				s.options.Logger.Debug("redisstore: the subscription has ended", "problem", err)
			}
		}
		sleep(ctx, listenAgain)
	}
}

// subscribe receives notices until the connection breaks or ctx ends.
func (s *Store) subscribe(ctx context.Context, guard Guard) error {
	opening, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	d, err := s.dedicate(opening)
	if err != nil {
		return err
	}
	defer d.Close()
	broken := d.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(m rueidis.PubSubMessage) { s.receive(guard, m.Message) },
	})
	if err := d.Do(opening, d.B().Subscribe().Channel(s.keys.changes()).Build()).Error(); err != nil {
		return err
	}
	s.forgetAll(guard) // what changed before wasn't noticed
	if err := d.measure(opening); err != nil {
		return err
	}
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	measured := time.Now()
	for {
		select {
		case <-ticker.C:
		case <-s.relisten:
			return nil
		case err := <-broken:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.tick(ctx, d, &measured); err != nil {
			return err
		}
	}
}

// tick checks that the connection and the clock are still good, and measures the clock each 10 s.
func (s *Store) tick(ctx context.Context, d *dedicated, measured *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	one, err := d.time(ctx)
	if err != nil {
		return err
	}
	if time.Since(*measured) < measureEvery && !s.clock.contradicts(one) {
		return nil
	}
	*measured = time.Now()
	return d.measure(ctx)
}

// sleep waits, or returns early if ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
