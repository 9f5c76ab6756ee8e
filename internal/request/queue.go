package request

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/atomicfile"
)

// Queue holds requests for the process that owns the database at Path. An empty Path means no
// database and no requests.
type Queue struct{ Path string }

// Forget deletes requests that no command waits for any more. It is called at the start.
func (q Queue) Forget() error {
	var failed error
	for _, name := range slices.Concat(q.named(requestName), q.named(questionName), q.named(outcomeName)) {
		failed = errors.Join(failed, os.Remove(name))
	}
	return failed
}

// Take returns the pending requests by the names of their outcome files, and deletes the requests.
func (q Queue) Take() (waiting map[string]Request, failed error) { return q.take(requestName) }

// take returns the pending requests whose files have a name with this part.
func (q Queue) take(part string) (waiting map[string]Request, failed error) {
	waiting = map[string]Request{}
	for _, name := range q.named(part) {
		if strings.HasSuffix(name, atomicfile.Suffix) {
			continue // the file is still being written
		}
		var r Request
		read := readPrivate(name, q.Path, &r)
		if err := errors.Join(read, os.Remove(name)); err != nil {
			if read != nil {
				err = fmt.Errorf("the request in %s can't be read: run that command again, as the same user as chatguard or as root: %w", name, err)
			}
			failed = errors.Join(failed, err)
			continue
		}
		waiting[q.Path+outcomeName+strings.TrimPrefix(name, q.Path+part)] = r
	}
	return waiting, failed
}

// Answer writes the outcome of a request.
func (q Queue) Answer(name string, o Outcome) error { return writePrivately(name, q.Path, o) }

// named returns the paths of the files whose names begin with the database's name and part.
func (q Queue) named(part string) (names []string) {
	if q.Path == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(q.Path))
	if err != nil {
		return nil // nobody can create requests there either
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(q.Path)+part) {
			names = append(names, filepath.Join(filepath.Dir(q.Path), e.Name()))
		}
	}
	return names
}
