package persist

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Options are the optional settings of a Store. A nil *Options is the same as the zero value.
type Options struct {
	Logger *slog.Logger // nil means slog.Default()
	// FlushInterval is the time from the start of one flush to the start of the next. 0 means 1 s.
	FlushInterval time.Duration
	Retention     time.Duration // lifetime of journal entries, streams and people's names; 0 means 30 days
	// TextRetention is the lifetime of the prints of texts in the timeline, up to 48 h. 0 means
	// that none are recorded; see Store.RecordTexts.
	TextRetention time.Duration
	// QueueSize is the maximum number of pending records of timeline and journal; beyond it,
	// records are dropped. 0 means 100,000.
	QueueSize int
	// MaxMemory is the maximum number of bytes of a database in memory; beyond it, the oldest
	// records of timeline and journal are deleted. 0 means 256 MiB.
	MaxMemory int64
	Now       func() time.Time // nil means time.Now
	Metrics   *metrics.Set     // gets the store's metrics; nil means none
}

// withDefaults returns a copy with defaults in place of zero fields.
func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	full.Logger = cmp.Or(full.Logger, slog.Default())
	full.FlushInterval = cmp.Or(full.FlushInterval, time.Second)
	full.Retention = cmp.Or(full.Retention, 30*24*time.Hour)
	full.QueueSize = cmp.Or(full.QueueSize, 100_000)
	full.MaxMemory = cmp.Or(full.MaxMemory, 256<<20)
	if full.Now == nil {
		full.Now = time.Now
	}
	full.Metrics = cmp.Or(full.Metrics, metrics.NewSet())
	return full
}
