package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/transfer"
	"github.com/chatguard/chatguard/internal/restore"
)

// defaultConfig is the configuration that commands look for in the current folder.
const defaultConfig = "chatguard.toml"

func addConfigFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "config", "c", defaultConfig, "path of the configuration (or set CHATGUARD_CONFIG); on Linux, without a chatguard.toml here, /etc/chatguard/chatguard.toml")
}

// configCommand adds the flag --config to cmd. When cmd runs, it calls do with the configuration.
func configCommand(cmd *cobra.Command, do func(cmd *cobra.Command, cfg config.Config, args []string) error) *cobra.Command {
	var path string
	addConfigFlag(cmd, &path)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(path)
		if err != nil {
			return err
		}
		return do(cmd, cfg, args)
	}
	return cmd
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

// loadConfigIfAny reads the configuration if the command line names it or the file exists.
// Otherwise it returns the defaults with the values from the environment.
func loadConfigIfAny(cmd *cobra.Command, path string) (config.Config, error) {
	if isDefaultMissing(path) && !cmd.Flags().Changed("config") {
		return config.Parse(path, nil, os.LookupEnv)
	}
	return loadConfig(path)
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

// installationOf returns the files of an installation with the given configuration.
func installationOf(cfg config.Config) transfer.Installation {
	absolute := func(path string) string {
		if full, err := filepath.Abs(path); err == nil {
			return full
		}
		return path
	}
	return transfer.Installation{
		Configuration: absolute(cfg.Path), Database: absolute(cfg.Database), Login: absolute(cfg.TokenFile()), TextKey: absolute(cfg.TextKeyFile()),
	}
}
