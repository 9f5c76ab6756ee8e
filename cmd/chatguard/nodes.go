package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/redisstore"
)

func newNodesCommand() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes that share limits",
		Long: `Prints the nodes that share limits over the store of the configuration, as the store knows them. Works on any machine that
reaches the store, also if no chatguard runs there. A node that has crashed disappears after 5 s.

policy is a hash of the policy of channels without their own: nodes that differ in it allow different messages. clock is how
much the store's clock is ahead of the node's, and the maximum error of that. messages are per second.
memory is how many messages the node has decided without the store because the answer was certain; apart, because the
store didn't answer. owed is how many users' rows the node still has to write.`,
		Example: `  chatguard nodes
  chatguard nodes --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, path, func(ctx context.Context, store *redisstore.Store) error {
				nodes, err := store.Nodes(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"nodes": append([]redisstore.Node{}, nodes...)})
				}
				return printNodes(cmd.OutOrStdout(), nodes)
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printNodes(out io.Writer, nodes []redisstore.Node) error {
	if len(nodes) == 0 {
		_, err := fmt.Fprintln(out, "No nodes. `chatguard run` adds one.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "name\taddress\tversion\tmode\tpolicy\tsince\tclock\tmessages\tmemory\tapart\towed")
	for _, n := range nodes {
		f := n.Figures
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s ± %s\t%d\t%d\t%d\t%d\n", hostile.Printable(n.Name), hostile.Printable(n.Address), hostile.Printable(n.Version),
			hostile.Printable(n.Mode), hostile.Printable(n.Policy), moment(n.Started), n.Offset.Round(time.Microsecond), n.Error.Round(time.Microsecond),
			f[app.FigureMessages], f[app.FigureFromMemory], f[app.FigureApart], f[app.FigureOwed])
	}
	return table.Flush()
}
