//go:build generate

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// init makes `go run -tags generate ./cmd/chatguard FOLDER VERSION` write what a release has besides
// the binary: man pages, shell completions, licences and changelogs. It runs at the module's root. It
// is not a command of its own, because the binary would then contain what makes man pages.
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

// generator writes the files of a version into a folder. The date is that of SOURCE_DATE_EPOCH, if
// it is set.
type generator struct {
	folder, version string
	date            time.Time
}

// generate empties the folder and writes the files.
func (g generator) generate() error {
	if err := os.RemoveAll(g.folder); err != nil {
		return err
	}
	for _, part := range []func(*cobra.Command) error{g.writeManPages, g.writeCompletions, g.writeLicenses, g.writeChangelogs} {
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
	header := &doc.GenManHeader{Section: "1", Source: "chatguard " + g.version, Manual: "chatguard", Date: &g.date}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return err
	}
	return compressAll(folder)
}

// compressAll replaces every file in a folder by its compressed form.
func compressAll(folder string) error {
	pages, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, page := range pages {
		path := filepath.Join(folder, page.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := writeCompressed(path+".gz", content); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// writeCompletions writes the scripts under the names under which shells look for them.
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

// debianChangelog is the form of Debian's changelogs. Its arguments are the version and the date.
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
