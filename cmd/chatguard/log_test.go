//go:build !race

package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/config"
)

// TestLog_Forms checks the lines of both formats, outside the journal of systemd and in it.
func TestLog_Forms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format    string
		toJournal bool
		want      string // of which the time is cut out
	}{
		{config.LogText, false, "time=… level=INFO msg=\"one line\" part=test text=\"a\\nb\" in.n=1 in.took=1.5s\n"},
		{config.LogJSON, false, `{"time":…,"level":"INFO","msg":"one line","part":"test","text":"a\nb","in":{"n":1,"took":"1.5s"}}` + "\n"},
		{config.LogText, true, "<6>level=INFO msg=\"one line\" part=test text=\"a\\nb\" in.n=1 in.took=1.5s\n"},
		{config.LogJSON, true, `<6>{"level":"INFO","msg":"one line","part":"test","text":"a\nb","in":{"n":1,"took":"1.5s"}}` + "\n"},
	} {
		var out strings.Builder
		log := slog.New(newLogHandler(&out, c.format, slog.LevelInfo, c.toJournal)).With("part", "test", "text", "a\nb").WithGroup("in")
		log.Info("one line", "n", 1, "took", 1500*time.Millisecond)
		log.Debug("not logged")
		got := out.String()
		for _, begin := range []string{"time=", `"time":`} {
			if before, after, ok := strings.Cut(got, begin); ok {
				_, after, _ = strings.Cut(after, map[string]string{"time=": " ", `"time":`: ","}[begin])
				got = before + begin + "…" + map[string]string{"time=": " ", `"time":`: ","}[begin] + after
			}
		}
		if got != c.want {
			t.Errorf("%s, in the journal %v:\n%s, want\n%s", c.format, c.toJournal, got, c.want)
		}
	}
}

// TestLog_Severities checks the severity of each level, and that the level can change.
func TestLog_Severities(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	level := new(slog.LevelVar)
	level.Set(config.Log{Level: "debug"}.LevelValue())
	log := slog.New(newLogHandler(&out, config.LogText, level, true))
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		log.Log(context.Background(), l, "x")
	}
	level.Set(config.Log{Level: "error"}.LevelValue())
	log.Warn("not logged")
	if want := "<7>level=DEBUG msg=x\n<6>level=INFO msg=x\n<4>level=WARN msg=x\n<3>level=ERROR msg=x\n"; out.String() != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
}
