package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// noArguments refuses arguments, and suggests a command that may be meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return usageError{fmt.Errorf("unknown command %q: did you mean %q?", args[0], near[0])}
		}
		return usageError{fmt.Errorf("unknown command %q: see chatguard help", args[0])}
	}
	return usageError{fmt.Errorf("%s takes no argument, but got %q: see chatguard help %s", cmd.CommandPath(), args[0], helpTopic(cmd))}
}

// helpTopic returns the arguments of "chatguard help" for a command.
func helpTopic(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// someArguments requires at least one argument.
func someArguments(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s needs %s: see chatguard help %s", cmd.CommandPath(), what, helpTopic(cmd))}
		}
		return nil
	}
}

// oneArgument requires exactly one argument; word is its name in the help.
func oneArgument(word, what string) cobra.PositionalArgs {
	return cobra.MatchAll(someArguments(what), func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes one %s, but got %q too", cmd.CommandPath(), word, args[1])}
		}
		return nil
	})
}

// optional allows no argument, or else what args allows.
func optional(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) == 0 {
			return nil
		}
		return args(cmd, given)
	}
}

// oneUser requires one argument that isn't empty.
func oneUser(cmd *cobra.Command, args []string) error {
	if err := oneArgument("USER", "a USER")(cmd, args); err != nil {
		return err
	}
	if args[0] == "" {
		return usageError{errors.New(cmd.CommandPath() + " needs a USER, but it is empty")}
	}
	return nil
}
