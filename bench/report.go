package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is one table of the report.
type table struct {
	title, note string
	head        []string
	rows        [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table with aligned columns and numbers to the right. As Markdown it adds the
// bars.
func (t *table) print(w io.Writer, markdown bool) {
	title, bar := t.title, "  "
	if markdown {
		title, bar = "### "+t.title, " | "
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	widths := make([]int, len(t.head))
	lines := append([][]string{t.head}, t.rows...)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, line := range lines {
		t.printLine(w, line, widths, bar, markdown)
		if i == 0 && markdown {
			fmt.Fprintln(w, "|---"+strings.Repeat("|--:", len(t.head)-1)+"|")
		}
	}
	fmt.Fprintf(w, "\n%s\n", t.note)
}

func (t *table) printLine(w io.Writer, line []string, widths []int, bar string, markdown bool) {
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

// median returns the middle value, or the upper one of the two if their number is even.
func median[T ~int64 | ~float64](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// describeMachine returns a description of the machine that the figures were measured on.
func describeMachine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil { // Linux only
		if _, after, ok := strings.Cut(string(info), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(after, "\n")
		}
	}
	return fmt.Sprintf("%s, %d processors, %s, %s/%s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
