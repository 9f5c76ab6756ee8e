//go:build !race

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chatguard/chatguard/internal/turntest"
)

// TestScripts runs the command lines in testdata/script and checks their output.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	testscript.Run(t, testscript.Params{
		Files:               turntest.Sample(t, 1, files),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			log, err := twitchLog()
			e.Setenv("TWITCH_LOG", log)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": checkExitCode, "verdicts": compareVerdicts, "metronome": metronome,
		},
	})
}

// checkExitCode runs a command that must end with an exit code: exits 2 chatguard rnu.
func checkExitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("%s ended with %v, want exit code %s", args[1], err, args[0])
	}
}

// twitchLog returns the path of 5,000 real lines of chat from go-twitch-irc.
func twitchLog() (string, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gempir/go-twitch-irc/v4").Output()
	return filepath.Join(strings.TrimSpace(string(folder)), "test_resources", "channel.txt.gz"), err
}
