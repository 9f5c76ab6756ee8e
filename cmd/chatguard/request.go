package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/persist"
)

// A command asks the chatguard that owns a database to do something by a file beside the database, and a signal that tells of it. The outcome is
// another file there, which the command waits for. Only their owner can read them, and only who may write in that folder can make them.

// request is what a running chatguard is asked to do.
type request struct {
	Do      string `json:"do"`                // doReload or doDiscard
	Channel string `json:"channel,omitempty"` // ID of the channel to discard the changes of
}

// What a running chatguard can be asked to do.
const (
	doReload  = "reload"
	doDiscard = "discard"
)

// outcome is what came of a request.
type outcome struct {
	Lines []string `json:"lines,omitempty"` // what was done, for people
	Error string   `json:"error,omitempty"` // why nothing was; empty if it was
}

const (
	requestName = ".request-" // and a random word
	outcomeName = ".outcome-" // and that of the request

	// outcomeTime is how long a command waits for the outcome.
	outcomeTime = 10 * time.Second

	// maxRequest is the size in bytes of the longest request or outcome that is read.
	maxRequest = 1 << 20
)

// askOwner has the process that owns a database do something, and returns the lines that say what it did.
func askOwner(ctx context.Context, owned *persist.OwnedError, r request) (lines []string, err error) {
	instead := "restart that chatguard"
	if r.Do == doDiscard {
		instead = "stop that chatguard, and do this again"
	}
	switch {
	case owned.User != "":
		return nil, owned
	case owned.PID == 0:
		return nil, fmt.Errorf("it can't be told which process holds the database %s: %s", owned.Path, instead)
	}
	word := rand.Text()
	asked, answered := owned.Path+requestName+word, owned.Path+outcomeName+word
	if err := writePrivately(asked, owned.Path, r); err != nil {
		return nil, fmt.Errorf("chatguard (process %d) can't be asked: %w", owned.PID, err)
	}
	defer os.Remove(answered) // it may never have come
	defer os.Remove(asked)    // it is gone if it was read
	if err := notify(owned.PID); err != nil {
		return nil, fmt.Errorf("chatguard (process %d) can't be notified: %w; %s", owned.PID, err, instead)
	}
	ctx, stop := context.WithTimeout(ctx, outcomeTime)
	defer stop()
	o, err := awaitOutcome(ctx, answered)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("chatguard (process %d) was notified and hasn't answered within %.0f s: its log says what came of it", owned.PID, outcomeTime.Seconds())
	case err != nil:
		return nil, fmt.Errorf("the answer of chatguard (process %d) can't be read: %w; its log says what came of it", owned.PID, err)
	case o.Error != "":
		return nil, errors.New(o.Error)
	}
	return o.Lines, nil
}

// awaitOutcome waits for the file with an outcome.
func awaitOutcome(ctx context.Context, name string) (o outcome, err error) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if err = readPrivate(name, &o); !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
}

// writePrivately writes a file that is whole as soon as it has its name, and only for the owner of another one: whoever runs a command as root asks
// a chatguard that isn't root's.
func writePrivately(name, likeThat string, contents any) error {
	data, err := json.Marshal(contents)
	if err != nil {
		return err
	}
	like, err := os.Stat(likeThat)
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(name), filepath.Base(likeThat)+".*.new") // of mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(data)
	if os.Geteuid() == 0 {
		err = errors.Join(err, giveTo(draft, like))
	}
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}

// readPrivate reads what writePrivately wrote.
func readPrivate(name string, contents any) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRequest))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, contents)
}

// requests are those that the process that owns the database at path is asked. An empty path is that of no database, and has none.
type requests struct{ path string }

// forget deletes what nobody waits for any more. It is for the start.
func (q requests) forget() error {
	var failed error
	for _, name := range append(q.named(requestName), q.named(outcomeName)...) {
		failed = errors.Join(failed, os.Remove(name))
	}
	return failed
}

// take returns the requests that wait, by the names of the files that their outcomes go to, and deletes them.
func (q requests) take() (waiting map[string]request, failed error) {
	waiting = map[string]request{}
	for _, name := range q.named(requestName) {
		var r request
		err := errors.Join(readPrivate(name, &r), os.Remove(name))
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		waiting[q.path+outcomeName+strings.TrimPrefix(name, q.path+requestName)] = r
	}
	return waiting, failed
}

// answer writes what came of a request.
func (q requests) answer(name string, o outcome) error { return writePrivately(name, q.path, o) }

// named are the paths of the files whose names go on after the database's like that.
func (q requests) named(part string) (names []string) {
	if q.path == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(q.path))
	if err != nil {
		return nil // then nobody can ask there either
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(q.path)+part) {
			names = append(names, filepath.Join(filepath.Dir(q.path), e.Name()))
		}
	}
	return names
}
