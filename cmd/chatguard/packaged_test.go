//go:build !race

package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
)

// TestPackagedFiles_FindConfig checks which configuration counts without --config.
func TestPackagedFiles_FindConfig(t *testing.T) {
	installed := filepath.Join(t.TempDir(), "chatguard.toml")
	must(t, os.WriteFile(installed, nil, 0o600))
	t.Chdir(t.TempDir())
	named := ""
	env := func(name string) string {
		if name != "CHATGUARD_CONFIG" {
			t.Errorf("%s is asked for", name)
		}
		return named
	}
	check := func(what string, p packagedFiles, want string) {
		t.Helper()
		if got := p.findConfig(env); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("without a package", packagedFiles{}, "chatguard.toml")
	check("without its file", packagedFiles{config: installed + ".not"}, "chatguard.toml")
	check("with the package", packagedFiles{config: installed}, installed)
	must(t, os.WriteFile("chatguard.toml", nil, 0o600))
	check("with a file here", packagedFiles{config: installed}, "chatguard.toml")
	named = "other.toml"
	check("with the variable", packagedFiles{config: installed}, "other.toml")
}

// TestPackagedFiles_OfCommands checks that all commands use that configuration, except those that
// don't work with an existing one.
func TestPackagedFiles_OfCommands(t *testing.T) {
	installed := filepath.Join(t.TempDir(), "chatguard.toml")
	must(t, os.WriteFile(installed, nil, 0o600))
	t.Chdir(t.TempDir())
	var check func(commands []*cobra.Command)
	seen := 0
	check = func(commands []*cobra.Command) {
		for _, cmd := range commands {
			check(cmd.Commands())
			flag := cmd.Flags().Lookup("config")
			if flag == nil {
				continue
			}
			want := installed
			if cmd.Name() == "init" {
				want = "chatguard.toml"
			}
			if seen++; flag.Value.String() != want || flag.Changed || flag.DefValue != "chatguard.toml" {
				t.Errorf("%s uses %s, want %s", cmd.CommandPath(), flag.Value, want)
			}
		}
	}
	check(newRootCommandFor(packagedFiles{config: installed}).Commands())
	if seen < 15 {
		t.Errorf("only %d commands have a configuration", seen)
	}
}

// TestDoctor_EnvironmentFile checks that the doctor uses the variables that the service will have.
func TestDoctor_EnvironmentFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := packagedFiles{filepath.Join(folder, "chatguard.toml"), filepath.Join(folder, "environment")}
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write(files.config, "[check]\nchannels = [\"lobby\"]\n[web]\nlisten = \"0.0.0.0:0\"\ninsecure = true\n")
	examined := func() (string, error) {
		var out bytes.Buffer
		root := newRootCommandFor(files)
		root.SetArgs([]string{"doctor", "--config", files.config})
		root.SetOut(&out)
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	const open = "CHATGUARD_WEB_TOKEN"
	if out, err := examined(); err == nil || !strings.Contains(out, open) || strings.Contains(out, files.environment) {
		t.Errorf("without the file: %v\n%s", err, out)
	}
	write(files.environment, "# secrets\n\nCHATGUARD_WEB_TOKEN = \"0123456789abcdef\"\nCHATGUARD_WEB_TOKN='x'\nEDITOR=vi\n")
	out, err := examined()
	for _, want := range []string{
		"note     environment    CHATGUARD_WEB_TOKN is set but isn't a known key, so it has no effect: did you mean CHATGUARD_WEB_TOKEN?\n",
		"ok       environment    the variables of the service in " + files.environment + " were used\n",
		"variables that override the file: CHATGUARD_WEB_TOKEN\n",
		" is free\n",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: no line %q in\n%s", err, want, out)
		}
	}
	if strings.Contains(out, "0123456789abcdef") {
		t.Errorf("the secret is in\n%s", out)
	}
	must(t, os.Remove(files.environment))
	if err := os.Mkdir(files.environment, 0o700); err != nil { // which nobody can read as a file
		t.Fatal(err)
	}
	if out, err := examined(); err != nil || !strings.Contains(out, "note     environment    not seen: the variables of the service in "+files.environment) {
		t.Errorf("unreadable: %v\n%s", err, out)
	}
}

// TestRun_WarnsOfUnknownVariables checks that one line names the variables without an effect.
func TestRun_WarnsOfUnknownVariables(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("chatguard.toml", []byte("[[webhook]]\nname = \"team\"\nformat = \"discord\"\nevents = [\"ban\"]\n"), nil)
	must(t, err)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	warnOfVariables(log, cfg, []string{"CHATGUARD_WEB_TOKEN=a", "CHATGUARD_WEBHOOK_TEAM_URL=b", "CHATGUARD_CONFIG=c", "CHATGUARD_URL=d", "HOME=e"})
	if out.Len() != 0 {
		t.Errorf("known variables: %s", &out)
	}
	warnOfVariables(log, cfg, []string{"CHATGUARD_WEB_TOKN=secret", "CHATGUARD_WEBHOOK_TEAM_ULR=b", "CHATGUARD_BLUE_ELEPHANTS=c"})
	want := `variables="CHATGUARD_BLUE_ELEPHANTS, CHATGUARD_WEBHOOK_TEAM_ULR (did you mean CHATGUARD_WEBHOOK_TEAM_URL?), CHATGUARD_WEB_TOKN (did you mean CHATGUARD_WEB_TOKEN?)"` + "\n"
	if !strings.HasSuffix(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%swant %s", &out, want)
	}
}
