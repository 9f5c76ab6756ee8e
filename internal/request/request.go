// Package request lets a command send requests to the chatguard that owns a database.
//
// The command creates a file next to the database and sends a signal; on Windows it sets an event.
// It then waits for another file there with the outcome. Only their owner can read the files, and
// only users with write access to that folder can create them. The package knows what is requested,
// but not how it is done. A question changes nothing and needs no signal, because the process looks
// for questions regularly.
package request

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// Request is a request to a running chatguard.
type Request struct {
	Do      string `json:"do"`                // Reload, Discard, Forget or Report
	Channel string `json:"channel,omitempty"` // ID of the channel whose changes to discard
	User    string `json:"user,omitempty"`    // ID of the user to forget
}

// The requests that a running chatguard can handle.
const (
	Reload  = "reload"
	Discard = "discard"
	Forget  = "forget"
	Report  = "report" // only as a question; see AskStatus
)

// Outcome is the result of a request.
type Outcome struct {
	Lines  []string `json:"lines,omitempty"`  // what was done, for people
	Error  string   `json:"error,omitempty"`  // why it wasn't done; empty if it was done
	Status *Status  `json:"status,omitempty"` // of the process, if that is the request
}

const (
	requestName = ".request-" // followed by a random word
	outcomeName = ".outcome-" // followed by the request's word

	// outcomeTime is the maximum time for which a command waits for the outcome. forgetTime is the
	// same for Forget, which writes the whole database again.
	outcomeTime = 10 * time.Second
	forgetTime  = 10 * time.Minute

	// maxRequest is the maximum size in bytes of a request or outcome that is read.
	maxRequest = 1 << 20
)

// Ask sends a request to the process that owns a database, and returns the outcome's lines.
func Ask(ctx context.Context, owned *sqlite.OwnedError, r Request) (lines []string, err error) {
	instead := "restart that chatguard"
	wait := outcomeTime
	if r.Do == Forget {
		wait = forgetTime
	}
	if r.Do == Discard || r.Do == Forget {
		instead = "stop that chatguard, and run this again"
	}
	switch {
	case owned.User != "":
		return nil, owned
	case owned.PID == os.Getpid(): // each container counts its own PIDs
		return nil, errors.New("chatguard runs in another container: run this command in that one, as with `docker exec`")
	case owned.PID == 0:
		return nil, fmt.Errorf("can't tell which process owns the database %s: %s", owned.Path, instead)
	}
	asked, answered, err := send(owned.Path, requestName, r)
	if err != nil {
		return nil, fmt.Errorf("chatguard (process %d) can't be asked: %w", owned.PID, err)
	}
	defer os.Remove(answered) // the process may not have created the file
	defer os.Remove(asked)    // if the process read the file, it deleted it
	if err := notify(owned.PID); err != nil {
		return nil, fmt.Errorf("chatguard (process %d) can't be notified: %w; %s", owned.PID, err, instead)
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	o, err := awaitOutcome(ctx, answered, owned.Path)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("chatguard (process %d) was notified and hasn't answered within %.0f s: see its log", owned.PID, wait.Seconds())
	case err != nil:
		return nil, fmt.Errorf("the answer of chatguard (process %d) can't be read: %w; see its log", owned.PID, err)
	case o.Error != "":
		return nil, errors.New(o.Error)
	}
	return o.Lines, nil
}

// send writes a request to the process that owns the database at path. It returns the names of the
// request's file and of the file for the outcome. That process uses the database, so if there is no
// database at path, somebody has moved it.
func send(path, part string, r Request) (asked, answered string, err error) {
	word := rand.Text()
	asked, answered = path+part+word, path+outcomeName+word
	err = writePrivately(asked, path, r)
	if errors.Is(err, fs.ErrNotExist) {
		err = sqlite.MissingError(path)
	}
	return asked, answered, err
}

// awaitOutcome waits for an outcome file of the process that owns the database at path.
func awaitOutcome(ctx context.Context, name, path string) (o Outcome, err error) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if err = readPrivate(name, path, &o); !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
}

// writePrivately writes a file that appears only once it is complete. Only its owner can read the
// file. If this process runs as root, it gives the file to the owner of the file likeThat. A
// chatguard that doesn't run as root can then read it.
func writePrivately(name, likeThat string, contents any) error {
	data, err := json.Marshal(contents)
	if err != nil {
		return err
	}
	like, err := os.Stat(likeThat)
	if err != nil {
		return err
	}
	return atomicfile.Appear(name, data, func(draft *os.File) error {
		if os.Geteuid() != 0 {
			return nil
		}
		return atomicfile.GiveTo(draft, like)
	})
}

// readPrivate reads a file that writePrivately wrote. A file's place doesn't prove that: other
// users may be able to create files in the database's folder.
func readPrivate(name, likeThat string, contents any) error {
	data, err := fileaccess.ReadTrusted(name, likeThat, maxRequest)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, contents)
}
