package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard/bench/internal/report"
)

// outcome is a demand with its measured value.
type outcome struct {
	Name  string    `json:"name"`
	Own   float64   `json:"chatguard"`
	Other float64   `json:"other,omitempty"`
	Unit  string    `json:"unit,omitempty"`
	Value float64   `json:"value"`
	Range []float64 `json:"range"` // the lowest and the highest value of a round
	// Processor is the ratio of the processor times per check, if Value is a ratio of checks/s.
	// Other programs on the machine disturb it less.
	Processor float64 `json:"processor,omitempty"`
	Demanded  string  `json:"demanded,omitempty"`
	Holds     string  `json:"holds"` // "yes", "no", or why it isn't known; empty: nothing is demanded

	bound bound
}

// noServer means that a demand can't be measured here.
const noServer = "no such server"

// outcome compares a demand with the figures.
func (r *race) outcome(d *demand) outcome {
	o := outcome{Name: d.name, Unit: d.unit, Demanded: d.bound.String(), Holds: "no", bound: d.bound}
	if r.servers[d.server] == nil {
		o.Holds = noServer
		return o
	}
	var known bool
	if o.Own, known = r.median(d.ownContest(), d.of); !known {
		o.Holds = string(d.ownContest().limiter) + " is " + r.unknown(d.ownContest())
		return o
	}
	if d.other != "" {
		if o.Other, known = r.median(d.contest(d.other), d.of); !known {
			o.Holds = string(d.other) + " is " + r.unknown(d.contest(d.other))
			return o
		}
	}
	o.Value, o.Range = d.value(o.Own, o.Other), r.spread(d)
	if d.unit == perSecond && d.other != "" {
		own, _ := r.median(d.ownContest(), work)
		other, _ := r.median(d.contest(d.other), work)
		o.Processor = other / own
	}
	switch {
	case d.bound == bound{}:
		o.Holds = ""
	case d.bound.holds(o.Value):
		o.Holds = "yes"
	}
	return o
}

// spread returns the lowest and the highest value of a round, or nil if each round misses a figure.
func (r *race) spread(d *demand) []float64 {
	var values []float64
	for i, own := range r.runs[d.ownContest()] {
		var other figures
		if d.other != "" {
			other = r.runs[d.contest(d.other)][i]
		}
		if own.Missing == "" && other.Missing == "" {
			values = append(values, d.value(d.of(&own), d.of(&other)))
		}
	}
	if len(values) == 0 {
		return nil
	}
	return []float64{slices.Min(values), slices.Max(values)}
}

// String returns the bound as a report prints it, such as "≤ 1.5".
func (b bound) String() string {
	switch {
	case b.most != 0:
		return fmt.Sprintf("≤ %.4g", b.most)
	case b.least >= 1000:
		return fmt.Sprintf("≥ %.0f", b.least)
	case b.least != 0:
		return fmt.Sprintf("≥ %.4g", b.least)
	}
	return ""
}

// outcomes returns all demands with their values.
func (r *race) outcomes() (list []outcome) {
	for i := range r.demands {
		list = append(list, r.outcome(&r.demands[i]))
	}
	return list
}

// met reports whether no demand fails, and no limiter is wrong. A demand whose server is missing
// doesn't fail.
func (r *race) met() bool {
	return !slices.ContainsFunc(r.outcomes(), func(o outcome) bool {
		return o.Holds != "" && o.Holds != "yes" && o.Holds != noServer
	})
}

