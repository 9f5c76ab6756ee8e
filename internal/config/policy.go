package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// checkPolicy validates the policy at the given place part by part and limit by limit, so that each
// error is reported at its own place. Each single value was checked before.
func (r *reader) checkPolicy(p chatguard.Policy, at place) error {
	limits := p.Limits
	p.Limits = nil
	for _, part := range []struct {
		at     place
		policy chatguard.Policy
		prefix string // of the error, which the place repeats
	}{
		{at.child("timezone"), chatguard.Policy{Timezone: p.Timezone}, ""},
		{at.child("policy").child("exempt"), chatguard.Policy{Exempt: p.Exempt}, "exempt: "},
		{at.child("policy").child("exempt_messages"), chatguard.Policy{ExemptMessages: p.ExemptMessages}, "exempt_messages: "},
		{at.child("penalties").child("ladder"), chatguard.Policy{Penalties: p.Penalties}, "penalties: "},
	} {
		if err := part.policy.Validate(); err != nil {
			return r.fail(part.at, "%s", strings.TrimPrefix(journal.Sentence(err), part.prefix))
		}
	}
	for i, l := range limits {
		p.Limits = slices.Clone(limits[:i])
		if err := r.checkLimit(p, l, at.child("limit").child(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit adds a limit to a policy, first without its roles and then with each role alone, to
// find out where the mistake is.
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
			return r.failLimit(at.child("roles").child(role.String()), l.Name, err)
		}
	}
	return nil
}

// failLimit returns the error for the table of a limit or of one of its roles. The error's line is
// the line of the first key that the policy's error mentions. If the table lacks that key, it is
// the line of the table.
func (r *reader) failLimit(table place, name string, err error) error {
	problem := strings.TrimPrefix(journal.Sentence(err), fmt.Sprintf("limit %q: ", name))
	problem = strings.TrimPrefix(problem, "for a role: ")
	failure := &Error{File: r.file, Line: table.line(r.data), Key: table.describe(r.tree), Problem: problem}
	isSeparator := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) }
	for _, word := range strings.FieldsFunc(problem, isSeparator) {
		if at := table.child(word); at.isIn(r.tree) {
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
