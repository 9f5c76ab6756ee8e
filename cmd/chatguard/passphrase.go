package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/textfile"
)

// passphraseVariable is the environment variable with a backup's passphrase.
const passphraseVariable = "CHATGUARD_BACKUP_PASSPHRASE"

// maxPassphrase is the maximum number of bytes of a passphrase file.
const maxPassphrase = 1 << 12

// passphrase is where a backup's passphrase comes from: the file of a flag, the environment, or a
// person at the terminal.
type passphrase struct{ file string }

func (p *passphrase) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "passphrase-file", "", "read the passphrase from this file (default: "+passphraseVariable+", or ask)")
}

// get returns the passphrase. A new one must not be easy to guess. If get asks a person for a new
// one, it asks twice.
func (p *passphrase) get(cmd *cobra.Command, isNew bool) (string, error) {
	text, err := p.find(cmd, isNew)
	if err == nil && isNew {
		err = checkPassphrase(text)
	}
	return text, err
}

// A new passphrase must have at least minPassphrase characters, and minVariety different
// characters.
const (
	minPassphrase = 12
	minVariety    = 6
)

// checkPassphrase returns an error if a new passphrase is easy to guess.
func checkPassphrase(text string) error {
	different := map[rune]bool{}
	for _, c := range text {
		different[c] = true
	}
	if utf8.RuneCountInString(text) < minPassphrase || len(different) < minVariety {
		return fmt.Errorf("the passphrase is easy to guess: use at least %d characters, %d of them different, such as five random words", minPassphrase, minVariety)
	}
	return nil
}

func (p *passphrase) find(cmd *cobra.Command, isNew bool) (string, error) {
	if p.file != "" {
		p.warnIfOpen(cmd)
		return p.read()
	}
	if text, set := os.LookupEnv(passphraseVariable); set {
		if text == "" {
			return "", errors.New(passphraseVariable + " is empty: set it to the passphrase, or unset it to be asked")
		}
		return text, nil
	}
	return askPassphrase(cmd, isNew)
}

// warnIfOpen warns if other users can read or change the file. systemd gives its credentials to the
// service only, whatever their mode says.
func (p *passphrase) warnIfOpen(cmd *cobra.Command) {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	if folder != "" && filepath.Dir(p.file) == filepath.Clean(folder) {
		return
	}
	if err := fileaccess.Check("the passphrase file", p.file); err != nil {
		cmd.PrintErrln("chatguard:", err)
	}
}

// read returns the only line of the file.
func (p *passphrase) read() (string, error) {
	data, err := os.ReadFile(p.file)
	switch failed := (*fs.PathError)(nil); {
	case errors.As(err, &failed):
		return "", fmt.Errorf("the passphrase file %s can't be read (%w): name another with --passphrase-file", p.file, failed.Err)
	case err != nil:
		return "", err
	}
	if data, err = textfile.Trim(data); err != nil {
		return "", fmt.Errorf("the passphrase file %s: %w", p.file, err)
	}
	line := string(bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r")))
	switch {
	case line == "":
		return "", fmt.Errorf("the passphrase file %s is empty: write the passphrase into it", p.file)
	case strings.ContainsAny(line, "\r\n") || len(line) > maxPassphrase:
		return "", fmt.Errorf("the passphrase file %s has more than one short line: write only the passphrase into it", p.file)
	}
	return line, nil
}

// askPassphrase asks a person at the terminal, which doesn't show what they type.
func askPassphrase(cmd *cobra.Command, isNew bool) (string, error) {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", errors.New("the passphrase is missing: name a file with --passphrase-file, or set " + passphraseVariable)
	}
	first, err := readHidden(cmd, in, "Passphrase: ")
	if err != nil {
		return "", err
	}
	if first == "" {
		return "", errors.New("the passphrase is empty: enter at least one character")
	}
	if !isNew {
		return first, nil
	}
	if err := checkPassphrase(first); err != nil {
		return "", err
	}
	second, err := readHidden(cmd, in, "The same again: ")
	if err == nil && first != second {
		err = errors.New("the two passphrases differ: run this again")
	}
	return first, err
}

// readHidden reads a line from a terminal. A signal ends the read. The terminal then shows again
// what people type.
func readHidden(cmd *cobra.Command, in *os.File, question string) (string, error) {
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(cmd.ErrOrStderr(), question)
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // abandoned at a signal, because the read can't be canceled
		text, err := term.ReadPassword(int(in.Fd()))
		answers <- answer{text, err}
	}()
	defer fmt.Fprintln(cmd.ErrOrStderr())
	select {
	case <-ctx.Done():
		return "", cmp.Or(term.Restore(int(in.Fd()), before), errors.New("stopped: nothing was changed"))
	case a := <-answers:
		return string(a.text), a.err
	}
}

// refuseUnneeded returns an error if a flag names a passphrase that isn't needed.
func (p *passphrase) refuseUnneeded(reason string) error {
	if p.file == "" {
		return nil
	}
	return usageError{errors.New(reason + ": leave out --passphrase-file")}
}
