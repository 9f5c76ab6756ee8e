package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
)

// clientIDForm asks a person for the ID of their Twitch application, and keeps it in the configuration.
type clientIDForm struct {
	in     *bufio.Scanner
	out    io.Writer
	path   string // of the configuration
	nobody error  // where nobody answers
}

// newClientIDForm says how to come by an ID, field by field of Twitch's form, where there is somebody to tell.
func newClientIDForm(cmd *cobra.Command, path string) (*clientIDForm, error) {
	f := &clientIDForm{in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), path: path, nobody: usageError{fmt.Errorf(
		"%s: twitch.client_id is empty, and nobody is there to ask: register an application at dev.twitch.tv/console and put its client ID there", path)}}
	if terminal, ok := cmd.InOrStdin().(io.Writer); !ok || !isTerminal(terminal) {
		return nil, f.nobody
	}
	_, err := fmt.Fprint(f.out, `chatguard needs the ID of a Twitch application of yours. That is no secret, costs nothing, and is done once.

1. Open https://dev.twitch.tv/console/apps/create and sign in. Any account of yours will do, if it has two-factor authentication.
2. Fill in "Register Your Application":
     Name                  any that is still free, such as "chatguard of YOURCHANNEL"
     OAuth Redirect URLs   http://localhost
     Category              Chat Bot
     Client Type           Public
   and press Create.
3. Press Manage beside its name, and copy the Client ID.

`)
	return f, err
}

// ask asks until somebody types what can be a client ID.
func (f *clientIDForm) ask() (string, error) {
	for {
		fmt.Fprint(f.out, "Client ID: ")
		if !f.in.Scan() {
			return "", errors.Join(f.in.Err(), f.nobody)
		}
		id := strings.TrimSpace(f.in.Text())
		err := config.CheckClientID(id)
		if err == nil {
			return id, nil
		}
		fmt.Fprintf(f.out, "That isn't it: %v.\n", err)
	}
}

// keep writes the ID into the configuration, or says which line to add there.
func (f *clientIDForm) keep(id string) error {
	data, err := os.ReadFile(f.path)
	if err == nil {
		data, err = config.SetClientID(data, id)
	}
	if err == nil {
		err = os.WriteFile(f.path, data, 0o644) // in place, so that owner, mode and links stay
	}
	if err != nil {
		_, err = fmt.Fprintf(f.out, "\n%s can't be changed from here (%v). Until it has client_id = %q in [twitch], chatguard asks again.\n\n", f.path, err, id)
		return err
	}
	_, err = fmt.Fprintf(f.out, "\nWrote it into %s.\n\n", f.path)
	return err
}
