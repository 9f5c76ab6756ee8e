package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is the maximum length of a chain of symbolic links.
const maxLinks = 40

// realPath returns an absolute path without symbolic links, so that a database has the same lock
// file under every name. The database need not exist yet.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	for range maxLinks {
		next, err := os.Readlink(path)
		if err != nil {
			break // not a link
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return realFolder(path)
}

// existingPath returns the realPath of a database that must exist.
func existingPath(path string) (string, error) {
	path, err := realPath(path)
	if err != nil {
		return path, unwritableError(path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, MissingError(path)
	}
	return path, nil
}

// readablePath is existingPath for a database that will be read, whether or not a process owns it.
func readablePath(ctx context.Context, path string) (string, error) {
	path, err := existingPath(path)
	if err == nil {
		err = checkLog(path)
	}
	if err == nil {
		err = undoIfUnowned(ctx, path)
	}
	return path, err
}

// realFolder returns an absolute path in a folder without symbolic links. The last element stays,
// even if it is a link.
func realFolder(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return filepath.Join(folder, filepath.Base(path)), err
}
