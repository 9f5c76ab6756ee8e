package persist

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// killRun is the environment variable with the number of the child's life.
const killRun = "CHATGUARD_PERSIST_RUN"

// killUsers is how many users talk in the child.
const killUsers = 100

// killPolicy counts in every scope and never restores any allowance, so that the usage equals what
// was spent.
func killPolicy() chatguard.Policy {
	p := dailyPolicy()
	p.Limits = append(p.Limits,
		chatguard.Limit{Name: "month", Algorithm: chatguard.UserWindow, Messages: plenty, Every: 720 * time.Hour},
		chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: plenty, Every: 720 * time.Hour},
	)
	p.Penalties.ForgetAfter = 0
	return p
}

// turnsPerFlush is how many messages are sent for every flush.
const turnsPerFlush = 60

// killTime returns the time of the child's run.
func killTime(run int) time.Time { return start.Add(time.Duration(run) * time.Minute) }

// killChild runs until it is killed, and prints what it does: "check U" before a message of U is
// judged and "accepted U" after it; "judging" before a message that is throttled, and "entry N"
// after it; "flush N" before a flush and "flushed N" after it; "did KIND X" once a change is
// acknowledged.
type killChild struct {
	store *Store
	guard *chatguard.Guard
	run   string
	now   time.Time
	// turns holds a value for each message that may be sent. Each flush adds values, so that the
	// queue never overflows.
	turns chan struct{}
}

func liveUntilKilled(ctx context.Context, path string) error {
	run, err := strconv.Atoi(os.Getenv(killRun))
	if err != nil {
		return err
	}
	c := &killChild{run: os.Getenv(killRun), now: killTime(run), turns: make(chan struct{}, 2*turnsPerFlush)}
	if c.store, err = Open(ctx, path, &Options{Logger: quiet, Now: at(c.now)}); err != nil {
		return err
	}
	defer c.store.Close()
	if c.guard, err = chatguard.New(killPolicy(), &chatguard.Options{Now: at(c.now), Observer: c.store.Observe}); err != nil {
		return err
	}
	if _, err := c.store.Restore(ctx, c.guard); err != nil {
		return err
	}
	var living sync.WaitGroup
	for _, live := range []func(ctx context.Context) error{c.talk, c.talk, c.talkTooMuch, c.change, c.flush} {
		living.Go(func() {
			if err := live(ctx); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		})
	}
	living.Wait()
	return nil
}

func (c *killChild) say(user string, cost int) (chatguard.Verdict, error) {
	m := message(user, c.now)
	m.Cost = cost
	return c.guard.Check(context.Background(), m)
}

func (c *killChild) talk(context.Context) error {
	for range c.turns {
		user := fmt.Sprint("u", rand.IntN(killUsers))
		fmt.Println("check", user)
		if _, err := c.say(user, 1); err != nil {
			return err
		}
		fmt.Println("accepted", user)
	}
	return nil
}

// talkTooMuch sends messages that are throttled.
func (c *killChild) talkTooMuch(context.Context) error {
	for range c.turns {
		fmt.Println("judging")
		v, err := c.say("x", plenty+1)
		if err != nil {
			return err
		}
		fmt.Println("entry", v.EntryID)
	}
	return nil
}

func (c *killChild) flush(ctx context.Context) error {
	for n := 0; ; n++ {
		for range turnsPerFlush {
			select {
			case c.turns <- struct{}{}:
			default:
			}
		}
		fmt.Println("flush", n)
		c.store.runTurn(ctx, c.guard)
		if h := c.store.Health(); h.State != OK {
			return fmt.Errorf("flush %d: %s", n, h.Problem)
		}
		fmt.Println("flushed", n)
	}
}

// change makes one change after another, each for another user.
func (c *killChild) change(ctx context.Context) error {
	for i := 0; ; i++ {
		user := fmt.Sprint(c.run, "-", i)
		for kind, change := range map[string]func(user string) error{
			"grant": c.grant, "override": c.override, "reset": c.reset, "pardon": c.pardon,
		} {
			if err := change(kind + user); err != nil {
				return err
			}
			saved, err := c.store.Record(ctx, journal.Audit{At: c.now, Author: "Ada", Action: journal.AuditAction(kind), ChannelID: "c1", UserID: kind + user})
			if !saved || err != nil {
				return fmt.Errorf("%s of %s: saved %v, %w", kind, user, saved, err)
			}
			fmt.Println("did", kind, kind+user)
		}
		r, saved, err := c.store.SaveRevision(ctx, revision("c2", i+1))
		if !saved || err != nil {
			return fmt.Errorf("revision: saved %v, %w", saved, err)
		}
		fmt.Println("did", "policy", r.Number)
		if saved, err := c.store.SaveSetting(ctx, "c2", user, c.run); !saved || err != nil {
			return fmt.Errorf("setting: saved %v, %w", saved, err)
		}
		fmt.Println("did", "setting", user)
		code, err := c.store.Tokens.NewSignInCode(ctx, auth.Identity{Name: user, Access: auth.Own}, 1000*time.Hour)
		if err != nil {
			return err
		}
		fmt.Println("did", "code", code)
	}
}

func (c *killChild) grant(user string) error {
	_, err := inner.At(c.guard, c.now).Grant(context.Background(), chatguard.Key{ChannelID: "c1", UserID: user}, "daily", 5)
	return err
}

func (c *killChild) override(user string) error {
	own := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"daily": {Messages: 7}}}
	return inner.At(c.guard, c.now).SetUserOverride(context.Background(), chatguard.Key{ChannelID: "c1", UserID: user}, own)
}

func (c *killChild) reset(user string) error {
	if _, err := c.say(user, 3); err != nil {
		return err
	}
	return inner.At(c.guard, c.now).Reset(context.Background(), chatguard.Key{ChannelID: "c1", UserID: user})
}

func (c *killChild) pardon(user string) error {
	v, err := c.say(user, plenty+1)
	if err != nil {
		return err
	}
	if done, err := inner.At(c.guard, c.now).Pardon(context.Background(), v); !done || err != nil {
		return fmt.Errorf("pardon of %s: %v, %w", user, done, err)
	}
	return nil
}
