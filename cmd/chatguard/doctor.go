package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/doctor"
	"github.com/chatguard/chatguard/internal/hostile"
)

func newDoctorCommand(files packagedFiles) *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that chatguard needs, and say what is wrong and how to fix it",
		Long: `Checks the configuration, the database, the dashboard's address, and this machine's clock and time zones. Also checks
Twitch: the token and its scopes, the channels, where the bot is a moderator, and whether chat can be read. If the
configuration names no Twitch channel, the checks of Twitch are skipped. If nodes share limits over a store, checks the
store: its rights, version, settings, speed and clock, and the other nodes.

Each line says ok, note or problem. The line below a problem says how to fix it. The doctor can run while chatguard
runs, and doesn't affect it. It creates and deletes a file next to the database to check that the folder is writable.

With --json, prints one object at the end: version, ok, notes and problems (how many there are), and findings, each with
check, state, found and fix.

For the packaged service's configuration, the checks use the variables in /etc/chatguard/environment, if this user may read
that file. If chatguard runs, the doctor also asks it for its problems, as "chatguard status" does.

The exit code is 0 if there is no problem, 1 if there are problems, and 2 if the configuration can't be read; then nothing
else is checked.`,
		Example: `  chatguard doctor
  chatguard doctor --json | jq -r '.findings[] | select(.state == "problem") | .found, .fix'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			environment, lookup := files.environmentFor(path)
			cfg, err := loadConfigWith(path, lookup)
			if err != nil && asJSON {
				f := finding{"configuration", doctor.Problem, err.Error(), "correct that first: nothing else was checked"}
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), examination{Version: build().Version, Problems: 1, Findings: []finding{f}}))
			}
			if err != nil {
				return err
			}
			ctx, stop := newStopContext(cmd.Context(), 0)
			defer stop()
			d := doctor.New(cfg, nil)
			d.Version, d.Environment = build().Version, environment
			if asJSON {
				return examineJSON(ctx, d, cmd.OutOrStdout())
			}
			return examine(ctx, d, cmd.OutOrStdout())
		},
	}
	addConfigFlag(cmd, &path)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// examine runs all checks of a doctor, and prints each finding immediately.
func examine(ctx context.Context, d *doctor.Doctor, out io.Writer) error {
	return d.Run(ctx, func(check string, f doctor.Finding) error { return printFinding(out, check, f) })
}

// examination is the JSON form of a doctor's report. Its keys are documented in docs/deploy.md.
type examination struct {
	Version  string    `json:"version"`
	OK       int       `json:"ok"`
	Notes    int       `json:"notes"`
	Problems int       `json:"problems"`
	Findings []finding `json:"findings"`
}

// finding is a doctor.Finding with the name of its check.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Found string `json:"found"`
	Fix   string `json:"fix"` // empty if there is nothing to fix
}

// examineJSON runs all checks of a doctor, and then prints all findings as one object. It prints
// nothing if it is stopped.
func examineJSON(ctx context.Context, d *doctor.Doctor, out io.Writer) error {
	e := examination{Version: d.Version, Findings: []finding{}}
	counts := map[string]*int{doctor.OK: &e.OK, doctor.Note: &e.Notes, doctor.Problem: &e.Problems}
	err := d.Run(ctx, func(check string, f doctor.Finding) error {
		*counts[f.State]++
		e.Findings = append(e.Findings, finding{check, f.State, f.Found, f.Fix})
		return nil
	})
	if ctx.Err() != nil {
		return err
	}
	return cmp.Or(printJSON(out, e), err)
}

// Column widths.
const (
	findingsWidth  = 100 // if the terminal doesn't tell its width
	maxFindings    = 120 // longer lines are hard to read
	minFindings    = 60
	findingsIndent = len("problem  configuration  ")
)

// findingColors are the colors of a finding's state in a terminal.
var findingColors = map[string]color{doctor.OK: green, doctor.Note: yellow, doctor.Problem: red}

// printFinding writes a finding on one line and its fix on the next. In a terminal it wraps long
// lines between words.
func printFinding(out io.Writer, check string, f doctor.Finding) error {
	width := 0
	if isTerminal(out) {
		width = min(max(cmp.Or(terminalWidth(out), findingsWidth), minFindings), maxFindings) - findingsIndent
	}
	state := paint(out, findingColors[f.State], fmt.Sprintf("%-7s", f.State))
	_, err := fmt.Fprintf(out, "%s  %-13s  %s\n", state, check, wrapIndented(hostile.VisibleLine(f.Found), width))
	if err == nil && f.Fix != "" {
		_, err = fmt.Fprintf(out, "%*s%s\n", findingsIndent, "", wrapIndented(hostile.VisibleLine(f.Fix), width))
	}
	return err
}

// wrapIndented wraps text between words at the given width and indents all lines but the first, as
// printFinding does. Width 0 means no wrapping.
func wrapIndented(text string, width int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		long := len([]rune(word))
		switch {
		case i == 0:
		case column+1+long > width:
			fmt.Fprintf(&b, "\n%*s", findingsIndent, "")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += long
	}
	return b.String()
}
