package request

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// questionName is part of the name of a question's file, followed by a random word.
const questionName = ".question-"

// lookEvery is how often a process looks for questions.
const lookEvery = 250 * time.Millisecond

// freshTime is how long a process looks for questions after it has seen the folder change. In that
// time, a further change may leave the folder's time stamp the same.
const freshTime = 5 * time.Second

// AskStatus asks the process that owns a database for its status, and waits up to wait for the
// answer. It sends no signal, because a process that isn't prepared for the signal would end. The
// owner may be any command that works on the database, or run in another container.
func AskStatus(ctx context.Context, owned *sqlite.OwnedError, wait time.Duration) (s Status, err error) {
	if owned.User != "" {
		as := owned.User
		if as != "root" {
			as += " or root"
		}
		return s, fmt.Errorf("chatguard (process %d) uses the database %s as the user %s: run this as %s", owned.PID, owned.Path, owned.User, as)
	}
	asked, answered, err := send(owned.Path, questionName, Request{Do: Report})
	if err != nil {
		return s, fmt.Errorf("chatguard (process %d) can't be asked: %w", owned.PID, err)
	}
	defer os.Remove(answered)
	defer os.Remove(asked)
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	o, err := awaitOutcome(ctx, answered, owned.Path)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return s, fmt.Errorf("process %d uses the database %s, but hasn't answered within %v: it is starting or stopping, is another command, or is stuck", owned.PID, owned.Path, wait)
	case err != nil:
		return s, fmt.Errorf("the answer of chatguard (process %d) can't be read: %w", owned.PID, err)
	case o.Status == nil:
		return s, fmt.Errorf("chatguard (process %d) answered without its status: %s", owned.PID, o.Error)
	}
	return *o.Status, nil
}

// AnswerQuestions tells the status to the commands that ask for it, until the context ends. It
// calls failed with errors that a person should know about.
func (q Queue) AnswerQuestions(ctx context.Context, status func() Status, failed func(error)) {
	if q.Path == "" {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var stamp, changed time.Time // the folder's time stamp, and when that was seen to change
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		info, err := os.Stat(filepath.Dir(q.Path))
		if err != nil {
			continue // nobody can ask there either
		}
		if !info.ModTime().Equal(stamp) {
			stamp, changed = info.ModTime(), time.Now()
		}
		if time.Since(changed) > freshTime {
			continue
		}
		asked, err := q.take(questionName)
		if err != nil {
			failed(err)
		}
		for name := range asked {
			s := status()
			if err := q.Answer(name, Outcome{Status: &s}); err != nil {
				failed(err)
			}
			q.forgetOutcomes()
		}
	}
}

// forgetOutcomes deletes outcomes that nobody has read for a long time, because their commands were
// killed.
func (q Queue) forgetOutcomes() {
	for _, name := range q.named(outcomeName) {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > 2*outcomeTime && !strings.HasSuffix(name, atomicfile.Suffix) {
			os.Remove(name) // or the next time
		}
	}
}
