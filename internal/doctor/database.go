package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/textkey"
)

// checkDatabase checks whether the database is intact and can be opened, and which process uses it.
func (d *Doctor) checkDatabase(ctx context.Context) (list []Finding) {
	path := d.cfg.Database
	if d.owner != nil && d.owner.User != "" {
		return []Finding{problemFrom(d.owner)}
	}
	if d.hidden != nil {
		return []Finding{problemFrom(d.hidden)}
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		path = linkedFile(path)
		if err := sqlite.CheckMissing(path); err != nil {
			return []Finding{problemFrom(err)}
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return []Finding{problem("create that folder, or set another database", "%s can't be created: its folder doesn't exist", path)}
		}
		if err := tryFolder(path); err != nil {
			return []Finding{problem(folderFix(err), "%s can't be created: %v", path, err)}
		}
		return []Finding{noteFinding("%s doesn't exist yet: `chatguard run` creates it", path)}
	case err != nil:
		return []Finding{problem("run this as the user that chatguard runs as, or set another database", "%s can't be checked: %v", path, reasonOf(err))}
	case !info.Mode().IsRegular():
		return []Finding{problem("set another database", "%s is not a file", path)}
	}
	outdated, err := persist.Schema.Check(ctx, path)
	switch {
	case ctx.Err() != nil:
		return []Finding{noteFinding("%s is too large to be checked completely within %.0f s", path, patience.Seconds())}
	case errors.Is(err, sqlite.ErrUnfinished):
		d.unfinished = true
		return []Finding{noteFinding("%s can't be checked yet: %v; `chatguard run` undoes that", path, err)}
	case err != nil:
		return []Finding{problemFrom(err)}
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return []Finding{problem("make the file and its folder writable for this user, or set another database", "%s can't be written by this user", path)}
	}
	if err := file.Close(); err != nil {
		return []Finding{problemFrom(err)}
	}
	if err := tryFolder(path); err != nil {
		return []Finding{problem(folderFix(err), "%s can't be written: SQLite keeps other files beside it, and %v", path, err)}
	}
	for _, check := range []func(string) error{sqlite.CheckMode, sqlite.CheckFolder} {
		if err := check(path); err != nil {
			list = append(list, problemFrom(err))
		}
	}
	if err := textkey.Check(d.cfg.TextKeyFile()); err != nil {
		list = append(list, problemFrom(err))
	}
	if d.owner == nil { // otherwise that process may be writing them
		for _, name := range sqlite.Abandoned(path) {
			list = append(list, noteFinding("%s is an unfinished file from a killed process: delete it, or run chatguard as the owner of its folder to delete it", name))
		}
	}
	if outdated {
		list = append(list, noteFinding("%s is from an older version: `chatguard run` keeps a copy and upgrades it", path))
	}
	usedBy := "not in use"
	switch {
	case d.owner != nil && d.owner.PID == 0:
		usedBy = "in use by another process"
	case d.owner != nil:
		usedBy = fmt.Sprintf("in use by process %d", d.owner.PID)
	}
	return append(list, okFinding("%s, %s", path, usedBy))
}

// checkProcess asks the process that owns the database for its problems. If the owner is another
// command, it doesn't answer.
func (d *Doctor) checkProcess(ctx context.Context) (list []Finding) {
	if d.owner == nil || d.owner.User != "" {
		return nil // checkDatabase reports that
	}
	s, err := request.AskStatus(ctx, d.owner, patience)
	switch { // checkDatabase has the fix
	case sqlite.IsDiskFull(err):
		err = errors.New("a question needs a file, and the disk is full")
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("its database is gone")
	}
	if err != nil {
		return []Finding{noteFinding("not asked for its problems: %v", err)}
	}
	for _, text := range s.Problems {
		if slices.ContainsFunc(d.sharedProblems, func(known string) bool { return strings.Contains(text, known) }) {
			list = append(list, okFinding("the running chatguard says the same of the shared store"))
			continue
		}
		list = append(list, problem("correct that; `chatguard status` shows whether it is over", "the running chatguard says: %s", text))
	}
	if len(list) == 0 {
		list = append(list, okFinding("the running chatguard says that everything works"))
	}
	return list
}

// linkedFile returns the file to which the symbolic link at path leads, even if that file is
// missing. If path isn't a link, linkedFile returns path.
func linkedFile(path string) string {
	target, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(filepath.Dir(path), target)
}

// folderFix returns what to do if no file can be created in a folder, or none can be written.
func folderFix(err error) string {
	if sqlite.IsDiskFull(err) {
		return "free some space"
	}
	return "make the folder writable for this user, or set another database"
}

// tryFolder creates and deletes a file in the database's folder.
func tryFolder(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, filepath.Base(path)+".*.doctor")
	if err != nil {
		return fmt.Errorf("its folder %s can't be written (%w)", folder, reasonOf(err))
	}
	_, err = file.Write(make([]byte, triedBytes)) // fails on a full disk
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("no file can be written in its folder %s (%w)", folder, reasonOf(err))
	}
	return nil
}

// triedBytes is how much tryFolder writes.
const triedBytes = 64 << 10

// reasonOf returns why a file can't be used, without its name.
func reasonOf(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
