package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/request"
)

// stateColors are the colors of a chatguard's state in a terminal.
var stateColors = map[request.State]color{request.OK: green, request.Degraded: yellow, request.Unavailable: red}

// printStatus prints the status of a chatguard that has answered.
func printStatus(out io.Writer, s request.Status) {
	line := func(name, format string, values ...any) {
		printLine(out, "%-11s %s", name, fmt.Sprintf(format, values...))
	}
	fmt.Fprintf(out, "%-11s %s\n", "state", paint(out, stateColors[s.State], string(s.State)))
	for _, problem := range s.Problems {
		line("problem", "%s", problem)
	}
	f := s.Figures
	if f == nil {
		return
	}
	line("process", "%d, chatguard %s, for %s", f.PID, f.Version, chatguard.FormatWait(time.Duration(f.UptimeSeconds*float64(time.Second))))
	line("dashboard", "%s", f.Address)
	line("mode", "%s", modeSummary(f.Channels))
	for _, c := range f.Connections {
		detail := ""
		if c.OK && c.Detail != "" { // otherwise it is a problem above
			detail = ": " + c.Detail
		}
		line(strings.ToLower(c.Name), "%s%s", c.State, detail)
	}
	isToken := func(c request.Connection) bool { return c.Name == "Token" }
	if f.TokenState != "unneeded" && !slices.ContainsFunc(f.Connections, isToken) {
		line("token", "%s", f.TokenState)
	}
	line("throttled", "%s now", count(int64(f.ThrottledUsers), "user"))
	line("messages", "%d in the last minute, %.1f per second now", f.MessagesLastMinute, f.MessagesPerSecond)
	line("queue", "%s, %s for the database, %s", count(int64(f.PendingActs), "act"), count(int64(f.WaitingRecords), "record"),
		count(int64(f.WaitingWebhooks), "webhook message"))
	line("database", "%s, %s, %.1f s behind", f.DatabaseState, byteCount(f.DatabaseBytes), f.DatabaseLag)
	line("memory", "%s of %s", byteCount(f.MemoryBytes), byteCount(f.MemoryLimit))
}

// maxModeNames is how many channels of a mode are named.
const maxModeNames = 5

// modeSummary says in how many channels chatguard enforces and observes, and names some. It leaves
// out channels that it doesn't read, because those are problems.
func modeSummary(channels []request.Channel) string {
	var parts []string
	for _, mode := range []chatguard.Mode{chatguard.ModeEnforce, chatguard.ModeObserve} {
		var names []string
		for _, c := range channels {
			if c.Mode == mode.String() && c.Read {
				names = append(names, c.Login)
			}
		}
		if len(names) == 0 {
			continue
		}
		n := len(names)
		if n > maxModeNames {
			names = append(names[:maxModeNames], fmt.Sprintf("and %d more", n-maxModeNames))
		}
		parts = append(parts, fmt.Sprintf("%ss in %s", mode, strings.Join(names, ", ")))
	}
	if len(parts) == 0 {
		return "no channel yet"
	}
	return strings.Join(parts, "; ")
}
