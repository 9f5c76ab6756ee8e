package config

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/BurntSushi/toml"
)

// place is the path to a value in the file: names of tables, the index of a [[limit]] after its
// name, and a key.
type place []any

// child returns the place that is one step below p.
func (p place) child(step any) place { return append(slices.Clip(p), step) }

// String returns the place as a dotted key, without indexes.
func (p place) String() string {
	var key toml.Key
	for _, step := range p {
		if name, ok := step.(string); ok {
			key = append(key, name)
		}
	}
	return key.String()
}

// value returns the value at the place in a tree, and whether there is one.
func (p place) value(tree any) (any, bool) {
	for _, step := range p {
		switch node := tree.(type) {
		case map[string]any:
			name, _ := step.(string)
			below, ok := node[name]
			if !ok {
				return nil, false
			}
			tree = below
		default:
			list, _ := elements(node)
			i, ok := step.(int)
			if !ok || i >= len(list) {
				return nil, false
			}
			tree = list[i]
		}
	}
	return tree, true
}

func (p place) isIn(tree any) bool {
	_, ok := p.value(tree)
	return ok
}

// describe returns a description of the place for a person: `twitch.channels`, `limit "burst":
// refill`, `channel.tea.limit "burst"`, `webhook "team": url`, or `limit 2` if that limit has no
// name yet.
func (p place) describe(tree any) string {
	n := slices.IndexFunc(p, func(step any) bool { _, isIndex := step.(int); return isIndex })
	if n < 0 {
		return p.String()
	}
	limit := fmt.Sprintf("%s %d", p[:n], p[n].(int)+1)
	if name, _ := p[:n+1].child("name").value(tree); name != nil && name != "" {
		limit = fmt.Sprintf("%s %q", p[:n], name)
	}
	if len(p) == n+1 {
		return limit
	}
	return limit + ": " + p[n+1:].String()
}

// policyPlace returns the place relative to its policy, which is either a channel's own or the
// policy for all channels.
func (p place) policyPlace() place {
	if len(p) > 2 && p[0] == "channel" {
		return p[2:]
	}
	return p
}

// line returns the number of the line that contains the value at the place. If there is no value,
// it returns the line of the table that the place belongs to, or 0 if the file has neither.
//
// The parser does not record positions, so line parses the beginning of the file, cut off after
// each line. The value is on the first line after which the cut file contains the value. If the
// parser rejects a cut inside a multi-line value, the next cut that it accepts counts. So this
// works for every notation that the parser accepts.
func (p place) line(data []byte) int {
	if len(p) == 0 {
		return 0
	}
	var ends []int // end of each line, in bytes
	for line := range bytes.Lines(data) {
		ends = append(ends, len(line))
		if n := len(ends); n > 1 {
			ends[n-1] += ends[n-2]
		}
	}
	found := sort.Search(len(ends), func(i int) bool {
		for _, end := range ends[i:] {
			if tree, err := parse(data[:end]); err == nil {
				return p.isIn(tree)
			}
		}
		return false
	})
	if found == len(ends) {
		return p[:len(p)-1].line(data)
	}
	return found + 1
}
