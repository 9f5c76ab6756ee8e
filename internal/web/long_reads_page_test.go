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
		o.Log = slog.New(refusals{slog.DiscardHandler, func(path string) {
			if strings.HasSuffix(path, "/journal") {
				once.Do(func() { free() })
			}
		}})
	})
	d.say(spammer, 4)
	free = d.server.reads.fill(t, "anna")
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(says("hello everyone"))
}

// refusals calls told for each refused request.
type refusals struct {
	slog.Handler
	told func(path string)
}

func (h refusals) Enabled(context.Context, slog.Level) bool { return true }

func (h refusals) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "path" {
			h.told(a.Value.String())
		}
		return true
	})
	return nil
}
