package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
)

// role is what somebody may do, as a flag that takes one of those known.
type role struct {
	journal.Access
	known []journal.Access
}

// usage says what each of the roles known lets somebody do.
func (r *role) usage() string {
	var lines []string
	for _, known := range r.known {
		lines = append(lines, string(known)+" ("+roleWords[known]+")")
	}
	return "what they may do: " + strings.Join(lines, ", ")
}

var roleWords = map[journal.Access]string{
	journal.AccessView:     "see everything",
	journal.AccessModerate: "change users, limits and switches too",
	journal.AccessOwn:      "everything",
	journal.AccessCheck:    "have the messages of another chat judged, and nothing else",
}

func (r *role) String() string { return string(r.Access) }

// Set reads the flag.
func (r *role) Set(text string) error {
	if !slices.Contains(r.known, journal.Access(text)) {
		return errors.New("want one of " + r.names())
	}
	r.Access = journal.Access(text)
	return nil
}

func (r *role) names() string {
	var names []string
	for _, known := range r.known {
		names = append(names, string(known))
	}
	return strings.Join(names, ", ")
}

// Type names what the flag takes in the help.
func (*role) Type() string { return "role" }

// expiry is how long a token holds, as a flag: 90d. Zero means until it is revoked.
type expiry config.Retention

func (e *expiry) String() string { return "" }

// Set reads the flag.
func (e *expiry) Set(text string) error {
	if (*config.Retention)(e).UnmarshalText([]byte(text)) != nil {
		return errors.New("want a length of time above 0, such as 90d or 12h")
	}
	return nil
}

// Type names what the flag takes in the help.
func (*expiry) Type() string { return "time" }
