package app

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/web/live"
)

// answerQuestions tells the status to commands that ask for it, until the context ends.
func (a *App) answerQuestions(ctx context.Context) error {
	questions := request.Queue{Path: a.Host.Store.Path()}
	questions.AnswerQuestions(ctx, a.processStatus, func(err error) {
		a.log.Error("a question can't be answered", "error", err)
	})
	return nil
}

// processStatus returns the state of this process. It waits for neither disk nor network.
func (a *App) processStatus() request.Status {
	ready, problems := a.Web.Ready()
	shown := a.Web.Status(live.NewAudience("", auth.Identity{Name: auth.OwnerName, Access: auth.Own}))
	deliveries, _ := a.Webhooks.Totals()
	f := request.Figures{
		PID: os.Getpid(), Version: a.options.Build.Version, Address: a.Address(),
		UptimeSeconds: time.Since(a.began).Round(time.Millisecond).Seconds(),
		MemoryBytes:   residentMemory(),
		MemoryLimit:   int64(MemoryOf(a.Config)),

		Channels: a.status().modes(a.Web.Channels()), Connections: []request.Connection{}, TokenState: "unneeded",

		ThrottledUsers: shown.ThrottledUsers, MessagesPerSecond: shown.MessagesPerSecond, MessagesLastMinute: shown.MessagesLastMinute,

		PendingActs: a.Bot.Pending(), WaitingWebhooks: deliveries, WaitingRecords: shown.Database.Queued,
		DatabaseState: string(shown.Database.State), DatabaseLag: shown.Database.Lag.Round(time.Millisecond).Seconds(), DatabaseBytes: a.Host.Store.Size(),
	}
	for _, c := range shown.Connections {
		f.Connections = append(f.Connections, request.Connection{Name: c.Name, State: string(c.State), OK: !c.State.IsTrouble() && !c.State.IsDegraded(), Detail: c.Detail})
	}
	if a.Twitch.Tokens() != nil {
		if token, needed := tokenState(a.Twitch); needed {
			f.TokenState = string(token.State)
		}
	}
	return request.Status{State: request.State(ready), Problems: append([]string{}, problems...), Figures: &f}
}

// residentMemory returns the resident memory in bytes. If the system doesn't tell, it returns what
// the Go runtime has mapped and not given back.
func residentMemory() int64 {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, resident int64
		if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
			return resident * int64(os.Getpagesize())
		}
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// status returns the App's status. The App has a Bot.
func (a *App) status() *status {
	return &status{a.directory, a.Host, a.Guard, a.Twitch, a.Bot, a.node.Standby, a.certificate}
}

// StatusLine returns the state of all parts in one line for the person who runs chatguard, such as
// "enforcing in 2 channels" or "observing in 1 channel; Token missing; #gardenhour not read".
func (a *App) StatusLine() string { return a.status().line() }
