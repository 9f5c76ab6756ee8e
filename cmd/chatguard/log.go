package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/chatguard/chatguard/internal/config"
)

// newLog returns the log that a configuration describes, on standard error, and its level, which
// may change later.
func newLog(l config.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(l.LevelValue())
	return slog.New(newLogHandler(os.Stderr, l.Format, level, isJournal(os.Stderr, os.Getenv("JOURNAL_STREAM")))), level
}

// newLogHandler returns a handler that writes a line per record. The journal of systemd adds the
// time to each line, and reads the severity from the line's beginning.
func newLogHandler(out io.Writer, format string, level slog.Leveler, toJournal bool) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	var severities *severityWriter
	if toJournal {
		severities = &severityWriter{out: out}
		out = severities
		options.ReplaceAttr = dropTime
	}
	var h slog.Handler = slog.NewTextHandler(out, options)
	if format == config.LogJSON {
		options.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
			if toJournal {
				a = dropTime(groups, a)
			}
			return durationsAsText(groups, a)
		}
		h = slog.NewJSONHandler(out, options)
	}
	if toJournal {
		return journalHandler{h, severities}
	}
	return h
}

// dropTime leaves out the time of a record.
func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// durationsAsText writes a duration as "1.5s", as the text format does, instead of nanoseconds.
func durationsAsText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// journalHandler begins each line with the record's severity, as sd-daemon(3) describes. Its
// Handler writes to out.
type journalHandler struct {
	slog.Handler
	out *severityWriter
}

// Handle implements slog.Handler.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.severity = severityOf(r.Level)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return journalHandler{h.Handler.WithAttrs(attrs), h.out}
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	return journalHandler{h.Handler.WithGroup(name), h.out}
}

// severityWriter writes lines, each in one call, with a severity in front.
type severityWriter struct {
	out      io.Writer
	mu       sync.Mutex // held while a record is written
	severity string
}

func (w *severityWriter) Write(line []byte) (int, error) {
	n, err := w.out.Write(append([]byte(w.severity), line...))
	return max(0, n-len(w.severity)), err
}

// severityOf returns the prefix for a level.
func severityOf(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "<3>"
	case level >= slog.LevelWarn:
		return "<4>"
	case level >= slog.LevelInfo:
		return "<6>"
	}
	return "<7>"
}
