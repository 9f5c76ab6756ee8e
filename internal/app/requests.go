package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/request"
)

// signalTime is how long to wait for a request's signal if the request was found before its signal
// arrived.
const signalTime = 2 * time.Second

// ServeRequests handles requests to this process each time notified receives a signal, until the
// context ends. It carries out the pending requests. If there are no requests, a person has sent
// SIGHUP, and ServeRequests reloads the configuration. A failure is logged and changes nothing.
func (a *App) ServeRequests(ctx context.Context, notified <-chan os.Signal, load func() (config.Config, error)) {
	waiting := request.Queue{Path: a.Host.Store.Path()}
	var early []time.Time // when requests were read whose signal is still missing
	for {
		select {
		case <-notified:
		case <-ctx.Done():
			return
		}
		asked, err := waiting.Take()
		if err != nil {
			a.log.Error("a request can't be read", "error", err)
		}
		early = slices.DeleteFunc(early, func(at time.Time) bool { return time.Since(at) > signalTime })
		switch {
		case len(asked) > 0:
			for range len(asked) - 1 {
				early = append(early, time.Now())
			}
		case len(early) > 0: // the signal belongs to one of them
			early = early[1:]
		case err == nil:
			a.reloadLogged(load)
		}
		for name, r := range asked {
			if err := waiting.Answer(name, a.serve(ctx, r, load)); err != nil {
				a.log.Error("a request can't be answered", "request", r.Do, "error", err)
			}
		}
	}
}

// serve carries out a request.
func (a *App) serve(ctx context.Context, r request.Request, load func() (config.Config, error)) (o request.Outcome) {
	var err error
	switch r.Do {
	case request.Reload:
		o.Lines, err = a.reloadLogged(load)
	case request.Discard:
		o.Lines, err = a.discardLogged(ctx, r.Channel)
	case request.Forget:
		err = a.forget(ctx, r.User)
	default:
		err = fmt.Errorf("the running chatguard can't %q: restart it, it is older than this one", r.Do)
	}
	if err != nil {
		o.Error = hostile.VisibleLine(err.Error())
	}
	return o
}

// reloadLogged loads and applies the configuration. A failure is logged.
func (a *App) reloadLogged(load func() (config.Config, error)) (lines []string, err error) {
	if reloading := a.options.Reloading; reloading != nil {
		defer reloading()()
	}
	cfg, err := load()
	if err == nil {
		err = cmp.Or(cfg.CheckWebhooks(), CheckReady(cfg))
	}
	if err == nil {
		lines, err = a.Reload(cfg)
	}
	if err != nil {
		a.log.Error("the configuration was not loaded, and nothing has changed", "error", hostile.VisibleLine(err.Error()))
		return nil, fmt.Errorf("the configuration was not loaded, and nothing has changed: %w", err)
	}
	return lines, nil
}

// discardLogged restores the configuration's policy of a channel in the owner's name, and returns a
// report.
func (a *App) discardLogged(ctx context.Context, channelID string) ([]string, error) {
	r, err := a.Host.Policies.Discard(ctx, policies.Request{ChannelID: channelID, Author: auth.OwnerName})
	if err != nil {
		return nil, err
	}
	a.log.Info("discarded live changes; the configuration's policy applies", "channel", channelID, "revision", r.Number, "author", auth.OwnerName)
	done := fmt.Sprintf(", as of now (revision %d).", r.Number)
	if !r.Saved {
		done += " The database is failing: until it recovers, a restart undoes this."
	}
	return []string{done}, nil
}
