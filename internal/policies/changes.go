package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Dotted keys, as in the configuration. The configuration has no key for the order of the limits.
const (
	limitsKey = "limit"
	modeKey   = "mode"
	orderKey  = "order"
)

// Diff returns the differences between two valid policies, one change per key, sorted by key.
func Diff(from, to chatguard.Policy) []journal.Change {
	before, _ := flatten(from)
	after, _ := flatten(to)
	changes := orderDiff(ownNames(from), ownNames(to))
	for key := range after {
		if !reflect.DeepEqual(before[key], after[key]) {
			changes = append(changes, journal.Change{Key: key, From: before[key], To: after[key]})
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			changes = append(changes, journal.Change{Key: key, From: before[key]})
		}
	}
	slices.SortFunc(changes, func(a, b journal.Change) int { return strings.Compare(a.Key, b.Key) })
	return changes
}

// applyAll returns p with the changes applied, and the changes that no longer fit. The changes of
// one limit fit together or not at all. Changes of a limit that counts in all channels never fit.
// Limits keep their order unless a change states another one, and new limits come last, by name. p
// must be valid; the result is then valid too.
func applyAll(p chatguard.Policy, changes []journal.Change) (changed chatguard.Policy, left []journal.Change) {
	if p.Validate() != nil {
		return p, changes
	}
	byName := map[string][]journal.Change{}
	for _, c := range changes {
		byName[group(c.Key)] = append(byName[group(c.Key)], c)
	}
	var groups [][]journal.Change
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		groups = append(groups, byName[name])
	}
	a := application{policy: p, fixed: allChannels(p)}
	a.add(groups)
	return a.policy, a.left
}

// application is a policy with some changes applied.
type application struct {
	policy chatguard.Policy
	fixed  chatguard.Policy // the part of it that no channel can change
	left   []journal.Change
}

// add applies all groups at once, with one build and one validation. If they don't fit together, it
// splits them in halves and adds each half, down to single groups.
func (a *application) add(groups [][]journal.Change) {
	if len(groups) == 0 {
		return
	}
	next, err := apply(a.policy, slices.Concat(groups...))
	switch half := len(groups) / 2; {
	case err == nil && next.Validate() == nil && len(Diff(a.fixed, allChannels(next))) == 0:
		a.policy = next
	case half == 0:
		a.left = append(a.left, groups[0]...)
	default:
		a.add(groups[:half])
		a.add(groups[half:])
	}
}

// group returns the name of the group of changes to which a key belongs: the key's limit, or the
// key itself. The changes of a group are applied together.
func group(key string) string {
	if path := strings.SplitN(key, ".", 3); path[0] == limitsKey && len(path) == 3 {
		return path[0] + "." + path[1]
	}
	return key
}

func apply(p chatguard.Policy, changes []journal.Change) (chatguard.Policy, error) {
	leaves, order := flatten(p)
	known := map[string]bool{}
	for _, name := range order {
		known[name] = true
	}
	var wanted []string
	for _, c := range changes {
		if c.Key == orderKey {
			var ok bool
			if wanted, ok = namesIn(c.To); !ok {
				return p, errors.New("the order of the limits is not a list of names")
			}
			continue
		}
		if c.To == nil {
			delete(leaves, c.Key)
			continue
		}
		leaves[c.Key] = c.To
		if path := strings.SplitN(c.Key, ".", 3); path[0] == limitsKey && len(path) > 1 && !known[path[1]] {
			known[path[1]] = true
			order = append(order, path[1])
		}
	}
	return build(leaves, inOrder(order, wanted))
}

// flatten converts a policy's JSON form into dotted keys, with limits by name, and returns the
// limits' names in order.
func flatten(p chatguard.Policy) (leaves map[string]any, order []string) {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Policy with valid roles can be encoded
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // keep numbers exact
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	limits, _ := tree["limits"].([]any)
	delete(tree, "limits")
	byName := map[string]any{}
	for _, l := range limits {
		limit := l.(map[string]any)
		name := limit["name"].(string)
		delete(limit, "name")
		byName[name] = limit
		order = append(order, name)
	}
	tree[limitsKey] = byName
	leaves = map[string]any{}
	collect(leaves, "", tree)
	return leaves, order
}

func collect(leaves map[string]any, prefix string, tree map[string]any) {
	for key, value := range tree {
		if branch, ok := value.(map[string]any); ok && len(branch) > 0 {
			collect(leaves, prefix+key+".", branch)
			continue
		}
		leaves[prefix+key] = value
	}
}

// build is the inverse of flatten.
func build(leaves map[string]any, order []string) (p chatguard.Policy, err error) {
	tree := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(leaves)) {
		path := strings.Split(key, ".")
		branch := tree
		for _, step := range path[:len(path)-1] {
			next, ok := branch[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				branch[step] = next
			}
			branch = next
		}
		branch[path[len(path)-1]] = leaves[key]
	}
	byName, _ := tree[limitsKey].(map[string]any)
	delete(tree, limitsKey)
	limits := []any{}
	for _, name := range order {
		if limit, ok := byName[name].(map[string]any); ok {
			limit["name"] = name
			limits = append(limits, limit)
		}
	}
	tree["limits"] = limits
	data, err := json.Marshal(tree)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(data, &p)
}
