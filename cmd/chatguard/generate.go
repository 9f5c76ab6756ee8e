//go:build generate

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// init makes `go run -tags generate ./cmd/chatguard FOLDER VERSION` write what a release has
// besides the binary: man pages, shell completions, licences, changelogs and a README. It runs at
// the module's root. It is not a command of its own, because the binary would then contain the
// generator of man pages.
func init() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags generate ./cmd/chatguard FOLDER VERSION")
		os.Exit(exitUsage)
	}
	g := generator{folder: os.Args[1], version: os.Args[2], date: time.Now().UTC()}
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		g.date = time.Unix(seconds, 0).UTC()
	}
	if err := g.generate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailed)
	}
	os.Exit(0)
}

// generator writes the files of a version into a folder. The date is SOURCE_DATE_EPOCH, or today if
// that isn't set.
type generator struct {
	folder, version string
	date            time.Time
}

// generate empties the folder and writes the files.
func (g generator) generate() error {
	if err := os.RemoveAll(g.folder); err != nil {
		return err
	}
	for _, part := range []func(*cobra.Command) error{g.writeManPages, g.writeCompletions, g.writeLicenses, g.writeChangelogs, g.writeReadme} {
		if err := part(newRootCommand()); err != nil {
			return err
		}
	}
	return nil
}

// writeManPages writes a page for each command.
func (g generator) writeManPages(root *cobra.Command) error {
	root.DisableAutoGenTag = true
	folder := filepath.Join(g.folder, "man")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return g.writeManPage(root, folder)
}

// optionText matches an option in a man page, with the tab that cobra puts before the option's
// text. Man pages must not have tabs in filled text.
var optionText = regexp.MustCompile(`(?m)(^\.SH .*\n|)(?:^\.PP\n|)(^\\fB-.*)\n\t`)

// writeManPage writes the man page of a command, and those of its subcommands.
func (g generator) writeManPage(cmd *cobra.Command, folder string) error {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true // every command has it
	release, _, _ := strings.Cut(g.version, "-")
	header := &doc.GenManHeader{Section: "1", Source: "chatguard " + release, Manual: "chatguard", Date: &g.date}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	text := strings.ReplaceAll(page.String(), "[=false]", "")
	text = strings.Replace(text, g.date.Format(`"Jan 2006"`), g.date.Format(`"2006-01-02"`), 1) // mandoc wants the day
	text = optionText.ReplaceAllString(text, "$1.TP\n$2\n")
	text, _, _ = strings.Cut(text, ".SH SEE ALSO")
	if err := writeCompressed(filepath.Join(folder, manName(cmd)+".1.gz"), []byte(text+moreOfPage(cmd))); err != nil {
		return err
	}
	for _, child := range documented(cmd) {
		if err := g.writeManPage(child, folder); err != nil {
			return err
		}
	}
	return nil
}

// moreOfPage returns what follows the options and examples: subcommands, files, environment, exit
// status, and related pages.
func moreOfPage(cmd *cobra.Command) string {
	var b strings.Builder
	if children := documented(cmd); len(children) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, child := range children {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fP(1)\n%s\n", manName(child), strings.ReplaceAll(child.Short, `\`, `\e`))
		}
	}
	if !cmd.HasParent() || cmd.Name() == "run" {
		b.WriteString(filesAndMore)
	}
	b.WriteString(".SH SEE ALSO\n")
	if cmd.HasParent() {
		fmt.Fprintf(&b, "\\fB%s\\fP(1),\n", manName(cmd.Parent()))
	}
	b.WriteString("https://github.com/chatguard/chatguard/tree/main/docs\n")
	return b.String()
}

