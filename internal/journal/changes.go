package journal

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
)

// limitsKey is what limits stand under in a dotted key, as in the configuration.
const limitsKey = "limit"

// Diff returns what differs between two valid policies, a change for each key, sorted by key.
func Diff(from, to chatguard.Policy) []Change {
	before, _ := flatten(from)
	after, _ := flatten(to)
	changes := []Change{}
	for key := range after {
		if !reflect.DeepEqual(before[key], after[key]) {
			changes = append(changes, Change{Key: key, From: before[key], To: after[key]})
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			changes = append(changes, Change{Key: key, From: before[key]})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	return changes
}

// Apply returns the policy of a channel with the changes made to it, and those that no longer fit: the changes of one limit fit together or
// not at all, and none of a limit that counts in all channels. Limits keep their order; new ones come last. The policy must be valid, and then
// the result is.
func Apply(p chatguard.Policy, changes []Change) (changed chatguard.Policy, left []Change) {
	guard, err := chatguard.New(p, nil) // knows what can't be changed in one channel
	if err != nil {
		return p, changes
	}
	byName := map[string][]Change{}
	for _, c := range changes {
		byName[group(c.Key)] = append(byName[group(c.Key)], c)
	}
	var groups [][]Change
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		groups = append(groups, byName[name])
	}
	a := application{guard: guard, policy: p}
	a.add(groups)
	return a.policy, a.left
}

// application is a policy to which changes are being made.
type application struct {
	guard  *chatguard.Guard
	policy chatguard.Policy
	left   []Change
}

// add makes all changes at once: one build and one validation. If they don't fit together, it adds each half by itself, down to single groups.
func (a *application) add(groups [][]Change) {
	if len(groups) == 0 {
		return
	}
	next, err := apply(a.policy, slices.Concat(groups...))
	if err == nil {
		err = a.guard.ValidatePolicy(anyChannel, next)
	}
	switch half := len(groups) / 2; {
	case err == nil:
		a.policy = next
	case half == 0:
		a.left = append(a.left, groups[0]...)
	default:
		a.add(groups[:half])
		a.add(groups[half:])
	}
}

// anyChannel stands for the one whose policy is changed: the same changes fit in all.
const anyChannel = "any"

// group names what a key can't be changed without: its limit, or itself.
func group(key string) string {
	if path := strings.SplitN(key, ".", 3); path[0] == limitsKey && len(path) == 3 {
		return path[0] + "." + path[1]
	}
	return key
}

func apply(p chatguard.Policy, changes []Change) (chatguard.Policy, error) {
	leaves, order := flatten(p)
	known := map[string]bool{}
	for _, name := range order {
		known[name] = true
	}
	for _, c := range changes {
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
	return build(leaves, order)
}

// flatten spreads a policy's JSON form out into dotted keys, limits by their names, and returns the names in their order.
func flatten(p chatguard.Policy) (leaves map[string]any, order []string) {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Policy of valid roles always has a JSON form
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // counts stay exact
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

// build is the way back from flatten.
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
