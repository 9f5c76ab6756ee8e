package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// readEnvironment overrides the document with the variables that are set, even if they are empty.
// Lists and maps of tables can't be set by variables.
func (r *reader) readEnvironment(table reflect.Value, env func(string) (string, bool), at place) error {
	for _, f := range fieldsOf(table) {
		below, t := at.child(f.name), f.value.Type()
		var err error
		switch {
		case isTable(t):
			err = r.readEnvironment(f.value, env, below)
		case isTables(t), t.Kind() == reflect.Map:
		default:
			err = r.override(f.value, env, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// variableOf returns the name of the environment variable for the secret at the given place.
func (r *reader) variableOf(at place) string {
	if at[0] != "webhook" {
		return variable(at)
	}
	var w Webhook
	if name, _ := at[:2].child("name").value(r.tree); name != nil {
		w.Name, _ = name.(string)
	}
	return w.variable("secret")
}

func (r *reader) override(target reflect.Value, env func(string) (string, bool), at place) error {
	name := variable(at)
	text, ok := env(name)
	if !ok {
		return nil
	}
	r.variables[at.String()] = name
	return r.set(target, valueOf(text, target.Kind()), at)
}

// valueOf converts a variable's text to the value that the parser would return for it in a file. If
// text is not a value of that kind, valueOf returns the text itself.
func valueOf(text string, kind reflect.Kind) any {
	switch kind {
	case reflect.Bool:
		if yes, err := strconv.ParseBool(text); err == nil {
			return yes
		}
	case reflect.Int:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	case reflect.Slice:
		list := []any{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return list
	}
	return text
}

// otherVariables belong to the command, or to the example clients of this project.
var otherVariables = []string{"CHATGUARD_CONFIG", "CHATGUARD_BACKUP_PASSPHRASE", "CHATGUARD_TOKEN", "CHATGUARD_URL"}

// variablePrefix begins the names of all variables.
const variablePrefix = "CHATGUARD_"

// UnknownVariable is an environment variable that looks like one of the configuration's but has no
// effect.
type UnknownVariable struct {
	Name string
	Near string // the known variable that is probably meant; "" if none is similar
}

// Variables selects from the names of environment variables. set are those that override the
// configuration file, and unknown are those that look like them but belong to no key. Both are
// sorted.
func (c *Config) Variables(names []string) (set []string, unknown []UnknownVariable) {
	var known []string
	Parse(c.Path, nil, func(name string) (string, bool) { // without a file there is no mistake
		known = append(known, name)
		return "", false
	})
	for _, w := range c.Webhooks {
		known = append(known, w.variable("url"), w.variable("secret"))
	}
	names = slices.Clone(names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		switch {
		case !strings.HasPrefix(name, variablePrefix), slices.Contains(otherVariables, name):
		case slices.Contains(known, name):
			set = append(set, name)
		default:
			unknown = append(unknown, UnknownVariable{name, nearestVariable(name, known)})
		}
	}
	return set, unknown
}

// nearestVariable returns the known variable with the most similar name, or "" if none is similar.
func nearestVariable(name string, known []string) string {
	var short []string
	for _, k := range known {
		short = append(short, strings.TrimPrefix(k, variablePrefix))
	}
	near := nearestName(strings.TrimPrefix(name, variablePrefix), short)
	if near == "" {
		return ""
	}
	return variablePrefix + near
}
