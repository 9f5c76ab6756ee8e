package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// diagnoseSwaps is how many swaps Diagnose measures.
const diagnoseSwaps = 100

// findServerSettings reads INFO, which the user may have no right to.
func (d *diagnosis) findServerSettings(ctx context.Context) []Finding {
	ctx, cancel := withTimeout(ctx, d.server.options.listTimeout())
	defer cancel()
	results, err := d.server.requestAnyway(ctx,
		func(b builder) command { return b.Info().Section("memory").Build() },
		func(b builder) command { return b.Info().Section("persistence").Build() })
	var memory, persistence string
	if err == nil {
		memory, err = results[0].ToString()
	}
	if err == nil {
		persistence, err = results[1].ToString()
	}
	if err != nil && replyCode(err) != "NOPERM" {
		problem, _ := d.server.explain.problem(err)
		return []Finding{failed(Warning, "eviction", "eviction and persistence weren't checked: "+problem)}
	}
	if err != nil {
		return []Finding{{Warning, "eviction", "the user has no right to INFO, so eviction and persistence aren't checked", "ACL SETUSER … +info, or set maxmemory-policy to noeviction"}}
	}
	return []Finding{findEviction(infoField(memory, "maxmemory_policy")), findPersistence(persistence)}
}

func findEviction(policy string) Finding {
	switch policy {
	case "noeviction", "volatile-ttl":
		return Finding{Name: "eviction", Text: "maxmemory-policy is " + policy}
	case "":
		return Finding{Warning, "eviction", "the server doesn't tell its maxmemory-policy", "set it to noeviction"}
	}
	level := Warning
	if strings.HasPrefix(policy, "allkeys-") {
		level = Problem
	}
	return Finding{level, "eviction", evictionText(policy), evictionFix}
}

func findPersistence(info string) Finding {
	f := Finding{Name: "persistence", Text: "append-only file: a crash of the server loses what appendfsync allows, by default the last second"}
	if infoField(info, "aof_enabled") == "1" {
		return f
	}
	f.Text = "no append-only file: a crash of the server loses everything since its last snapshot, if it makes any; running nodes restore the rows that they remember"
	if infoField(info, "rdb_last_bgsave_status") == "err" {
		return Finding{Warning, f.Name, "the server's last snapshot has failed", "see the server's log"}
	}
	return f
}

// findReplicas checks whether enough replicas confirm writes.
func (d *diagnosis) findReplicas(ctx context.Context) []Finding {
	if d.server.options.Replicas == 0 {
		return nil
	}
	option := d.server.options.nameOf("Replicas")
	f := Finding{Name: "replicas", Text: fmt.Sprintf("%d confirm swaps, as %s requires", d.server.options.Replicas, option)}
	switch confirmed, err := d.writer.replicas.count(ctx); {
	case err != nil:
		f = failed(Problem, f.Name, withoutPrefix(err))
	case confirmed < int64(d.server.options.Replicas):
		f = Finding{Warning, f.Name, fmt.Sprintf("%d of %d replicas confirm swaps, so a failover can lose more", confirmed, d.server.options.Replicas), "connect replicas, or lower " + option}
	}
	return []Finding{f}
}

// findLatency measures swaps, one after another.
func (d *diagnosis) findLatency(ctx context.Context) Finding {
	trips := make([]time.Duration, 0, diagnoseSwaps)
	key, was := d.server.keys.doctor(), ""
	for i := range diagnoseSwaps {
		began := time.Now()
		is := fmt.Sprintf("%s %d", d.server.instance, i)
		stored, done, err := d.writer.compareAndSet(ctx, key, was, is, time.Minute)
		if err != nil {
			return failed(Problem, "changes", withoutPrefix(err))
		}
		trips = append(trips, time.Since(began))
		if was = is; !done {
			was = stored // another node's Diagnose is running
		}
	}
	d.writer.compareAndSet(ctx, key, was, "", 0) // otherwise it expires
	slices.Sort(trips)
	p50, p99 := trips[len(trips)/2], trips[len(trips)*99/100]
	f := Finding{Name: "latency", Text: fmt.Sprintf("%d swaps: median %s, 99%% within %s", len(trips), inMicroseconds(p50), inMicroseconds(p99))}
	if p99 > d.server.options.Timeout/2 {
		f.Level, f.Fix = Warning, fmt.Sprintf("move the server nearer, or raise %s, which is %s", d.server.options.nameOf("Timeout"), d.server.options.Timeout)
	}
	return f
}

func (d *diagnosis) findClock() Finding {
	offset, worst := d.server.clock.offset(), d.server.clock.error()
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	f := Finding{Name: "clock", Text: fmt.Sprintf("the server's clock is %s %s this machine's, measured to %s", inMicroseconds(offset.Abs()), direction, inMicroseconds(worst))}
	if text := d.server.clock.foreignRecord(d.server.keys.clock()); text != "" {
		return Finding{Warning, f.Name, text, foreignRecordFix}
	}
	if text := d.server.clock.jumpText(); text != "" {
		return Finding{Warning, f.Name, text, jumpFix}
	}
	if offset > time.Second || offset < -time.Second {
		f.Level, f.Fix = Warning, "synchronise both clocks, for example with chrony; limits use the server's"
	}
	return f
}

// inMicroseconds formats a duration for people, rounded to 1 µs and with a space before the unit.
func inMicroseconds(d time.Duration) string {
	text := d.Round(time.Microsecond).String()
	if d < time.Second {
		unit := strings.IndexFunc(text, unicode.IsLetter)
		text = text[:unit] + " " + text[unit:]
	}
	return text
}
