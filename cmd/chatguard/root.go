package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
)

func newRootCommand() *cobra.Command { return newRootCommandFor(filesOfPackage()) }

// newRootCommandFor returns the root command for a machine on which the package installs these
// files.
func newRootCommandFor(files packagedFiles) *cobra.Command {
	noBrowser := false
	root := &cobra.Command{
		Use:   "chatguard",
		Short: "Give every chatter a fair share of the conversation",
		Long: `chatguard reads a chat, applies limits to every chatter, and acts on what exceeds them.

Without a command, it runs if there is a chatguard.toml, and opens the dashboard in the browser. If there is none, it opens
a page in the browser that creates one. If the output isn't a terminal, it opens no browser, and asks
the questions of "chatguard init" instead.

Begin with "chatguard demo": the whole thing on this machine, no account needed.`,
		Args:          noArguments,
		Version:       describeBuild(build()),
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := runOptions{browser: !noBrowser}
			switch {
			case hasConfig(defaultConfig):
				return runFrom(cmd, defaultConfig, o)
			case isTerminal(cmd.OutOrStdout()):
				return setUp(cmd, o)
			}
			return initialise(cmd, defaultConfig, config.Starter{})
		},
	}
	root.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the link, and don't open the browser")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(newInitCommand(), newLoginCommand(), newDoctorCommand(files), newDemoCommand(), newLabCommand(), newWatchCommand(), newRunCommand(), newReloadCommand(), newStatusCommand(), newSigninCommand(), newTokenCommand(), newReplayCommand(), newResetsCommand())
	root.AddCommand(newNodesCommand(), newSharedCommand())
	root.AddCommand(newPolicyCommand(), newBackupCommand(), newRestoreCommand(), newExportCommand(), newImportCommand(), newForgetCommand(), newLicensesCommand(), newVersionCommand())
	refuseUnknownShells(root)
	offerNoFiles(root)
	useDefaultConfig(root.Commands(), files.findConfig(os.Getenv))
	return root
}

// offerNoFiles makes shells offer files only for commands that take a FILE.
func offerNoFiles(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && !strings.Contains(cmd.Use, "FILE") {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, child := range cmd.Commands() {
		offerNoFiles(child)
	}
}

// refuseUnknownShells makes the completion command refuse shells that it doesn't know.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
		cmd.Args = func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("no completion for %q: want bash, zsh, fish or powershell", args[0])}
			}
			return nil
		}
	}
}

func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = noArguments(cmd.Root(), rest)
			}
			if err != nil {
				return usageError{err}
			}
			return about.Help()
		},
	}
}
