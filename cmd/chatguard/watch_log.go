package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// watchLog is a log for people: a line for each record, without time and level. It is for the
// output of `chatguard watch`, which people read as it comes.
type watchLog struct {
	mu    *sync.Mutex // held while a line is written
	out   io.Writer
	attrs []slog.Attr
}

func newWatchLog(out io.Writer) *slog.Logger {
	return slog.New(watchLog{mu: new(sync.Mutex), out: out})
}

// Enabled implements slog.Handler.
func (watchLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements slog.Handler.
func (l watchLog) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("-- " + r.Message)
	separator := ": "
	add := func(a slog.Attr) bool {
		fmt.Fprintf(&b, "%s%s %s", separator, a.Key, a.Value)
		separator = ", "
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.mu.Lock()
	defer l.mu.Unlock()
	printLine(l.out, "%s", b.String())
	return nil
}

// WithAttrs implements slog.Handler.
func (l watchLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.attrs = append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)
	return l
}

// WithGroup implements slog.Handler. It leaves the group's name out.
func (l watchLog) WithGroup(string) slog.Handler { return l }
