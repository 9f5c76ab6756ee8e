package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
)

// starterAnswers are what init asks for; empty ones are asked.
type starterAnswers struct{ channel, timezone string }

func newInitCommand() *cobra.Command {
	var path string
	var answers starterAnswers
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration to begin with",
		Long:  `Asks for the channel and its time zone, writes a configuration that only observes, and says what comes next.`,
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return initialise(cmd, path, answers) },
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&answers.channel, "channel", "", "the channel to moderate, instead of asking")
	cmd.Flags().StringVar(&answers.timezone, "timezone", "", "the channel's time zone (IANA name), instead of asking")
	return cmd
}

// initialise asks what it has no answer to, and writes the configuration. It never replaces one.
func initialise(cmd *cobra.Command, path string, a starterAnswers) error {
	if _, err := os.Stat(path); err == nil {
		return usageError{fmt.Errorf("%s exists already: change it there, or name another file with --config", path)}
	}
	in, out := bufio.NewScanner(cmd.InOrStdin()), cmd.OutOrStdout()
	channel, err := ask(in, out, "Which Twitch channel? (twitch.tv/…) ", a.channel, "")
	if err != nil {
		return err
	}
	if channel, err = config.ChannelName(channel); err != nil {
		return usageError{err}
	}
	zone := localZone()
	timezone, err := ask(in, out, fmt.Sprintf("In which time zone does its day end? [%s] ", zone), a.timezone, zone)
	if err != nil {
		return err
	}
	contents, err := config.Starter(channel, timezone)
	if err != nil {
		return usageError{err}
	}
	if err := writeNew(path, contents); err != nil {
		return err
	}
	with := ""
	if path != defaultConfig {
		with = fmt.Sprintf(" --config %q", path)
	}
	_, err = fmt.Fprintf(out, `Wrote %s. It only observes so far.

See who would be throttled, in this terminal:
  chatguard watch%s %s
The same with the dashboard:
  chatguard run%s
To act, log the bot's account in, type /mod and its name in the channel's chat, and set the mode to "enforce":
  chatguard login%s
`, path, with, channel, with, with)
	return err
}

// ask returns the given answer, else what a person types, else the default.
func ask(in *bufio.Scanner, out io.Writer, question, given, byDefault string) (string, error) {
	if given != "" {
		return given, nil
	}
	fmt.Fprint(out, question)
	in.Scan()
	if err := in.Err(); err != nil {
		return "", err
	}
	if answer := cmp.Or(strings.TrimSpace(in.Text()), byDefault); answer != "" {
		return answer, nil
	}
	return "", usageError{errors.New("there was no answer: type one, or give it with --channel and --timezone")}
}

// writeNew writes a file that doesn't exist yet.
func writeNew(path string, contents []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s can't be written: start in a folder of your own, or name another file with --config", path)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(contents)
	return err
}

// localZone is the IANA name of this machine's zone, as far as it tells, or UTC.
func localZone() string {
	if zone := os.Getenv("TZ"); zone != "" && !strings.HasPrefix(zone, ":") {
		return zone
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if _, name, ok := strings.Cut(target, "/zoneinfo/"); err == nil && ok && name != "Etc/UTC" {
		return name
	}
	return "UTC"
}
