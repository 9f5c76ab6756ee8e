//go:build browser

package web

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// The page retries by itself.
func TestLongReads_PageRetries(t *testing.T) {
	var free func()
	var once sync.Once
	d := dash(t, func(o *Options) {
		o.Log = slog.New(refusalHandler{slog.DiscardHandler, func(path string) {
			if strings.HasSuffix(path, "/journal") {
				once.Do(func() { free() })
			}
		}})
	})
	d.say(spammer, 4)
	free = d.server.reads.fill(t, "anna")
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasText("hello everyone"))
}

// refusalHandler calls notify for each refused request.
type refusalHandler struct {
	slog.Handler
	notify func(path string)
}

func (h refusalHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h refusalHandler) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "path" {
			h.notify(a.Value.String())
		}
		return true
	})
	return nil
}
