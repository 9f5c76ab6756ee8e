package live

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
)

// register adds the metrics that are computed on each read. The tallies add the metrics of
// outcomes.
func (m *Model) register(set *metrics.Set) {
	set.NewGauge("chatguard_throttled_users", func() float64 { return float64(m.board.len("")) })
	set.NewGauge("chatguard_live_feeds", func() float64 { return float64(m.Feeds()) })
	for name, value := range map[string]func(chatguard.Memory) float64{
		"chatguard_users":                    func(memory chatguard.Memory) float64 { return float64(memory.Users) },
		"chatguard_users_memory_bytes":       func(memory chatguard.Memory) float64 { return float64(memory.Bytes) },
		"chatguard_users_forgotten_total":    func(memory chatguard.Memory) float64 { return float64(memory.Forgotten) },
		"chatguard_users_evicted_total":      func(memory chatguard.Memory) float64 { return float64(memory.Evicted) },
		"chatguard_texts":                    func(memory chatguard.Memory) float64 { return float64(memory.Texts) },
		"chatguard_texts_evicted_total":      func(memory chatguard.Memory) float64 { return float64(memory.TextsEvicted) },
		"chatguard_users_evicted_held_total": func(memory chatguard.Memory) float64 { return float64(memory.Held) },
	} {
		set.NewGauge(name, func() float64 { return value(m.opts.Guard.Memory()) })
	}
	set.RegisterMetricsWriter(func(w io.Writer) {
		names := map[string]string{}
		for _, c := range m.opts.Channels() {
			names[c.ID] = c.Login
		}
		m.tallies.write(w, names)
	})
}

// write writes the counters in the exposition format. names are the names of channels by ID.
func (t *tallies) write(w io.Writer, names map[string]string) {
	current := *t.current.Load()
	for _, family := range []struct {
		name    string
		counter func(*tally) *metrics.Counter
	}{
		{"chatguard_messages_total", func(c *tally) *metrics.Counter { return &c.messages }},
		{"chatguard_throttled_messages_total", func(c *tally) *metrics.Counter { return &c.throttled }},
		{"chatguard_observed_messages_total", func(c *tally) *metrics.Counter { return &c.observed }},
		{"chatguard_low_priority_messages_total", func(c *tally) *metrics.Counter { return &c.low }},
	} {
		for _, id := range slices.Sorted(maps.Keys(current)) {
			fmt.Fprintf(w, "%s%s %d\n", family.name, ChannelLabels(id, names[id]), family.counter(current[id]).Get())
		}
	}
}

// ChannelLabels returns the labels of a channel in the exposition format. The label channel is what
// people call the channel: its login or name, or its ID if name is empty. After a channel was
// renamed, its counters go on under the new name. Two channels may have the same name, for example
// one on Twitch and a server's room. The label channel_id tells them apart.
func ChannelLabels(id, name string) string {
	return "{channel=" + QuoteLabel(cmp.Or(name, id)) + ",channel_id=" + QuoteLabel(id) + "}"
}

// QuoteLabel quotes a value for the exposition format. The format has fewer escapes than Go and
// needs valid UTF-8.
func QuoteLabel(value string) string {
	return `"` + labelEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