// conditions describes the machine and the options.
func (r *race) conditions() string {
	var names []string
	for _, s := range r.servers {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return fmt.Sprintf("%s\n%s; %d rounds of %v; load average %s before, %s after",
		report.Machine(), strings.Join(names, " and "), r.rounds, r.seconds, r.began, loadAverage())
}

func (r *race) print() {
	fmt.Fprintln(r.out, r.conditions())
	t := report.Table{
		Title: "Ratios", Head: []string{"", "chatguard", "other", "", "ratio", "lowest–highest", "by processor", "demanded", "holds"},
		Note: "chatguard, other: medians of the rounds. Ratio: of the medians. Lowest and highest: of the ratios within one round. " +
			"By processor: the ratio if the figures are checks per second of processor time, of nodes and server together.",
	}
	for _, o := range r.outcomes() {
		var between string
		if len(o.Range) > 0 {
			between = figure(o.Range[0]) + "–" + figure(o.Range[1])
		}
		t.Add(o.Name, figure(o.Own), figure(o.Other), o.Unit, o.figure(), between, figure(o.Processor), o.Demanded, o.Holds)
	}
	t.Print(r.out, r.markdown)
	r.printRuns()
	r.printMissing()
}

// printMissing prints why measurements are missing, if there are any.
func (r *race) printMissing() {
	t := report.Table{
		Title: "Missing measurements", Head: []string{"", "round", "why"}, Note: "The medians are of the other rounds.",
	}
	for _, c := range r.contests() {
		for round, f := range r.runs[c] {
			if f.Missing != "" {
				t.Add(c.String(), strconv.Itoa(round+1), f.Missing)
			}
		}
	}
	if len(t.Rows) > 0 {
		t.Print(r.out, r.markdown)
	}
}

// figure writes a number with three or more digits, and nothing for 0.
func figure(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// figure writes the value, with more digits if it misses the bound and would look equal to it.
func (o *outcome) figure() string {
	text := figure(o.Value)
	_, decimals, _ := strings.Cut(text, ".")
	for digits := len(decimals) + 1; digits < 7 && !o.bound.holds(o.Value); digits++ {
		if shown, err := strconv.ParseFloat(text, 64); err != nil || !o.bound.holds(shown) {
			break
		}
		text = strconv.FormatFloat(o.Value, 'f', digits, 64)
	}
	return text
}

// printRuns prints what each limiter did under each load.
func (r *race) printRuns() {
	t := report.Table{
		Title: "Runs", Head: []string{"", "per second", "node µs", "server µs", "allocations", "allowed"},
		Note: "Medians of the rounds. Node and server: processor time per check, with the load's own. Allowed: part of the messages. An exchange counts rows instead of checks.",
	}
	for _, c := range r.contests() {
		cells := []string{c.String()}
		for _, of := range []quantity{rate, nodeTime, serverTime, mallocs} {
			if median, ok := r.median(c, of); ok {
				cells = append(cells, figure(median))
			} else {
				cells = append(cells, r.unknown(c))
			}
		}
		if allowed, ok := r.median(c, func(f *figures) float64 { return 100 * f.Allowed }); ok {
			cells = append(cells, fmt.Sprintf("%.0f %%", allowed))
		} else {
			cells = append(cells, "")
		}
		t.Add(cells...)
	}
	t.Print(r.out, r.markdown)
}

func nodeTime(f *figures) float64 { return f.Node }
func mallocs(f *figures) float64  { return f.Mallocs }

// contests returns what has run, in the order of the tables.
func (r *race) contests() []contest {
	var list []contest
	for c := range r.runs {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b contest) int {
		return cmp.Or(cmp.Compare(b.server, a.server), cmp.Compare(a.load, b.load), cmp.Compare(a.limiter, b.limiter))
	})
	return list
}

// writeJSON writes all figures to the file of -json.
func (r *race) writeJSON() error {
	if r.json == "" {
		return nil
	}
	type run struct {
		Name   string    `json:"name"`
		Rounds []figures `json:"rounds"`
	}
	view := struct {
		Conditions string    `json:"conditions"`
		Demands    []outcome `json:"demands"`
		Runs       []run     `json:"runs"`
	}{Conditions: r.conditions(), Demands: r.outcomes()}
	for _, c := range r.contests() {
		view.Runs = append(view.Runs, run{c.String(), r.runs[c]})
	}
	text, err := json.MarshalIndent(view, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(r.json, append(text, '\n'), 0o644)
}
