// Package fileaccess finds out whether other users of this machine can read or change a file. It
// must not know what the files contain.
package fileaccess

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Access is what other users of this machine may do with files. Others are all users except the
// files' owner, root, administrators and the system.
type Access struct{ Read, Write bool }

// Any reports whether other users may do anything.
func (a Access) Any() bool { return a.Read || a.Write }

// Verb says in the passive what other users may do with the files: "read", "changed" or both.
func (a Access) Verb() string {
	switch {
	case a.Read && a.Write:
		return "read and changed"
	case a.Write:
		return "changed"
	}
	return "read"
}

// Check returns a one-line error with the fix if other users can read or change the file at path.
// what says what the file is. A missing file is not an error.
func Check(what, path string) error {
	if others, err := OfOthers(path); err == nil && others.Any() {
		return fmt.Errorf("%s %s can be %s by other users of this machine: %s", what, path, others.Verb(), Fix(path))
	}
	return nil
}

// Cause returns an error without the path that it contains.
func Cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	if failed, ok := errors.AsType[*os.LinkError](err); ok {
		return failed.Err
	}
	return err
}

// ReadTrusted returns the contents of the file at path, up to most bytes. It refuses the file
// unless only trusted users can have written it: this process's user, root, administrators and, on
// Unix, the owner of the file at like. The file at like may be missing.
func ReadTrusted(path, like string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|careful, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := checkAuthor(file, like); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, most))
}
