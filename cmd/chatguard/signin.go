package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

func newSigninCommand() *cobra.Command {
	var path, name string
	as := role{journal.AccessOwn, []journal.Access{journal.AccessView, journal.AccessModerate, journal.AccessOwn}}
	cmd := &cobra.Command{
		Use:   "signin",
		Short: "Print a new link that signs in to the dashboard",
		Long: `Prints a link that signs one person in to the dashboard, once, within 15 minutes. Works while chatguard runs.
The name is what the history of changes says of that person. "chatguard token revoke" with that name signs them out.`,
		Example: `  chatguard signin
  chatguard signin --name anna --role moderate`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(name); err != nil {
				return usageError{fmt.Errorf("--name: %w", err)}
			}
			return withTokens(cmd, path, func(tokens *persist.Tokens, cfg config.Config) error {
				who := journal.Holder{Name: name, Access: as.Access}
				code, err := tokens.NewSignInCode(cmd.Context(), who, 0)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), site(cfg.Web).Link("", code))
				return errors.Join(err, noteOtherRoles(cmd, tokens, who))
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&name, "name", owner, "who the link is for")
	cmd.Flags().Var(&as, "role", as.usage())
	return cmd
}

// checkName refuses a name that a history couldn't show.
func checkName(name string) error {
	if name == "" || printable(name) != name {
		return errors.New("want a name of up to 200 characters on one line")
	}
	if strings.HasPrefix(name, journal.TwitchAuthor) {
		return fmt.Errorf("%q stands for who writes commands in chat: take a name without %q", name, journal.TwitchAuthor)
	}
	return nil
}

// noteOtherRoles says on standard error which other roles the name comes in with: what it does is told by its name alone.
func noteOtherRoles(cmd *cobra.Command, tokens *persist.Tokens, who journal.Holder) error {
	list, err := tokens.Entrants(cmd.Context())
	if err != nil {
		return err
	}
	var others []string
	for _, e := range list {
		if e.Name == who.Name && e.Access != who.Access {
			others = append(others, string(e.Access))
		}
	}
	if len(others) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s comes in with the role %s too; `chatguard token revoke %[1]s` ends all of it.\n",
		who.Name, strings.Join(others, " and "))
	return err
}

// withTokens does something with the tokens in the database that the configuration at path names, also while chatguard runs.
func withTokens(cmd *cobra.Command, path string, do func(tokens *persist.Tokens, cfg config.Config) error) error {
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
