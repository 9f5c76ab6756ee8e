package config

import (
	"fmt"
	"slices"
	"strings"
)

// unknown is the error that a table has a key that isn't one of its own.
func (r *reader) unknown(table place, key string, known []string) error {
	at := table.then(key)
	err := &Error{File: r.file, Line: at.line(r.data), Key: table.words(r.tree)}
	if len(table) == 0 && key == "channel" {
		err.Problem = "[channel] tables are not supported yet: so far all channels share [policy], [[limit]] and [penalties]"
		return err
	}
	err.Problem = fmt.Sprintf("unknown key %q (%s)", key, suggest(key, known))
	return err
}

// suggest says which key may have been meant: the same name elsewhere, one of the table whose name is near, or any of the table.
func suggest(key string, known []string) string {
	if where := home(key); where != "" {
		return "it belongs " + where
	}
	if name := nearest(key, known); name != "" {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return "known here: " + strings.Join(known, ", ")
}

// home says where in the file a key belongs; empty where there is no such key.
func home(key string) string {
	c := Default()
	for _, f := range fieldsOf(documentOf(&c)) {
		table, t := f.value, f.value.Type()
		if isTables(t) {
			table = table.Index(0)
		}
		inTables := isTable(table.Type())
		switch {
		case f.name == key && inTables:
			return "at the top, as " + heading(key, t)
		case f.name == key:
			return "above the first [table]"
		case inTables && slices.Contains(namesOf(table), key):
			return "under " + heading(f.name, t)
		}
	}
	return ""
}

// nearest returns the name that takes the fewest slips of the finger to become text, the first of equals; empty where all of them take too many.
func nearest(text string, names []string) string {
	best, least := "", max(len(text)/3, 2)+1
	for _, name := range names {
		if d := distance(text, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their neighbour until a is b (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