// filesAndMore are the sections that chatguard(1) and chatguard-run(1) have in common.
const filesAndMore = `.SH EXIT STATUS
.TP
0
Done. \fBchatguard run\fP also ends with 0 after SIGTERM or SIGINT.
.TP
1
It failed, and a line on standard error says why; or \fBchatguard doctor\fP or \fBchatguard status\fP has found a problem.
.TP
2
The command line or the configuration is wrong. systemd doesn't restart chatguard then.
.TP
3
\fBchatguard status\fP: chatguard isn't running.
.SH ENVIRONMENT
Each key of the configuration outside limits, channels and webhooks has a variable, which wins over the file:
CHATGUARD_TWITCH_CHANNELS is \fIchannels\fP in \fI[twitch]\fP. Secrets belong in variables too, which the service reads from /etc/chatguard/environment:
.TP
CHATGUARD_WEB_TOKEN
The owner's token for the dashboard.
.TP
CHATGUARD_TWITCH_TOKEN
An access token of the bot's account, instead of \fBchatguard login\fP.
.TP
CHATGUARD_TWITCH_CLIENT_SECRET
The secret of a Twitch application that has one.
.TP
CHATGUARD_SHARED_PASSWORD
The password of the Valkey or Redis over which nodes share limits.
.TP
CHATGUARD_SHARED_TEXT_KEY
A long random text, the same on all nodes that share limits. Limits on repeated text need it.
.TP
CHATGUARD_BACKUP_PASSPHRASE
The passphrase of encrypted backups.
.TP
CHATGUARD_CONFIG
The file that commands use without \fB--config\fP.
.SH FILES
.TP
chatguard.toml
The configuration, in the current folder. If it isn't there, commands use /etc/chatguard/chatguard.toml, that of the
packages' service. The file
config.example.toml, in /usr/share/doc/chatguard or in the archive, shows every key with its default.
.TP
chatguard.db
The database, beside the configuration. The packages have /var/lib/chatguard/chatguard.db.
.TP
chatguard.db.token
The bot's login, beside the database.
.TP
chatguard.db.textkey
The key of texts, beside the database. Limits on repeated text know a text only by a hash with this key.
.TP
/etc/chatguard/environment
Variables of the service, each NAME=value.
`

// manName returns the name of a command's page.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// documented returns the subcommands that have pages.
func documented(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()
	})
}

// writeCompletions writes the completion scripts under the names that shells look for.
func (g generator) writeCompletions(root *cobra.Command) error {
	var bash, zsh, fish, powershell bytes.Buffer
	for _, err := range []error{
		root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh),
		root.GenFishCompletion(&fish, true), root.GenPowerShellCompletionWithDesc(&powershell),
	} {
		if err != nil {
			return err
		}
	}
	folder := filepath.Join(g.folder, "completions")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, script := range map[string]*bytes.Buffer{
		"chatguard.bash": &bash, "_chatguard": &zsh, "chatguard.fish": &fish, "chatguard.ps1": &powershell,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (g generator) writeLicenses(*cobra.Command) error {
	var licenses bytes.Buffer
	if err := printLicenses(&licenses); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.folder, "THIRD-PARTY-LICENSES.txt"), licenses.Bytes(), 0o644)
}

// debianChangelog is the template for Debian's changelog. Its arguments are the version and the
// date.
const debianChangelog = `chatguard (%s-1) unstable; urgency=medium

  * A new version: changelog.gz says what has changed.

 -- The chatguard authors <chatguard@users.noreply.github.com>  %s
`

// writeChangelogs writes the changelog for packages, and the one that Debian wants beside it.
func (g generator) writeChangelogs(*cobra.Command) error {
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	version := strings.Replace(g.version, "-", "~", 1)
	ofDebian := fmt.Appendf(nil, debianChangelog, version, g.date.Format(time.RFC1123Z))
	return errors.Join(
		writeCompressed(filepath.Join(g.folder, "changelog.gz"), changes),
		writeCompressed(filepath.Join(g.folder, "changelog.Debian.gz"), ofDebian),
	)
}

// writeReadme writes the README for archives. Its links lead to GitHub, because archives have no
// other pages.
func (g generator) writeReadme(*cobra.Command) error {
	text, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	relative := regexp.MustCompile(`\]\(([^:()#]+[^:()]*)\)`)
	text = relative.ReplaceAll(text, []byte("](https://github.com/chatguard/chatguard/blob/main/$1)"))
	return os.WriteFile(filepath.Join(g.folder, "README.md"), text, 0o644)
}

// writeCompressed writes a file as Debian wants it: as small as possible, and without a time.
func writeCompressed(path string, content []byte) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
