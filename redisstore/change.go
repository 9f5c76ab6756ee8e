package redisstore

import (
	"context"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard/shared"
)

// change is an atomic change of some keys: all get their new values if all have the expected ones.
// It serves the rows of a Guard, and the Store's own records. An empty value means that the key
// doesn't exist.
type change struct {
	keys    []string
	was, is []string
	until   []string // Unix milliseconds; empty is never
	sets    []string // keys of sets to which members are added with the change, one to each
	members []string
	swap    *shared.Swap // whose rows these are, which replicas should confirm; nil for a record
	sent    bool         // an attempt may have succeeded, and its reply was lost
	eval    bool         // the server doesn't have the script

	done  bool
	err   error    // why the outcome isn't known, or the server refuses
	now   []string // what is stored, if it isn't done
	cause error    // why the last attempt had no outcome

	// Memory for a change of one key, and for its command if it is made alone.
	texts   [4]string
	command [1]command
	result  [1]rueidis.RedisResult
}

// comparesOnly reports whether the change only compares its only value.
func (c *change) comparesOnly() bool { return len(c.keys) == 1 && c.was[0] == c.is[0] }

// usesSet reports whether one SET makes the change, on a server that has IFEQ.
func (c *change) usesSet() bool { return len(c.keys) == 1 && c.is[0] != "" && len(c.sets) == 0 }

// build builds the command that makes the change.
func (c *change) build(b builder, native bool) command {
	if c.comparesOnly() {
		return b.Get().Key(c.keys[0]).Build()
	}
	if native && c.usesSet() {
		args := b.Arbitrary("SET").Keys(c.keys[0]).Args(c.is[0])
		if c.was[0] == "" {
			args = args.Args("NX", "GET")
		} else {
			args = args.Args("IFEQ", c.was[0], "GET")
		}
		if c.until[0] != "" {
			args = args.Args("PXAT", c.until[0])
		}
		return args.Build()
	}
	command, script := "EVALSHA", swapSHA
	if c.eval {
		command, script = "EVAL", swapScript
	}
	args := b.Arbitrary(command, script, strconv.Itoa(len(c.keys)+len(c.sets))).Keys(c.keys...).Keys(c.sets...)
	for i := range c.keys {
		args = args.Args(c.was[i], c.is[i], c.until[i])
	}
	return args.Args(c.members...).Build()
}

// unanswered notes why an attempt has no outcome. If this attempt only ran out of time, it keeps
// the cause of an attempt before.
func (c *change) unanswered(ctx context.Context, err error) {
	if c.cause == nil || ctx.Err() == nil {
		c.cause = err
	}
}

// conflict notes that the stored values aren't the expected ones. If they are those that the change
// would store, an earlier attempt has succeeded.
func (c *change) conflict(now []string) {
	if c.done = c.ours(now); c.done {
		return
	}
	c.now = now
}

// ours reports whether an earlier attempt has stored these values. Every value of a row is unique,
// but a missing value isn't.
func (c *change) ours(now []string) bool {
	changed := false
	for i := range now {
		if c.was[i] == c.is[i] {
			continue
		}
		if now[i] != c.is[i] || now[i] == "" && !c.sent {
			return false
		}
		changed = true
	}
	return changed
}

// unknown reports whether the change may have been made without a reply.
func (c *change) unknown() bool { return c.sent && !c.done }
