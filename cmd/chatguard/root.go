package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/restore"
)

// defaultConfig is the configuration that commands look for in the current folder.
const defaultConfig = "chatguard.toml"

func newRootCommand() *cobra.Command { return newRootCommandFor(filesOfPackage()) }

// newRootCommandFor returns the command line for a machine on which the package has these files.
func newRootCommandFor(files packagedFiles) *cobra.Command {
	noBrowser := false
	root := &cobra.Command{
		Use:   "chatguard",
		Short: "Give every chatter a fair share of the conversation",
		Long: `chatguard reads a chat, applies limits to every chatter, and acts on what exceeds them.

Without a command it runs if there is a chatguard.toml, and opens the dashboard in the browser. If there is none, it opens
a page in the browser that creates one. Without a terminal it opens nothing, and asks as "chatguard init" does.
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

// offerNoFiles makes shells offer files only to the commands that take a FILE.
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

func addConfigFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "config", "c", defaultConfig, "path of the configuration; without a chatguard.toml here and on Linux, /etc/chatguard/chatguard.toml (or set CHATGUARD_CONFIG)")
}

// loadConfig reads the configuration at path. If path is the default one and there is no such file,
// the environment alone may be the configuration, as in a container. If a restore was interrupted,
// loadConfig first completes it.
func loadConfig(path string) (config.Config, error) { return loadConfigWith(path, os.LookupEnv) }

// loadConfigWith is loadConfig with another environment.
func loadConfigWith(path string, env func(string) (string, bool)) (config.Config, error) {
	cfg, err := readConfigWith(path, env)
	if err != nil {
		return cfg, err
	}
	finished, err := restore.Finish(installationOf(cfg))
	if err != nil || !finished {
		return cfg, err
	}
	return readConfigWith(path, env)
}

func readConfig(path string) (config.Config, error) { return readConfigWith(path, os.LookupEnv) }

func readConfigWith(path string, env func(string) (string, bool)) (config.Config, error) {
	if isDefaultMissing(path) && isInEnvironment() {
		return config.Parse(path, nil, env)
	}
	return config.Load(path, env)
}

// hasConfig reports whether there is a configuration for loadConfig. It returns true if path was
// named, even if there is no such file.
func hasConfig(path string) bool { return !isDefaultMissing(path) || isInEnvironment() }

// isDefaultMissing reports whether path is the default one and there is no such file.
func isDefaultMissing(path string) bool {
	_, err := os.Stat(path)
	return path == defaultConfig && errors.Is(err, fs.ErrNotExist)
}

// isInEnvironment reports whether the environment alone is meant as a configuration: it names a
// channel, or there is a mistake in it.
func isInEnvironment() bool {
	c, err := config.Parse(defaultConfig, nil, os.LookupEnv)
	return err != nil || len(c.Twitch.Channels)+len(c.Check.Channels) > 0
}

// loadConfigIfAny reads the configuration if the command line names it or the file exists.
// Otherwise it returns the defaults with the values from the environment.
func loadConfigIfAny(cmd *cobra.Command, path string) (config.Config, error) {
	if isDefaultMissing(path) && !cmd.Flags().Changed("config") {
		return config.Parse(path, nil, os.LookupEnv)
	}
	return loadConfig(path)
}
