package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		err = replaceConfig(f.path, data)
	}
	if err != nil {
		_, err = fmt.Fprintf(f.out, "\n%s can't be changed from here (%v). Until it has client_id = %q in [twitch], chatguard asks again.\n\n", f.path, err, id)
		return err
	}
	_, err = fmt.Fprintf(f.out, "\nWrote it into %s.\n\n", f.path)
	return err
}

// replaceConfig writes a configuration beside the one at path, and puts it into its place once it is on the disk: in place, a full disk would cost the
// old one. Owner and mode stay, and a link stays one; where they can't, nothing is changed.
func replaceConfig(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	was, err := os.Stat(path)
	if err != nil {
		return err
	}
	if file, err := os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return err // who may not write it shall not replace it
	} else if err := file.Close(); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return fmt.Errorf("a whole new file is needed for that, and its folder takes none: %w", err)
	}
	_, err = draft.Write(data)
	if err = errors.Join(err, giveTo(draft, was), draft.Chmod(was.Mode().Perm()), draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}
