package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknown is the error that a table has a key that isn't one of its own.
func (r *reader) unknown(table place, key string, known []string) error {
	at := table.then(key)
	return &Error{
		File: r.file, Line: at.line(r.data), Key: table.words(r.tree),
		Problem: fmt.Sprintf("unknown key %q (%s)", key, suggest(at, known)),
	}
}

// suggest says which key may have been meant: one of the table whose name is near, the same name elsewhere, or any of the table. Above all tables
// the same name elsewhere comes first: its heading is missing.
func suggest(at place, known []string) string {
	table, key := at[:len(at)-1], at[len(at)-1].(string)
	near, where := nearest(key, known), home(table, key)
	switch {
	case near != "" && (where == "" || len(table) > 0):
		return fmt.Sprintf("did you mean %q?", near)
	case where != "":
		return "it belongs " + where
	}
	return "known here: " + strings.Join(known, ", ")
}

// home says where in the file a key belongs that stands in a table; empty where there is no such key. What a channel can have of its own
// belongs into the channel's table where the key stands in that.
func home(table place, key string) string {
	c := Default()
	if len(table) > 1 && table[0] == "channel" {
		channel := table[:2].String()
		if where := homeIn(channelTableOf(&c.Policy), key, "as ", channel+".", "under ["+channel+"]"); where != "" {
			return where
		}
	}
	return homeIn(documentOf(&c), key, "at the top, as ", "", "above the first [table]")
}

// homeIn looks for a key in an outline: the words for a table in it, the prefix of the tables' names, and the words for a key of no table differ.
func homeIn(outline reflect.Value, key, asTable, prefix, plain string) string {
	for _, f := range fieldsOf(outline) {
		table, t := f.value, f.value.Type()
		if isTables(t) {
			table = table.Index(0)
		}
		inTables := isTable(table.Type())
		switch {
		case f.name == key && (inTables || t.Kind() == reflect.Map):
			return asTable + heading(prefix+key, t)
		case f.name == key:
			return plain
		case inTables && slices.Contains(namesOf(table), key):
			return "under " + heading(prefix+f.name, t)
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
