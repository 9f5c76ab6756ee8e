package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

func newSigninCommand() *cobra.Command {
	var path, name string
	as := role{auth.Own, auth.PeoplesRoles()}
	cmd := &cobra.Command{
		Use:   "signin",
		Short: "Print a new link that signs in to the dashboard",
		Long: `Prints a link that signs one person in to the dashboard, once, within 15 minutes. Works while chatguard runs.
The history of changes shows the name given with --name. "chatguard token revoke" with that name signs out everyone who
has it.`,
		Example: `  chatguard signin
  chatguard signin --name anna --role moderate`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := auth.CheckName(name); err != nil {
				return usageError{fmt.Errorf("--name: %w", err)}
			}
			return withTokens(cmd, path, func(tokens *signin.Tokens, cfg config.Config) error {
				who := auth.Identity{Name: name, Access: as.Access}
				code, err := tokens.NewSignInCode(cmd.Context(), who, 0)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), app.Site(cfg.Web).Link("", code))
				return errors.Join(err, noteOtherRoles(cmd, tokens, who))
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&name, "name", auth.OwnerName, "who the link is for")
	addRoleFlag(cmd, &as)
	return cmd
}

// noteOtherRoles prints on standard error the other roles with which the same name can sign in. The
// history identifies people only by name.
func noteOtherRoles(cmd *cobra.Command, tokens *signin.Tokens, who auth.Identity) error {
	list, err := tokens.Holders(cmd.Context())
	if err != nil {
		return err
	}
	var others []string
	for _, e := range list {
		if name := roleName(e.Access); e.Name == who.Name && e.Access != who.Access && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s also has the role %s; `chatguard token revoke %[1]s` ends all of it.\n",
		who.Name, strings.Join(others, " and "))
	return err
}

// withTokens calls do with the tokens in the database of the configuration at path. It works while
// chatguard runs.
func withTokens(cmd *cobra.Command, path string, do func(tokens *signin.Tokens, cfg config.Config) error) error {
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	tokens, err := persist.OpenTokens(cmd.Context(), cfg.Database, nil)
	if err != nil {
		return err
	}
	return errors.Join(do(tokens, cfg), tokens.Close())
}
