package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/chatguard/chatguard"
)

// checkPolicy asks the policy that the file has at a place whether it can work, limit by limit, so that each mistake is found where it was made.
func (r *reader) checkPolicy(p chatguard.Policy, at place) error {
	limits := p.Limits
	p.Limits = nil
	if err := p.Validate(); err != nil { // mode, roles and penalties were checked when they were read
		return r.fail(at.then("timezone"), "%v", err)
	}
	for i, l := range limits {
		p.Limits = slices.Clone(limits[:i])
		if err := r.checkLimit(p, l, at.then("limit").then(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit adds a limit to a policy, at first without its roles and then with each alone.
func (r *reader) checkLimit(p chatguard.Policy, l chatguard.Limit, at place) error {
	if l.Name == "" {
		return r.fail(at, "name is missing")
	}
	roles := l.Roles
	l.Roles = nil
	p.Limits = append(p.Limits, l)
	if err := p.Validate(); err != nil {
		return r.failLimit(at, l.Name, err)
	}
	last := &p.Limits[len(p.Limits)-1]
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		last.Roles = map[chatguard.Role]chatguard.Override{role: roles[role]}
		if err := p.Validate(); err != nil {
			return r.failLimit(at.then("roles").then(role.String()), l.Name, err)
		}
	}
	return nil
}

// failLimit is the error that a limit's table, or that of one of its roles, can't work. The line is that of the first
// key that the policy's words mention, unless the table lacks it.
func (r *reader) failLimit(table place, name string, err error) error {
	problem := strings.TrimPrefix(err.Error(), fmt.Sprintf("limit %q: ", name))
	problem = strings.TrimPrefix(problem, "for a role: ")
	failure := &Error{File: r.file, Line: table.line(r.data), Key: table.words(r.tree), Problem: problem}
	isSeparator := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) }
	for _, word := range strings.FieldsFunc(problem, isSeparator) {
		if at := table.then(word); at.isIn(r.tree) {
			failure.Line = at.line(r.data)
			return failure
		}
		if _, isLimit := table[len(table)-1].(int); isLimit && slices.Contains(namesOf(reflect.ValueOf(chatguard.Limit{})), word) {
			failure.Problem = fmt.Sprintf("%s is missing: %s", word, problem)
			return failure
		}
	}
	return failure
}
