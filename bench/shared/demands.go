package main

import (
	"cmp"
	"strings"
)

// quantity is a figure of a run.
type quantity func(*figures) float64

func rate(f *figures) float64       { return f.Rate }
func duration(f *figures) float64   { return 1e6 / f.Rate } // microseconds, with one goroutine
func serverTime(f *figures) float64 { return f.Server }
func roundTrips(f *figures) float64 { return f.RoundTrips }
func size(f *figures) float64       { return f.Bytes }
func work(f *figures) float64       { return f.Node + f.Server }

// The units of rate.
const (
	perSecond     = "checks/s"
	rowsPerSecond = "rows/s"
)

// demand is a line of the table: a figure of chatguard, or its ratio to another limiter's.
type demand struct {
	name   string
	load   load
	server serverKind
	of     quantity
	unit   string
	own    limiterName // which chatguard; empty: ours
	other  limiterName // empty: the figure itself
	// inverse means that the ratio is the other limiter's figure divided by chatguard's.
	inverse bool
	bound   bound
}

// bound is what is demanded. The zero value demands nothing.
type bound struct{ least, most float64 }

// holds reports whether a value is within the bound.
func (b bound) holds(value float64) bool {
	return value >= b.least && (b.most == 0 || value <= b.most)
}

// contests returns the contests whose figures the demand needs.
func (d *demand) contests() []contest {
	list := []contest{d.ownContest()}
	if d.other != "" {
		list = append(list, d.contest(d.other))
	}
	return list
}

func (d *demand) contest(l limiterName) contest { return contest{d.server, d.load.Name, l} }

func (d *demand) ownContest() contest { return d.contest(cmp.Or(d.own, ours)) }

// value returns the demand's value from chatguard's figure and the other limiter's.
func (d *demand) value(own, other float64) float64 {
	switch {
	case d.other == "":
		return own
	case d.inverse:
		return other / own
	}
	return own / other
}

// demands returns all lines of the table.
func demands() []demand {
	var list []demand
	faster := func(l load, least map[limiterName]float64, order ...limiterName) {
		for _, other := range order {
			list = append(list, demand{
				name: l.Name + " ÷ " + string(other), load: l, server: byScript, of: rate, unit: perSecond, other: other, bound: bound{least: least[other]},
			})
		}
	}
	faster(uniform, map[limiterName]float64{redisRate: 1.6, redisRate2: 3, throttled: 2.5, ulule: 1.3}, redisRate, redisRate2, redisRate3, throttled, ulule, twoLimits)
	faster(allowed4, map[limiterName]float64{redisRate: 0.95, redisRate2: 1.8, throttled: 1.3}, redisRate, redisRate2, redisRate3, throttled, twoLimits)
	faster(zipf, map[limiterName]float64{redisRate: 4, throttled: 3.5, ulule: 3, twoLimits: 2.2}, redisRate, throttled, ulule, twoLimits)
	faster(refused, map[limiterName]float64{redisRate: 15}, redisRate)
	faster(hot1, map[limiterName]float64{redisRate: 4, throttled: 50}, redisRate, throttled)
	faster(hot4, map[limiterName]float64{redisRate: 1.2, throttled: 15}, redisRate, throttled)
	faster(five, map[limiterName]float64{rapidity: 2.5}, rapidity, rapidity2)
	list = append(list,
		demand{name: "server time, uniform ÷ redis_rate", load: uniform, server: byScript, of: serverTime, unit: "µs", other: redisRate, bound: bound{most: 0.65}},
		demand{name: "latency ÷ PING", load: latency, server: byScript, of: duration, unit: "µs", other: ping, bound: bound{most: 1.45}},
		demand{name: "latency, five windows ÷ Rapidity's way", load: fiveAlone, server: byScript, of: duration, unit: "µs", other: rapidity, inverse: true, bound: bound{least: 4.5}},
		demand{name: "latency, five windows ÷ Rapidity's way, rueidis", load: fiveAlone, server: byScript, of: duration, unit: "µs", other: rapidity2, inverse: true},
	)
	for _, l := range []load{allowed1, allowed2, allowed4} {
		n := float64(l.Nodes)
		list = append(list, demand{
			name: "round trips per check, " + l.Name, load: l, server: byScript, of: roundTrips, bound: bound{most: 1 + (n-1)/n + 0.02},
		})
	}
	list = append(list,
		demand{name: "memory ÷ redis_rate × 2", load: memory, server: byScript, of: size, unit: "B", other: redisRate2, bound: bound{most: 0.9}},
		demand{name: "memory per user", load: memory, server: byScript, of: size, unit: "B", bound: bound{most: 250}},
		demand{name: "refusal from memory ÷ not shared", load: remember, server: byScript, of: duration, unit: "µs", other: alone, bound: bound{most: 1.5}},
	)
	for _, l := range []load{asked, askedAll} {
		d := demand{name: l.Name + " ÷ not shared", load: l, server: byScript, of: rate, unit: perSecond, own: overHTTP, other: aloneHTTP}
		if l.Rules == chat {
			d.bound.least = 0.65
		}
		list = append(list, d)
	}
	for _, l := range []load{known1, known64, allowed1} {
		list = append(list, demand{
			name: "synchronised ÷ not shared, " + l.Name, load: l, server: byScript, of: rate, unit: perSecond, own: inMemory, other: alone, bound: bound{least: 0.9},
		})
	}
	list = append(list, demand{
		name: "synchronised, " + exchanged.Name, load: exchanged, server: byScript, of: rate, unit: rowsPerSecond, own: inMemory, bound: bound{least: 150_000},
	})
	return append(list, demandsWithIFEQ()...)
}

// demandsWithIFEQ returns the lines for a server that has SET IFEQ.
func demandsWithIFEQ() []demand {
	list := []demand{
		{name: allowed4.Name + " ÷ redis_rate", load: allowed4, of: rate, unit: perSecond, other: redisRate, bound: bound{least: 1.3}},
		{name: "server time, uniform ÷ redis_rate", load: uniform, of: serverTime, unit: "µs", other: redisRate, bound: bound{most: 0.45}},
		{name: "latency ÷ PING", load: latency, of: duration, unit: "µs", other: ping, bound: bound{most: 1.3}},
		{name: "memory per user", load: memory, of: size, unit: "B", bound: bound{most: 200}},
		{name: "synchronised, " + exchanged.Name, load: exchanged, of: rate, unit: rowsPerSecond, own: inMemory, bound: bound{least: 300_000}},
	}
	for i := range list {
		list[i].server = byIFEQ
		list[i].name = strings.TrimSpace(list[i].name) + ", IFEQ"
	}
	return list
}
