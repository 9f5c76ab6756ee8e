package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
)

// checkPolicy validates the policy at the given place, and reports the error at the place of the
// wrong value.
func (r *reader) checkPolicy(p chatguard.Policy, at place) error {
	err := p.Validate()
	wrong, ok := errors.AsType[*chatguard.PolicyError](err)
	if !ok {
		return err
	}
	section, key, _ := strings.Cut(wrong.Parameter, ".")
	key, _, _ = strings.Cut(key, "[") // the problem names the step of the ladder
	switch {
	case wrong.Limit != "" || section == "name":
		return r.failLimit(p.Limits, wrong, at)
	case section == "limits":
		return r.fail(at.child("limit").child(len(p.Limits)-1), "%s", wrong.Problem)
	case section == "timezone":
		return r.fail(at.child(section), "%s", wrong.Problem)
	case key != "":
		at = at.child(section).child(key)
	default:
		at = at.child("policy").child(section)
	}
	return r.fail(at, "%s", strings.TrimPrefix(wrong.Problem, section+": ")) // the place repeats it
}

// checkTwitch returns an error for a penalty or a kind of message that the bot doesn't know in a
// policy of a Twitch channel. If the configuration has only chats of other servers, both are up to
// these servers.
func (r *reader) checkTwitch(c *Config, p chatguard.Policy, at place) error {
	if len(c.Twitch.Channels) == 0 && len(c.Check.Channels) > 0 {
		return nil
	}
	for _, kind := range p.ExemptKinds {
		if !slices.Contains(roles.TwitchKinds, kind) {
			return r.fail(at.child("policy").child("exempt_messages"), "unknown kind of message %q (known: %s)", kind, roles.TwitchKinds)
		}
	}
	for _, rung := range p.Penalties.Ladder {
		if err := penalties.CheckRung(rung); err != nil {
			return r.fail(at.child("penalties").child("ladder"), "%s", err)
		}
	}
	return nil
}

// failLimit returns the error for a mistake in a limit or in the numbers of a role. If the table
// lacks the key, the error's line is the line of the table.
func (r *reader) failLimit(limits []chatguard.Limit, wrong *chatguard.PolicyError, at place) error {
	i := len(limits) - 1
	for limits[i].Name != wrong.Limit { // if two have the name, the last one is wrong
		i--
	}
	table := at.child("limit").child(i)
	isMissing := wrong.Parameter != "" && !table.child(wrong.Parameter).isIn(r.tree)
	if wrong.Role != "" {
		table, isMissing = table.child("roles").child(string(wrong.Role)), false
	}
	failure := &Error{File: r.file, Line: table.child(wrong.Parameter).line(r.data), Key: table.describe(r.tree), Problem: wrong.Problem}
	switch {
	case wrong.Limit == "":
		failure.Problem = "name is missing"
	case isMissing:
		failure.Problem = fmt.Sprintf("%s is missing: %s", wrong.Parameter, wrong.Problem)
	}
	return failure
}

// fitExempt removes the roles that the policy doesn't list from its exempt roles, unless the file
// or the environment sets these.
func (r *reader) fitExempt(p *chatguard.Policy, at place) {
	exempt := at.child("policy").child("exempt")
	if _, set := r.variables[exempt.String()]; !set && !exempt.isIn(r.tree) {
		p.Exempt = slices.DeleteFunc(p.Exempt, func(role chatguard.Role) bool { return !slices.Contains(p.Roles, role) })
	}
}
