package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/simulate"
)

// labFiles accepts files. A single argument that is no file, and looks like a command, is reported
// as an unknown command.
func labFiles(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "-" {
		return nil
	}
	name := args[0]
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return usageError{fmt.Errorf("unknown command %q: did you mean %q?", name, near[0])}
	}
	if !strings.ContainsAny(name, `./\`) {
		return usageError{fmt.Errorf("%q is neither a command nor a FILE: see chatguard help lab", name)}
	}
	return nil
}

// readLabFiles returns the recorded traffic of files, or nil without files.
func readLabFiles(cmd *cobra.Command, files []string) (*simulate.Recordings, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var r simulate.Recordings
	if err := readLines(cmd, files, func(_ context.Context, m chatguard.Message, line []byte) error {
		return r.Add(m, irc.ChannelOf(string(line)))
	}); err != nil {
		return nil, err
	}
	if r.Messages() == 0 {
		return nil, errors.New("all messages were written in other channels, which share their chat: record those channels")
	}
	r.Sort()
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s of %s.\n", count(int64(r.Messages()), "recorded message"), count(int64(len(r.Channels())), "channel"))
	return &r, err
}

// recordedFragment returns the fragment of the Lab's address that plays the traffic of the channel
// with the most messages. It is empty without recordings.
func recordedFragment(recorded *simulate.Recordings) string {
	if recorded == nil {
		return ""
	}
	// The page decodes %20, but not +.
	id := strings.ReplaceAll(url.QueryEscape(recorded.Channels()[0].ID), "+", "%20")
	return "#traffic=recorded,channel=" + id
}
