// Package report prints the tables of the benchmark programs, and describes the machine.
package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is one table of a report.
type Table struct {
	Title, Note string
	Head        []string
	Rows        [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Print writes the table with aligned columns and numbers to the right. As Markdown it adds the
// bars.
func (t *Table) Print(w io.Writer, markdown bool) {
	title, bar := t.Title, "  "
	if markdown {
		title, bar = "### "+t.Title, " | "
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	widths := make([]int, len(t.Head))
	lines := append([][]string{t.Head}, t.Rows...)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, line := range lines {
		t.printLine(w, line, widths, bar, markdown)
		if i == 0 && markdown {
			fmt.Fprintln(w, "|---"+strings.Repeat("|--:", len(t.Head)-1)+"|")
		}
	}
	fmt.Fprintf(w, "\n%s\n", t.Note)
}

func (t *Table) printLine(w io.Writer, line []string, widths []int, bar string, markdown bool) {
	cells := make([]string, len(line))
	for i, cell := range line {
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if cells[i] = gap + cell; i == 0 {
			cells[i] = cell + gap
		}
	}
	text := strings.Join(cells, bar)
	if markdown {
		text = "| " + text + " |"
	}
	fmt.Fprintln(w, text)
}

// Median returns the middle value, or the upper one of the two if their number is even.
func Median[T ~int64 | ~float64](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// Machine returns a description of the machine that the figures were measured on.
func Machine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil { // Linux only
		if _, after, ok := strings.Cut(string(info), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(after, "\n")
		}
	}
	return fmt.Sprintf("%s, %d processors, %s, %s/%s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Ratio returns a ÷ b with two decimals. It returns a dash if b is 0 or infinite, so if there is
// nothing to compare with.
func Ratio(a, b float64) string {
	if b == 0 || math.IsInf(b, 0) {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}
