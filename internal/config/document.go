package config

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/chatguard/chatguard"
)

// document is the outline of the file. Setting a value in it sets the value in its Config. The toml
// tags in it and in the types below are the tables and keys of the file, in this order. The code
// that needs the keys (for reading, the environment, and suggestions) walks this outline, so a new
// key needs only a new field.
type document struct {
	*Config
	Policy    policyTable          `toml:"policy"`
	Limits    *[]chatguard.Limit   `toml:"limit"`
	Penalties *chatguard.Penalties `toml:"penalties"`
	Channels  *channelTables       `toml:"channel"`
	Webhooks  *[]Webhook           `toml:"webhook"`
}

// policyTable is [policy]: the part of a chatguard.Policy without its own table.
type policyTable struct {
	Mode        *chatguard.Mode   `toml:"mode"`
	Roles       *[]chatguard.Role `toml:"roles"`
	Exempt      *[]chatguard.Role `toml:"exempt"`
	ExemptKinds *[]string         `toml:"exempt_messages"`
}

func policyTableOf(p *chatguard.Policy) policyTable {
	return policyTable{&p.Mode, &p.Roles, &p.Exempt, &p.ExemptKinds}
}

// documentOf returns the outline of c. Setting a value in the outline sets it in c.
func documentOf(c *Config) reflect.Value {
	p := &c.Policy
	return reflect.ValueOf(&document{
		Config:    c,
		Policy:    policyTableOf(p),
		Limits:    &p.Limits,
		Penalties: &p.Penalties,
		Channels:  (*channelTables)(&c.Channels),
		Webhooks:  &c.Webhooks,
	}).Elem()
}

// field is one key of a table and the value that it sets.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf returns the keys of a table in order.
func fieldsOf(table reflect.Value) []field {
	var list []field
	for i := range table.NumField() {
		f := table.Type().Field(i)
		value := reflect.Indirect(table.Field(i))
		switch name, tagged := f.Tag.Lookup("toml"); {
		case f.Anonymous:
			list = append(list, fieldsOf(value)...)
		case tagged && name != "-":
			list = append(list, field{name, value})
		}
	}
	return list
}

// namesOf returns the names of the keys that a table may have in the file.
func namesOf(table reflect.Value) []string {
	var names []string
	for _, f := range fieldsOf(table) {
		if !isSecret(f.value.Type()) {
			names = append(names, f.name)
		}
	}
	return names
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// isTable reports whether values of type t are written as a table of keys.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(textUnmarshaler)
}

// isTables reports whether values of type t are written as a list of tables.
func isTables(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && isTable(t.Elem())
}

// heading returns the heading of a table, a list of tables, or a table of tables in the file.
func heading(name string, t reflect.Type) string {
	switch {
	case isTables(t):
		return "[[" + name + "]]"
	case t.Kind() == reflect.Map:
		return "[" + name + ".NAME]"
	}
	return "[" + name + "]"
}

func isSecret(t reflect.Type) bool { return t == reflect.TypeFor[Secret]() }

// variable returns the name of the environment variable for the key at the given place.
func variable(at place) string {
	return "CHATGUARD_" + strings.ToUpper(strings.ReplaceAll(at.String(), ".", "_"))
}
