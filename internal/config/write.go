package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/chatguard/chatguard"
)

// ErrNoLimits is the error for a policy that can't be written as a file because it has no limits.
var ErrNoLimits = errors.New("a policy without limits can't be written as a file: a file without limits gets the default limits")

// WritePolicy formats a valid policy as tables of a configuration file, which can replace the same
// tables there. The error may be ErrNoLimits.
func WritePolicy(p chatguard.Policy) ([]byte, error) {
	if len(p.Limits) == 0 {
		return nil, ErrNoLimits
	}
	values, err := valuesOf(p)
	if err != nil {
		return nil, err
	}
	var w tableWriter
	w.writeKeys([]string{"timezone"}, values)
	w.writeTable("[policy]", namesOf(reflect.ValueOf(policyTableOf(&p))), values)
	limits, _ := values["limits"].([]any)
	for _, limit := range limits {
		w.writeLimit(limit.(map[string]any), p.Roles)
	}
	penalties, _ := values["penalties"].(map[string]any)
	w.writeTable("[penalties]", namesOf(reflect.ValueOf(p.Penalties)), penalties)
	return w.out.Bytes(), w.err
}

// valuesOf returns the values of a policy by key. The policy's JSON form has the same names and
// values as the file.
func valuesOf(p chatguard.Policy) (values map[string]any, err error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // keep numbers exact
	return values, decoder.Decode(&values)
}

// tableWriter writes tables until an error occurs.
type tableWriter struct {
	out bytes.Buffer
	err error
}

// writeLimit writes a limit and then the numbers of its roles, highest first.
func (w *tableWriter) writeLimit(limit map[string]any, order []chatguard.Role) {
	w.writeTable("[[limit]]", namesOf(reflect.ValueOf(chatguard.Limit{})), limit)
	roles, _ := limit["roles"].(map[string]any)
	names := slices.SortedFunc(maps.Keys(roles), func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(order, chatguard.Role(a)), slices.Index(order, chatguard.Role(b))), strings.Compare(a, b))
	})
	for _, role := range names {
		if numbers, ok := roles[role].(map[string]any); ok {
			w.writeTable("[limit.roles."+tomlKey(role)+"]", namesOf(reflect.ValueOf(chatguard.Override{})), numbers)
		}
	}
}

// tomlKey returns a role's name as a key: quoted if it has colons.
func tomlKey(role string) string {
	if strings.Contains(role, ":") {
		return strconv.Quote(role)
	}
	return role
}

func (w *tableWriter) writeTable(heading string, names []string, values map[string]any) {
	fmt.Fprintf(&w.out, "\n%s\n", heading)
	w.writeKeys(names, values)
}

// writeKeys writes the values that have one of the names, in the order of names. It leaves out
// subtables.
func (w *tableWriter) writeKeys(names []string, values map[string]any) {
	for _, name := range names {
		value, ok := values[name]
		if _, isTable := value.(map[string]any); !ok || isTable || w.err != nil {
			continue
		}
		if number, isNumber := value.(json.Number); isNumber {
			value, w.err = number.Int64()
		}
		line, err := toml.Marshal(map[string]any{name: value})
		if w.err == nil {
			w.err = err
		}
		w.out.Write(line)
	}
}
