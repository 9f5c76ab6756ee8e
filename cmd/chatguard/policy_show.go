package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

func newPolicyShowCommand() *cobra.Command {
	return policyCommand(&cobra.Command{
		Use:     "show",
		Short:   "Show the policy in force and where it comes from",
		Long:    "Prints the policy as TOML, below a list of what differs from the configuration, with author and time.",
		Example: "  chatguard policy show gardenhour",
	}, func(cmd *cobra.Command, _ config.Config, p channelPolicy) error {
		return showPolicy(cmd.OutOrStdout(), p)
	})
}

func newPolicyExportCommand() *cobra.Command {
	return policyCommand(&cobra.Command{
		Use:   "export",
		Short: "Print the policy in force as TOML, ready for the configuration",
		Long: `Prints the policy in the format of the configuration. In the file, put timezone above the first table, and replace [policy],
[[limit]] and [penalties] with the rest. For a channel with its own table, put timezone into [channel.NAME], and name the
tables [channel.NAME.policy], [[channel.NAME.limit]], [channel.NAME.limit.roles.ROLE] and [channel.NAME.penalties].`,
		Example: "  chatguard policy export gardenhour",
	}, func(cmd *cobra.Command, _ config.Config, p channelPolicy) error {
		return exportPolicy(cmd.OutOrStdout(), p)
	})
}

func showPolicy(out io.Writer, p channelPolicy) error {
	by := fmt.Sprintf("by %s, %s (revision %d)", hostile.Printable(p.Author), p.At.Local().Format("Mon 2 Jan 2006, 15:04 MST"), p.Number)
	switch {
	case p.Problem != nil:
		printLine(out, "# #%s: as in the configuration, because what was changed live %s can't be used:", p.name, by)
		printLine(out, "#   %s", p.Problem)
		printLine(out, "# `chatguard policy discard %s` discards it", p.name)
	case len(p.Difference) == 0:
		printLine(out, "# #%s: as in the configuration", p.name)
	default:
		printLine(out, "# #%s: changed live %s", p.name, by)
	}
	if p.Unacceptable != nil {
		printLine(out, "# Only observing: %s", p.Unacceptable)
	}
	for _, c := range p.Difference {
		printLine(out, "#   %s: %s (in the configuration %s)", c.Key, journal.ValueText(c.To), journal.ValueText(c.From))
	}
	for _, c := range p.Left {
		printLine(out, "#   %s: %s no longer fits the configuration, and isn't in force", c.Key, journal.ValueText(c.To))
	}
	fmt.Fprintln(out)
	return exportPolicy(out, p)
}

func exportPolicy(out io.Writer, p channelPolicy) error {
	written, err := config.WritePolicy(p.InForce)
	if err != nil {
		return err
	}
	_, err = out.Write(written)
	return err
}
