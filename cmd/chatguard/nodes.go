package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

func newNodesCommand() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes that share limits",
		Long: `Lists the nodes that share limits, as the configuration's store knows them. Works on any machine that reaches the store,
even if no chatguard runs there. A node that has crashed disappears after 5 s.

policy is a hash of the policy for channels without their own. Nodes with different hashes allow different messages. clock
is how far the store's clock is ahead of the node's, and the maximum error of that. messages are per second.

memory and offline count messages that the node decided without the store: for memory, the answer was certain; for
offline, the store failed or had an unreadable row. pending counts the users' rows that the node still has to write.
With --json, these are counts.from_memory, counts.offline and counts.unreadable, and counts.pending; messages is
messages_per_second.

If nodes have different policies or modes, or the same name, a line says so; with --json on standard error. So does one if
the store refuses changes, because nodes that run may then be missing.`,
		Example: `  chatguard nodes
  chatguard nodes --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, path, func(ctx context.Context, _ config.Config, store *redisstore.Store) error {
				nodes, err := store.Nodes(ctx)
				if err != nil {
					return err
				}
				health := store.Health()
				if asJSON {
					err = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"nodes": append([]shared.Node{}, nodes...)})
					return errors.Join(err, printDisagreements(cmd.ErrOrStderr(), nodes, health))
				}
				if len(nodes) > 0 || !health.Refusing {
					err = printNodes(cmd.OutOrStdout(), nodes)
				}
				return errors.Join(err, printDisagreements(cmd.OutOrStdout(), nodes, health))
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printNodes(out io.Writer, nodes []shared.Node) error {
	if len(nodes) == 0 {
		_, err := fmt.Fprintln(out, "No nodes. `chatguard run` adds one.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "name\taddress\tversion\tmode\tpolicy\tsince\tclock\tmessages\tmemory\toffline\tpending")
	for _, n := range nodes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s ± %s\t%.0f\t%d\t%d\t%d\n", hostile.Printable(n.Name), hostile.Printable(n.Address), hostile.Printable(n.Version),
			hostile.Printable(string(n.Mode)), hostile.Printable(n.PolicyHash), moment(n.Started), n.Offset.Round(time.Microsecond), n.Error.Round(time.Microsecond),
			n.MessagesPerSecond, n.Counts.FromMemory, n.Counts.Offline+n.Counts.Unreadable, n.Counts.Pending)
	}
	return table.Flush()
}

// printDisagreements prints a line for each way in which nodes don't fit together, and one if the
// store can't list all of them.
func printDisagreements(out io.Writer, nodes []shared.Node, health shared.Health) error {
	lines := disagreements(nodes)
	if health.Refusing {
		lines = append(lines, "The store refuses changes, so nodes that run may be missing here: "+health.Problem)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// disagreements returns a line, with the fix, for each kind of conflict between nodes: different
// policies, different modes, or the same name. The line names the first nodes in conflict.
func disagreements(nodes []shared.Node) (lines []string) {
	policy := func(n shared.Node) string { return n.PolicyHash }
	if a, b, ok := differing(nodes, policy); ok {
		lines = append(lines, fmt.Sprintf("%s has another policy than %s: deploy the same policy on all nodes, with the same key of texts", hostile.Printable(b.Name), hostile.Printable(a.Name)))
	}
	mode := func(n shared.Node) string { return string(n.Mode) }
	if a, b, ok := differing(nodes, mode); ok {
		lines = append(lines, fmt.Sprintf("%s is %s and %s is %s: set the same mode on all nodes",
			hostile.Printable(a.Name), hostile.Printable(string(a.Mode)), hostile.Printable(b.Name), hostile.Printable(string(b.Mode))))
	}
	names := map[string]bool{}
	for _, n := range nodes {
		if names[n.Name] {
			lines = append(lines, fmt.Sprintf("two nodes are named %s: set another shared.node on one of them", hostile.Printable(n.Name)))
			break
		}
		names[n.Name] = true
	}
	return lines
}

// differing returns the first node that has a value, and the first node with a different value.
func differing(nodes []shared.Node, value func(shared.Node) string) (a, b shared.Node, ok bool) {
	states := func(n shared.Node) bool { return value(n) != "" }
	i := slices.IndexFunc(nodes, states)
	if i < 0 {
		return a, b, false
	}
	a = nodes[i]
	j := slices.IndexFunc(nodes, func(n shared.Node) bool { return states(n) && value(n) != value(a) })
	if j < 0 {
		return a, b, false
	}
	return a, nodes[j], true
}
