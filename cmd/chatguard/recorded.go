package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/simulate"
)

// namedSkips is how many unreadable lines are reported before the rest are only counted.
const namedSkips = 20

// skippedLines reports the lines of recorded chat that can't be read.
type skippedLines struct {
	out io.Writer
	n   int
}

// add reports a line if it is one of the first namedSkips.
func (s *skippedLines) add(name string, line int, why error) {
	if s.n++; s.n <= namedSkips {
		printLine(s.out, "%s:%d: skipped: %s", name, line, hostile.Printable(journal.Sentence(why)))
	}
}

// sumUp reports how many more lines were skipped.
func (s *skippedLines) sumUp() {
	if more := s.n - namedSkips; more > 0 {
		fmt.Fprintf(s.out, "and %d more lines were skipped\n", more)
	}
}

// readRecords calls readOne with each file, or with standard input for "-". It counts the bytes in
// read. If a file has no message that can be read, it goes on with the next, and returns
// simulate.ErrNoMessage at the end.
func readRecords(cmd *cobra.Command, files []string, read *atomic.Int64, readOne func(name string, record io.Reader) error) error {
	var empty error
	for _, name := range files {
		err := readOneRecord(name, cmd.InOrStdin(), read, readOne)
		if errors.Is(err, simulate.ErrNoMessage) {
			empty = errors.Join(empty, fmt.Errorf("%w: want lines of Twitch's chat with their tags (@…;user-id=…), or JSON lines: see chatguard help replay", err))
		} else if err != nil {
			return err
		}
	}
	return empty
}

func readOneRecord(name string, stdin io.Reader, read *atomic.Int64, readOne func(name string, record io.Reader) error) error {
	if name == "-" {
		return readOne("standard input", countingReader{stdin, read})
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return readOne(name, countingReader{f, read})
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	n *atomic.Int64
}

func (r countingReader) Read(p []byte) (n int, err error) {
	n, err = r.Reader.Read(p)
	r.n.Add(int64(n))
	return n, err
}

// parseLine reads a line of Twitch's chat, for a simulate.Reader.
func parseLine(line string) (chatguard.Message, bool, error) {
	m, ok, err := irc.Parse(line)
	if m.Mirrored() {
		err = cmp.Or(err, simulate.ErrMirrored)
	}
	return m.Message, ok, err
}

// readChat calls add with each message of the files, and shows the progress. If add returns an
// error, the message is skipped. Only an error that simulate.Stop made ends the reading.
func readChat(cmd *cobra.Command, files []string, add func(context.Context, chatguard.Message) error) error {
	return readLines(cmd, files, func(ctx context.Context, m chatguard.Message, _ []byte) error { return add(ctx, m) })
}

// readLines is readChat for an add that also needs the message's line, which is valid until add
// returns.
func readLines(cmd *cobra.Command, files []string, add func(context.Context, chatguard.Message, []byte) error) error {
	var read atomic.Int64
	skipped := skippedLines{out: cmd.ErrOrStderr()}
	state := func() string { return byteCount(read.Load()) + " read" }
	return runLongWork(cmd, state, "the rest was not read", func(ctx context.Context) error {
		reader := simulate.Reader{Parse: parseLine, Skipped: skipped.add}
		reader.Visit = func(m chatguard.Message, line []byte) error { return add(ctx, m, line) }
		defer skipped.sumUp()
		return readRecords(cmd, files, &read, func(name string, record io.Reader) error { return reader.Read(ctx, name, record) })
	})
}
