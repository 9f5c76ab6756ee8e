package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/demo"
)

const (
	// firstRaid is how long after the start the first raid comes. Half a minute after the start,
	// several of its raiders are throttled.
	firstRaid = 16 * time.Second
	// demoSettle is how long the demo waits at the end for the bot to read the crowds' messages.
	demoSettle = 5 * time.Second
)

// runWithCrowds runs the app with crowds. When the context ends, the crowds stop. The app goes on,
// at most for demoSettle, until the bot has judged everything that they said. The raids come to the
// first crowd's channel.
func runWithCrowds(ctx context.Context, a *app.App, server *faketwitch.Server, crowds []*faketwitch.Crowd, raidEvery time.Duration) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop() // if the app ends on its own, end the crowds
		ended <- a.Run(running)
	}()
	talking, hush := context.WithCancel(running)
	defer hush()
	context.AfterFunc(ctx, hush)
	err := server.WaitJoined(talking, len(crowds))
	if err == nil {
		all, _ := errgroup.WithContext(talking)
		for _, crowd := range crowds {
			all.Go(func() error { return crowd.Run(talking, server) })
		}
		all.Go(func() error { return runRaids(talking, crowds[0], raidEvery) })
		err = all.Wait()
		waitForCrowds(running, a.Bot, crowds)
	}
	if talking.Err() != nil && errors.Is(err, talking.Err()) {
		err = nil // it ended before anyone wrote a message
	}
	stop()
	return errors.Join(err, <-ended)
}

// runRaids starts raids until the context ends.
func runRaids(ctx context.Context, crowd *faketwitch.Crowd, every time.Duration) error {
	next := time.NewTimer(min(firstRaid, every))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			crowd.Raid()
			next.Reset(every)
		case <-ctx.Done():
			return nil
		}
	}
}

// waitForCrowds waits until the bot has judged everything that the crowds said, at most for
// demoSettle.
func waitForCrowds(ctx context.Context, bot *chat.Bot, crowds []*faketwitch.Crowd) {
	ctx, stop := context.WithTimeout(ctx, demoSettle)
	defer stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	sent := 0
	for _, crowd := range crowds {
		sent += crowd.Sent()
	}
	for bot.Counts().Messages < int64(sent) && ctx.Err() == nil {
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// recordCheck compares what chatguard has decided with the record of the simulated Twitch.
type recordCheck struct {
	server *faketwitch.Server

	mu        sync.Mutex
	throttled map[string]bool // IDs of throttled messages
}

// watchRecord begins to note what the app decides.
func watchRecord(a *app.App, server *faketwitch.Server) *recordCheck {
	r := &recordCheck{server: server, throttled: map[string]bool{}}
	a.Guard.AddObserver(func(m chatguard.Message, v chatguard.Verdict) {
		if !v.Allowed {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.throttled[m.ID] = true
		}
	})
	return r
}

// sumUp prints the demo's results. It returns an error if they contradict the record of the
// simulated Twitch. They do if a throttled message is still visible without a reason, or if a
// message that wasn't throttled was deleted.
func (r *recordCheck) sumUp(out io.Writer, c chat.Counts) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(out, "\nmessages   %6d, of which %d by the broadcasters and moderators, who are exempt\n", c.Messages, c.Exempt)
	fmt.Fprintf(out, "throttled  %6d, and %d more in #%s, which only observes\n", c.Throttled, c.Observed, demo.Second)
	fmt.Fprintf(out, "deleted    %6d\n", c.Deleted)
	fmt.Fprintf(out, "punished   %6d, by warnings and timeouts\n", c.Punished)
	fmt.Fprintf(out, "failed     %6d\n", c.Failed+c.Skipped)
	visible := 0
	for id := range r.throttled {
		if _, ok := r.server.Message(id); ok {
			visible++
		}
	}
	if int64(visible) > c.Failed+c.Skipped {
		return fmt.Errorf("%d throttled messages are still visible at the simulated Twitch", visible)
	}
	deleted := r.server.Deletes()
	for _, d := range deleted {
		if !r.throttled[d.Message.ID] {
			return fmt.Errorf("the simulated Twitch was asked to delete %q by %s, which wasn't throttled", d.Message.Text, d.Message.Login)
		}
	}
	_, err := fmt.Fprintf(out, "The simulated Twitch's own record agrees: %d deletes, %d warnings and %d timeouts. It was asked to delete nothing else,\n"+
		"and %d throttled messages are still visible.\n", len(deleted), len(r.server.Warnings()), len(r.server.Bans()), visible)
	return err
}
