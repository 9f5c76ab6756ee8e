package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
)

// clientIDForm asks a person for the ID of their Twitch application and stores it in the
// configuration.
type clientIDForm struct {
	in     *bufio.Scanner
	out    io.Writer
	path   string // path of the configuration
	nobody error  // error if nobody answers
}

// newClientIDForm prints how to get an ID, and what to enter in each field of Twitch's form. It
// returns an error if there is no terminal to ask in.
func newClientIDForm(cmd *cobra.Command, path string) (*clientIDForm, error) {
	f := &clientIDForm{in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), path: path, nobody: usageError{fmt.Errorf(
		"%s: twitch.client_id is empty, and there is no terminal to ask in: register an application at dev.twitch.tv/console and put its client ID there", path)}}
	if terminal, ok := cmd.InOrStdin().(io.Writer); !ok || !isTerminal(terminal) {
		return nil, f.nobody
	}
	_, err := fmt.Fprint(f.out, `chatguard needs the client ID of your own Twitch application. It isn't a secret, costs nothing, and is needed only once.

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

// ask asks until somebody enters a possible client ID.
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

// keep writes the ID to the configuration, or says which line to add.
func (f *clientIDForm) keep(id string) error {
	if err := app.SaveClientID(f.path, id); err != nil {
		_, err = fmt.Fprintf(f.out, "\n%s can't be changed from here (%v). Until it has client_id = %q in [twitch], chatguard asks again.\n\n", f.path, err, id)
		return err
	}
	_, err := fmt.Fprintf(f.out, "\nSaved it in %s.\n\n", f.path)
	return err
}
