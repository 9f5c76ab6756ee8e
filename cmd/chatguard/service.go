package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/systemd"
)

// service is this process as a service of systemd. Without systemd it does nothing.
type service struct {
	notifier *systemd.Notifier // nil if systemd doesn't wait for notifications

	// listener is the dashboard's; nil if systemd passed none. The App closes it.
	listener *net.TCPListener
	unit     string // which passed the listener

	starting func() // ends the extended timeout of the start
}

const (
	// longestStart is how long restoring the state may take.
	longestStart = 15 * time.Minute
	// longestStop is how long the last actions and the last write may take.
	longestStop = 5 * time.Minute
)

// newService returns the service of this process. Close it when the process ends.
func newService() *service {
	return &service{notifier: systemd.NewNotifier(), starting: func() {}}
}

func (s *service) close() { s.starting() }

// accept accepts the listener that systemd passed. An error means that systemd's units are wrong.
func (s *service) accept() (err error) {
	if s.listener, s.unit, err = systemd.Listener(); err != nil {
		return usageError{err}
	}
	return nil
}

// load reads the configuration at path. The address of systemd's listener replaces the configured
// one, and is checked in the same way.
func (s *service) load(path string) (config.Config, error) {
	cfg, err := loadConfig(path)
	if err == nil && s.listener != nil {
		err = cfg.SetListen(s.listener.Addr().String(), s.unit)
	}
	return cfg, err
}

// open opens the App. The caller closes it.
func (s *service) open(ctx context.Context, cfg config.Config) (*app.App, error) {
	log, level := newLog(cfg.Log)
	s.notifier.LogTo(log)
	warnOfVariables(log, cfg, os.Environ())
	s.starting = s.notifier.Extend(longestStart)
	s.notifier.Status("starting")
	o := app.Options{Config: cfg, Log: log, Level: level, Build: build(), Started: s.started, Reloading: s.reloading}
	if s.listener != nil {
		site := app.Site(cfg.Web)
		site.Log = log
		var err error
		if o.Listener, err = site.OpenOn(s.listener); err != nil {
			return nil, err
		}
	}
	return app.Open(ctx, o)
}

// warnOfVariables writes one line about variables of the environment that have no effect.
func warnOfVariables(log *slog.Logger, cfg config.Config, environment []string) {
	var names, texts []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	_, unknown := cfg.Variables(names)
	for _, v := range unknown {
		text := hostile.Printable(v.Name)
		if v.Near != "" {
			text += " (did you mean " + v.Near + "?)"
		}
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		log.Warn("unknown environment variables have no effect", "variables", strings.Join(texts, ", "))
	}
}

// started tells systemd that the App runs.
func (s *service) started() {
	s.starting()
	s.notifier.Ready()
}

// reloading tells systemd that a reload has begun, and that it is over when done is called.
func (s *service) reloading() (done func()) {
	s.notifier.Reloading()
	return s.notifier.Ready
}

// supervise keeps systemd informed about the App until stop is called. When ctx ends, it tells
// systemd that the App is stopping.
func (s *service) supervise(ctx context.Context, a *app.App) (stop func()) {
	supervised, end := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	status := func() string {
		if ctx.Err() != nil {
			return "stopping: finishing pending work"
		}
		return a.StatusLine()
	}
	parts.Go(func() { s.notifier.Supervise(supervised, status, a.Stuck) })
	parts.Go(func() {
		select {
		case <-supervised.Done():
			return
		case <-ctx.Done():
		}
		s.notifier.Stopping()
		defer s.notifier.Extend(longestStop)()
		<-supervised.Done()
	})
	return func() { end(); parts.Wait() }
}
