package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKey returns the error for a key that the table does not have.
func (r *reader) unknownKey(table place, key string, known []string) error {
	at := table.child(key)
	if strings.HasPrefix(key, variablePrefix) {
		return &Error{File: r.file, Line: at.line(r.data), Key: key, Problem: belongsInEnvironment}
	}
	return &Error{
		File: r.file, Line: at.line(r.data), Key: table.describe(r.tree),
		Problem: fmt.Sprintf("unknown key %q (%s)", key, suggest(at, known)),
	}
}

// suggest suggests the key that was probably intended. It looks first for a similar name in the
// table, and then for the same name in another table. If it finds neither, it lists the keys of the
// table. For a key outside all tables, the same name in a table comes first, because that table's
// heading is probably missing.
func suggest(at place, known []string) string {
	table, key := at[:len(at)-1], at[len(at)-1].(string)
	near, where := nearestName(key, known), keyLocation(table, key)
	switch {
	case near != "" && (where == "" || len(table) > 0):
		return fmt.Sprintf("did you mean %q?", near)
	case where != "":
		return "it belongs " + where
	}
	return "known here: " + strings.Join(known, ", ")
}

// keyLocation returns where in the file a key of a table belongs, or "" if there is no such key. If
// a key in a channel's table may be set per channel, it belongs in the channel's table.
func keyLocation(table place, key string) string {
	c := Default()
	if len(table) > 1 && table[0] == "channel" {
		channel := table[:2].String()
		if where := keyLocationIn(channelTableOf(&c.Policy), key, "as ", channel+".", "under ["+channel+"]"); where != "" {
			return where
		}
	}
	return keyLocationIn(documentOf(&c), key, "at the top, as ", "", "above the first [table]")
}

// keyLocationIn returns where a key belongs in an outline, or "" if there is no such key. If the
// key is itself a table, the result is asTable and the table's heading. prefix is put before the
// tables' names. For a key outside all tables, the result is plain.
func keyLocationIn(outline reflect.Value, key, asTable, prefix, plain string) string {
	for _, f := range fieldsOf(outline) {
		table, t := f.value, f.value.Type()
		if isTables(t) {
			table = reflect.New(t.Elem()).Elem()
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

// nearestName returns the name with the smallest edit distance to text, the first one if several
// are equal. It is empty if every distance is too large.
func nearestName(text string, names []string) string {
	best, least := "", max(len(text)/3, 2)+1
	for _, name := range names {
		if d := distance(text, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the number of letters to insert, remove, replace or swap with their neighbour to
// turn a into b (optimal string alignment).
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
