package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke named tokens for the dashboard and the API",
		Long: `A token lets one person or program in, under a name and with a role:

  view       see everything, change nothing
  help       also pardon, grant, exempt and reset users, and write notes
  moderate   also change limits and switches, time out and ban
  own        everything: also tokens, sessions, notices and the bot's account
  check      only check messages of another chat; for that chat's server
  overlay    only show the overlay in a stream; for OBS

People sign in to the dashboard with a token. Programs send it as "Authorization: Bearer TOKEN". A chat's server sends
a token with the role check to POST /api/v1/check. These commands work while chatguard runs.
They don't manage CHATGUARD_WEB_TOKEN, the owner's token: it is valid as long as chatguard is started with it.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenMakeCommand(), newTokenListCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenMakeCommand() *cobra.Command {
	var path string
	var expires expiry
	as := role{known: auth.Roles()}
	cmd := &cobra.Command{
		Use:   "make NAME --role ROLE",
		Short: "Make a token and print it once",
		Long: `Makes a token and prints it. Only a hash is stored, so it can't be printed again: keep it where you keep passwords.
The history of changes shows the name. A name has one token at a time; "owner" has none.`,
		Example: `  chatguard token make anna --role moderate
  chatguard token make obs --role overlay --expires 90d
  chatguard token make gameserver --role check`,
		Args: oneArgument("NAME", "a NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			who := auth.Identity{Name: args[0], Access: as.Access}
			if err := auth.CheckTokenName(who.Name); err != nil {
				return usageError{err}
			}
			if who.Access == "" {
				return usageError{errors.New("chatguard token make needs --role, one of " + as.names())}
			}
			return withTokens(cmd, path, func(tokens *signin.Tokens, cfg config.Config) error {
				token, err := tokens.NewToken(cmd.Context(), who, time.Duration(expires))
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.ErrOrStderr(), tokenUsage(who, cfg))
				_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
				return errors.Join(err, noteOtherRoles(cmd, tokens, who))
			})
		},
	}
	addConfigFlag(cmd, &path)
	addRoleFlag(cmd, &as)
	cmd.Flags().Var(&expires, "expires", "expire after this time, such as 90d (default: valid until revoked)")
	return cmd
}

// tokenUsage explains how to use a new token. It is printed on standard error, so
// that standard output contains only the token.
func tokenUsage(who auth.Identity, cfg config.Config) string {
	if who.Access == auth.Check {
		return fmt.Sprintf("A chat's server sends this token as \"Authorization: Bearer TOKEN\" to %sapi/v1/check. It won't be shown again:", app.Site(cfg.Web).Address(""))
	}
	if who.Access == auth.Overlay {
		return fmt.Sprintf("In OBS, add a browser source with the address %soverlay#token=TOKEN. It won't be shown again:", app.Site(cfg.Web).Address(""))
	}
	return fmt.Sprintf("%s signs in with this token at %s, a program sends it as \"Authorization: Bearer TOKEN\". It won't be shown again:",
		who.Name, app.Site(cfg.Web).Address(""))
}

func newTokenListCommand() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tokens and signed-in users",
		Long: `Prints for each name and role whether they come from a token or a sign-in link, when the token was made and when it
expires, how many browsers are signed in, and how many sign-in links nobody has used yet; never the token.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTokens(cmd, path, func(tokens *signin.Tokens, _ config.Config) error {
				list, err := tokens.Holders(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"holders": append([]signin.Holder{}, list...)})
				}
				return printHolders(cmd.OutOrStdout(), list)
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printHolders(out io.Writer, list []signin.Holder) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No tokens, and nobody is signed in. `chatguard token make` makes one.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "name\trole\tfrom\ttoken made\texpires\tsessions\tlinks")
	for _, e := range list {
		made, expires := "no token", "-"
		if !e.MadeAt.IsZero() {
			made, expires = moment(e.MadeAt), "never"
		}
		if !e.ExpiresAt.IsZero() {
			expires = moment(e.ExpiresAt)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", hostile.Printable(e.Name), roleName(e.Access), e.From, made, expires, e.Sessions, e.Links)
	}
	return table.Flush()
}

func newTokenRevokeCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token and sign its name out everywhere",
		Long: `Revokes the token with this name, and the name's unused sign-in links. Ends all sessions of the name, including open
dashboards. If chatguard is running, this takes effect within 5 s. A name without a token is signed out as well.`,
		Example: `  chatguard token revoke anna`,
		Args:    oneArgument("NAME", "a NAME"),

		ValidArgsFunction: completeOne(completeNames(&path, tokenNames)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withTokens(cmd, path, func(tokens *signin.Tokens, _ config.Config) error {
				known, err := tokens.Names(cmd.Context())
				if err != nil {
					return err
				}
				ended, err := tokens.Revoke(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if ended == (auth.Revoked{}) {
					return unknownNameError(args[0], known)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "Revoked: %s, %s and %s of %s.\n",
					count(ended.Tokens, "token"), count(ended.Sessions, "session"), count(ended.Links, "sign-in link"), args[0])
				return err
			})
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// mostNames limits the names that an error lists.
const mostNames = 10

func unknownNameError(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown name %q: there are no tokens, and nobody is signed in by a link", name)
	}
	var names []string
	for _, other := range known[:min(len(known), mostNames)] {
		names = append(names, hostile.Printable(other))
	}
	if len(known) > mostNames {
		names = append(names, fmt.Sprintf("and %d more", len(known)-mostNames))
	}
	return fmt.Errorf("unknown name %q: known are %s", name, strings.Join(names, ", "))
}
