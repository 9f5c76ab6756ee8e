package persist

import (
	"bytes"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// figuresIn returns the values that a set writes, by name. For a histogram it returns only the
// count.
func figuresIn(t *testing.T, set *metrics.Set) map[string]float64 {
	t.Helper()
	var text bytes.Buffer
	set.WritePrometheus(&text)
	values := map[string]float64{}
	for line := range strings.Lines(text.String()) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		value, err := strconv.ParseFloat(number, 64)
		must(t, err)
		if !strings.Contains(name, "_bucket{") && !strings.HasSuffix(name, "_sum") {
			values[name] = value
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	now, set := start, metrics.NewSet()
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }, Metrics: set, QueueSize: 5})
	want := map[string]float64{
		`chatguard_database_rows_written_total{table="state"}`:       0,
		`chatguard_database_rows_written_total{table="journal"}`:     0,
		`chatguard_database_rows_written_total{table="timeline"}`:    0,
		`chatguard_database_rows_written_total{table="revision"}`:    0,
		`chatguard_database_rows_written_total{table="audit"}`:       0,
		`chatguard_database_errors_total`:                            0,
		`chatguard_database_lag_seconds`:                             0,
		`chatguard_database_waiting_records`:                         0,
		`chatguard_database_records_dropped_total{table="timeline"}`: 0,
		`chatguard_database_records_dropped_total{table="journal"}`:  0,
	}
	check := func(when string) {
		t.Helper()
		got := figuresIn(t, set)
		if size := got["chatguard_database_size_bytes"]; size <= 0 || size != float64(s.Size()) {
			t.Errorf("%s: size %v, want %d", when, size, s.Size())
		}
		delete(got, "chatguard_database_size_bytes")
		if !maps.Equal(got, want) {
			t.Errorf("%s:\ngot  %v\nwant %v", when, got, want)
		}
	}
	want["chatguard_database_flush_duration_seconds_count"] = 0
	wantRows := func(table string, rows float64) {
		want[`chatguard_database_rows_written_total{table="`+table+`"}`] += rows
	}
	check("at first")

	say(t, g, "1", start)
	say(t, g, "2", start)
	s.Observe(throttledMessage(1, "c1", "3", time.Second))
	s.Report(outcome(1, journal.Done, "")) // of a pending entry
	want["chatguard_database_waiting_records"] = 5
	check("before a flush")

	s.runTurn(ctx, g)
	wantRows("state", 4)
	wantRows("timeline", 3)
	wantRows("journal", 1)
	want["chatguard_database_waiting_records"] = 0
	want["chatguard_database_flush_duration_seconds_count"] = 1
	check("after a flush")

	now = now.Add(1500 * time.Millisecond)
	want["chatguard_database_lag_seconds"] = 1.5
	s.Report(outcome(1, journal.Failed, "late")) // of a stored one
	for burst := range 2 {
		_, err := s.changes.addRevision(revisionRow{Revision: revision("c1", burst+1), changes: "[]"}, journal.Audit{})
		must(t, err)
	}
	must(t, s.changes.addAudit(journal.Audit{At: now}))
	want["chatguard_database_waiting_records"] = 1
	check("as changes wait")

	s.runTurn(ctx, g)
	wantRows("journal", 1)
	wantRows("revision", 2)
	wantRows("audit", 3)
	want["chatguard_database_waiting_records"], want["chatguard_database_lag_seconds"] = 0, 0
	want["chatguard_database_flush_duration_seconds_count"]++
	check("after changes")

	now = now.Add(time.Second)
	s.runTurn(ctx, g) // nothing to write
	check("after an idle turn")

	repair := failures["locked"].harm(t, s)
	for range 2 {
		say(t, g, "1", start)
		now = now.Add(time.Second)
		s.runTurn(ctx, g)
	}
	want["chatguard_database_errors_total"] = 2
	want["chatguard_database_lag_seconds"] = 2
	want["chatguard_database_waiting_records"] = 2
	check("while failing")

	for id := 2; id <= 7; id++ {
		s.Observe(throttledMessage(id, "c1", "3", time.Second))
	}
	want["chatguard_database_waiting_records"] = 5
	want[`chatguard_database_records_dropped_total{table="timeline"}`] = 8
	want[`chatguard_database_records_dropped_total{table="journal"}`] = 1
	check("with a full queue")

	repair()
	s.runTurn(ctx, g)
	wantRows("state", 2)
	wantRows("journal", 5)
	want["chatguard_database_waiting_records"], want["chatguard_database_lag_seconds"] = 0, 0
	want["chatguard_database_flush_duration_seconds_count"]++
	check("after the failure")
}

func TestSize_IncludesLog(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	before := s.Size()
	s.Observe(throttledMessage(1, "c1", "u", time.Second))
	s.Observe(message("u", start), chatguard.Verdict{At: start})
	s.mustFlush(t, g)
	if after := s.Size(); after <= before {
		t.Errorf("%d bytes before a flush and %d after, which went to the log", before, after)
	}
}
