package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newSigninCommand() *cobra.Command {
	var path, name string
	cmd := &cobra.Command{
		Use:   "signin",
		Short: "Print a new link that signs in to the dashboard",
		Long: `Prints a link that signs one person in to the dashboard, once, within 15 minutes. Works while chatguard runs.
The name is what the history of changes says of that person.`,
		Example: `  chatguard signin --name anna`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" || printable(name) != name {
				return usageError{errors.New("--name: want a name of up to 200 characters on one line")}
			}
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			tokens, err := persist.OpenTokens(cmd.Context(), cfg.Database, nil)
			if err != nil {
				return err
			}
			defer tokens.Close()
			code, err := tokens.NewSignInCode(cmd.Context(), name, 0)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), site(cfg.Web).Link("", code))
			return err
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&name, "name", owner, "who the link is for")
	return cmd
}
