package systemd

import (
	"context"
	"time"
)

// statusInterval is how often Supervise reads the status.
const statusInterval = 2 * time.Second

// Supervise keeps the service's status current and feeds systemd's watchdog until the context ends.
//
// status returns the line that `systemctl status` shows. stuck returns what has taken longer than a
// limit, or "". While something is stuck, or a call of status doesn't return, the watchdog isn't
// fed. If that doesn't end, systemd aborts the process with SIGABRT, so that Go prints all
// goroutines, and restarts it.
func (n *Notifier) Supervise(ctx context.Context, status func() string, stuck func(limit time.Duration) string) {
	if n == nil {
		return
	}
	var pulse <-chan time.Time
	if n.interval > 0 {
		ticker := time.NewTicker(max(n.interval/2, 1))
		defer ticker.Stop()
		pulse = ticker.C
	}
	look := time.NewTicker(statusInterval)
	defer look.Stop()
	said, problem := "", ""
	for {
		if problem == "" {
			said = n.statusAfter(said, status())
		}
		select {
		case <-look.C:
		case <-pulse:
			before := problem
			if problem = stuck(n.interval / 2); problem == "" {
				n.send("WATCHDOG=1")
				continue
			}
			if before == "" {
				n.log.Error("chatguard is stuck: systemd restarts it unless this ends", "problem", problem)
			}
			said = n.statusAfter(said, "stuck: "+problem)
		case <-ctx.Done():
			return
		}
	}
}

// statusAfter sets the status to text unless it is equal to said, the last status. It returns text.
func (n *Notifier) statusAfter(said, text string) string {
	if text != said {
		n.Status(text)
	}
	return text
}
