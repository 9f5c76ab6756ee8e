package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/durations"
)

// role is a flag for a role, which determines what somebody may do. It accepts one of the known
// roles.
type role struct {
	auth.Access
	known []auth.Access
}

// usage describes what each of the known roles allows.
func (r *role) usage() string {
	var lines []string
	for _, known := range r.known {
		lines = append(lines, string(known)+" ("+roleWords[known]+")")
	}
	return "what they may do: " + strings.Join(lines, ", ")
}

var roleWords = map[auth.Access]string{
	auth.View:     "see everything",
	auth.Help:     "also pardon, grant, exempt and reset users",
	auth.Moderate: "also change limits and switches, time out and ban",
	auth.Own:      "everything",
	auth.Check:    "only check messages of another chat",
	auth.Overlay:  "only show the overlay in a stream",
}

// roleName returns a role as people read it. It also knows a role of earlier versions, which the
// flag doesn't accept.
func roleName(a auth.Access) string {
	if a == auth.ModerateNotices {
		return "moderate and notices"
	}
	return string(a)
}

func (r *role) String() string { return string(r.Access) }

// Set parses the flag.
func (r *role) Set(text string) error {
	if !slices.Contains(r.known, auth.Access(text)) {
		return errors.New("want one of " + r.names())
	}
	r.Access = auth.Access(text)
	return nil
}

// addRoleFlag adds the flag --role, with its values for completion.
func addRoleFlag(cmd *cobra.Command, r *role) {
	cmd.Flags().Var(r, "role", r.usage())
	var values []string
	for _, known := range r.known {
		values = append(values, string(known)+"\t"+roleWords[known])
	}
	cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
}

func (r *role) names() string {
	var names []string
	for _, known := range r.known {
		names = append(names, string(known))
	}
	return strings.Join(names, ", ")
}

// Type returns the flag's type for the help.
func (*role) Type() string { return "role" }

// expiry is a flag for how long a token is valid, such as 90d. Zero means until it is revoked.
type expiry config.Retention

func (e *expiry) String() string { return "" }

// Set parses the flag.
func (e *expiry) Set(text string) error {
	if (*config.Retention)(e).UnmarshalText([]byte(text)) != nil {
		return errors.New("want a duration above 0, such as 90d or 12h")
	}
	return nil
}

// Type returns the flag's type for the help.
func (*expiry) Type() string { return "time" }

// duration is a flag for how long a command runs, such as 30s. Zero means until it is stopped.
type duration time.Duration

const durationUsage = "end after this time, such as 30s (default: until Ctrl-C)"

func (l *duration) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Set parses the flag.
func (l *duration) Set(text string) error {
	d, err := durations.Parse(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, such as 30s or 10m")
	}
	*l = duration(d)
	return nil
}

// Type returns the flag's type for the help.
func (*duration) Type() string { return "time" }
