package main

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/doctor"
)

// packagedFiles are the files of the service that the packages for Linux install.
type packagedFiles struct {
	config      string
	environment string // the unit's EnvironmentFile
}

// filesOfPackage returns the files of the packaged service. Without Linux there are none.
func filesOfPackage() packagedFiles {
	if runtime.GOOS != "linux" {
		return packagedFiles{}
	}
	return packagedFiles{"/etc/chatguard/chatguard.toml", "/etc/chatguard/environment"}
}

// configVariable is the environment variable with the path of the configuration.
const configVariable = "CHATGUARD_CONFIG"

// withoutPackage are commands that don't work with an existing configuration.
var withoutPackage = []string{"init", "demo", "lab"}

// useDefaultConfig makes path the configuration of the commands if the flag --config isn't given.
func useDefaultConfig(commands []*cobra.Command, path string) {
	for _, cmd := range commands {
		if slices.Contains(withoutPackage, cmd.Name()) {
			continue
		}
		if flag := cmd.Flags().Lookup("config"); flag != nil {
			flag.Value.Set(path) // a string accepts every value
		}
		useDefaultConfig(cmd.Commands(), path)
	}
}

// findConfig returns the configuration that commands use without --config: the one that the
// environment names, the one in the current folder, or that of the packaged service.
func (p packagedFiles) findConfig(env func(string) string) string {
	if named := env(configVariable); named != "" {
		return named
	}
	if _, err := os.Stat(p.config); err == nil && isDefaultMissing(defaultConfig) {
		return p.config
	}
	return defaultConfig
}

// environmentFor reads the environment file of the service that uses the configuration at path, if
// there is one. lookup returns a variable's value for that service.
func (p packagedFiles) environmentFor(path string) (file doctor.EnvironmentFile, lookup func(string) (string, bool)) {
	lookup = os.LookupEnv
	if p.config == "" || path != p.config {
		return file, lookup
	}
	text, err := os.ReadFile(p.environment)
	if os.IsNotExist(err) {
		return file, lookup
	}
	file.Path, file.Err = p.environment, err
	values := environmentLines(string(text))
	for name := range values {
		file.Names = append(file.Names, name)
	}
	return file, func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, true
		}
		return os.LookupEnv(name)
	}
}

// environmentLines reads the lines NAME=value of an EnvironmentFile. A value may be in quotes.
func environmentLines(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		values[strings.TrimSpace(name)] = value
	}
	return values
}
