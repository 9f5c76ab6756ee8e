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

func newInitCommand() *cobra.Command {
	var path string
	var answers config.Starter
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a first configuration",
		Long: `Asks for the Twitch channel, or the room of your own chat, and its time zone; writes a configuration that only
observes, and says what comes next.`,
		Example: `  chatguard init
  chatguard init --channel gardenhour --timezone Europe/Berlin
  chatguard init --check lobby --timezone UTC`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(cmd, path, answers) },
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "path of the new configuration")
	cmd.Flags().StringVar(&answers.Channel, "channel", "", "the Twitch channel to moderate, instead of asking")
	cmd.Flags().StringVar(&answers.Room, "check", "", "the room ID of your own chat, instead of asking")
	cmd.Flags().StringVar(&answers.Timezone, "timezone", "", "the channel's time zone (IANA name), instead of asking")
	return cmd
}

// initialise asks for missing answers and writes the configuration. It never replaces an existing
// configuration.
func initialise(cmd *cobra.Command, path string, s config.Starter) error {
	if _, err := os.Stat(path); err == nil {
		return usageError{fmt.Errorf("%s already exists: edit it, or name another file with --config", path)}
	}
	if s.Channel != "" && s.Room != "" {
		return usageError{errors.New("--channel is for a Twitch channel, --check for your own chat: use one, and add the other to the file")}
	}
	if err := complete(&s, bufio.NewScanner(cmd.InOrStdin()), cmd.OutOrStdout()); err != nil {
		return err
	}
	contents, err := s.Write()
	if err != nil {
		return usageError{err}
	}
	if err := writeNew(path, contents); err != nil {
		return err
	}
	return printInitSteps(cmd.OutOrStdout(), s, path)
}

// complete asks for the answers that a starter lacks. If no Twitch channel is given, it asks for
// the name of a room in the user's own chat.
func complete(s *config.Starter, in *bufio.Scanner, out io.Writer) (err error) {
	if s.Room == "" {
		if s.Channel, err = ask(in, out, "Twitch channel (twitch.tv/…; leave empty for your own chat)? ", s.Channel, ""); err != nil {
			return err
		}
	}
	if s.Channel == "" {
		s.Room, err = ask(in, out, "Room ID (as your chat server names it)? ", s.Room, "")
	} else if s.Channel, err = config.ChannelName(s.Channel); err != nil {
		err = usageError{err}
	}
	if err == nil && s.Channel == "" && s.Room == "" {
		err = errNoAnswer
	}
	if err != nil {
		return err
	}
	zone := localZone()
	s.Timezone, err = ask(in, out, fmt.Sprintf("Time zone in which its day ends [%s]: ", zone), s.Timezone, zone)
	return err
}

var errNoAnswer = usageError{errors.New("no answer: enter one, or use --channel (or --check) and --timezone")}

// printInitSteps prints what to do with the new configuration.
func printInitSteps(out io.Writer, s config.Starter, path string) error {
	with := ""
	if path != defaultConfig {
		with = fmt.Sprintf(" --config %q", path)
	}
	next := fmt.Sprintf(`See who would be throttled, in this terminal:
  chatguard watch%s %s
The same with the dashboard:
  chatguard run%[1]s
To act, log the bot's account in, type /mod and its name in the channel's chat, and set the mode to "enforce":
  chatguard login%[1]s
`, with, s.Channel)
	if s.Room != "" {
		next = fmt.Sprintf(`Answer your chat's server, and see in the dashboard who would be throttled:
  chatguard run%s
Then make a token for the server; the output says where to send it:
  chatguard token make gameserver --role check%[1]s
To throttle, set the mode to "enforce".
`, with)
	}
	_, err := fmt.Fprintf(out, "Wrote %s. It only observes so far.\n\n%s", path, next)
	return err
}

// ask returns the given answer. If given is empty, ask returns the text that the person enters, or
// the default if they enter no text. If the input has ended and there is no default, the error is
// errNoAnswer.
func ask(in *bufio.Scanner, out io.Writer, question, given, byDefault string) (string, error) {
	if given != "" {
		return given, nil
	}
	fmt.Fprint(out, question)
	if !in.Scan() {
		fmt.Fprintln(out) // the user did not press Enter
		if in.Err() == nil && byDefault == "" {
			return "", errNoAnswer
		}
	}
	return cmp.Or(strings.TrimSpace(in.Text()), byDefault), in.Err()
}

// writeNew writes a file that doesn't exist yet.
func writeNew(path string, contents []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s can't be written: run this in a folder of your own, or name another file with --config", path)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(contents)
	return err
}

// localZone returns the IANA name of this machine's zone if it is known, or UTC.
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
