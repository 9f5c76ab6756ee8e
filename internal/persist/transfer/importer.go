package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/textfile"
)

// importer reads one export in one transaction.
type importer struct {
	name  string
	opts  Options
	lines *bufio.Scanner
	line  int64 // number of the last line read
	// whole means that the last line ended with a line break.
	whole  bool
	at     time.Time
	format int

	feed    bytes.Buffer // passes one line at a time to the decoder
	decoder *json.Decoder

	batch   []line // lines of one kind
	waiting int    // bytes of the batch's lines
	kind    *lineKind
	last    map[string]lineKey // last key of each kind
	rows    int64
	kept    string
}

// The maximum number of bytes of a line. A revision and its audit contain whole policies, of up to
// maxPolicyJSON each; other lines contain a few texts. A longer line would cost memory and take
// seconds.
const (
	maxImportLine = 4 * maxPolicyJSON
	maxPlainLine  = 1 << 18
)

// open reads the first line.
func (im *importer) open(r io.Reader) error {
	text, err := textfile.NewReader(r, 1<<16)
	if err != nil {
		return fmt.Errorf("%s: %w", im.name, err)
	}
	im.lines = bufio.NewScanner(text)
	im.lines.Buffer(nil, maxImportLine)
	im.lines.Split(im.split)
	im.decoder = json.NewDecoder(&im.feed)
	im.decoder.DisallowUnknownFields()
	data, err := im.next()
	if err != nil {
		return err
	}
	var header headerLine
	switch err := json.Unmarshal(data, &header); {
	case err != nil && !im.whole && (im.lines.Err() != nil || bytes.HasPrefix(data, []byte(`{"kind":"`+headerKind+`"`))):
		return im.endError("in")
	case err != nil || header.Kind != headerKind || header.Format < 1:
		return im.notExportError("")
	case header.Format > exportFormat:
		return fmt.Errorf("%s was written by a newer chatguard (format %d, this one knows up to %d): update chatguard", im.name, header.Format, exportFormat)
	}
	im.at, im.format = header.At, header.Format
	return nil
}

func (im *importer) notExportError(reason string) error {
	return fmt.Errorf("%s is not a chatguard export%s: name a file that `chatguard export` wrote", im.name, reason)
}

// split does the same as bufio.ScanLines, and records whether the line is complete.
func (im *importer) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(data, atEOF)
	if advance > 0 {
		im.whole = data[advance-1] == '\n'
	}
	return advance, line, err
}

// next returns the next line, valid until the next call. The end of the file is an error.
func (im *importer) next() ([]byte, error) {
	if im.lines.Scan() {
		im.line++
		return bytes.TrimSpace(im.lines.Bytes()), nil
	}
	return nil, im.endError("after")
}

// endError returns the error for an incomplete export. The export may end after the last line read,
// or within it.
func (im *importer) endError(where string) error {
	switch err := im.lines.Err(); {
	case err == nil && im.line == 0:
		return im.notExportError(" (it is empty)")
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s ends %s line %d, without its end line: it was cut off, so export or copy it again", im.name, where, im.line)
	case errors.Is(err, bufio.ErrTooLong):
		return im.lineError(im.line+1, lengthError(maxImportLine))
	default:
		return fmt.Errorf("%s can't be read %s line %d (%w): check the disk, or export again", im.name, where, im.line, err)
	}
}

func lengthError(most int) error { return fmt.Errorf("the line is longer than %d bytes", most) }

// currentLineError returns the error for the last line read. If the line is incomplete, it returns
// endError's error.
func (im *importer) currentLineError(problem error) error {
	if !im.whole {
		return im.endError("in")
	}
	return im.lineError(im.line, problem)
}

// lineError returns an error that names a line, its problem and the fix.
func (im *importer) lineError(line int64, problem error) error {
	return fmt.Errorf("%s:%d: %w (nothing was imported: correct the line or remove it, or export again)", im.name, line, problem)
}

// readAll imports the lines after the first one.
func (im *importer) readAll(ctx context.Context, tx *sql.Tx) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := im.next()
		if err != nil {
			return err
		}
		name, err := kindIn(data)
		if err != nil {
			return im.currentLineError(plainJSON(err, data))
		}
		if name == endKind {
			return cmp.Or(im.flush(ctx, tx), im.checkEnd(data))
		}
		if err := im.take(ctx, tx, name, data); err != nil {
			return err
		}
	}
}

// kindIn returns the kind that a line names.
func kindIn(data []byte) (name string, err error) {
	if rest, ok := bytes.CutPrefix(data, []byte(`{"kind":"`)); ok {
		// in the form that Export writes, so no need to parse the line twice
		if word, _, ok := bytes.Cut(rest, []byte(`"`)); ok && kindNamed(string(word)) != nil {
			return string(word), nil
		}
	}
	var h head
	err = json.Unmarshal(data, &h)
	return h.Kind, err
}

// The maximum number of rows, and of bytes of lines, per insertion. A longer line is inserted
// alone, so memory is limited to a few of the longest lines.
const (
	importBatch = 10 * statement.RowsPerStatement
	importBytes = 1 << 23
)

// take processes one line.
func (im *importer) take(ctx context.Context, tx *sql.Tx, name string, data []byte) error {
	kind := kindNamed(name)
	if kind == nil {
		return im.currentLineError(fmt.Errorf("unknown kind %.40q", name))
	}
	if len(data) > maxPlainLine && kind.name != "revision" && kind.name != "audit" {
		return im.currentLineError(lengthError(maxPlainLine))
	}
	if kind != im.kind || len(im.batch) == importBatch || im.waiting+len(data) > importBytes {
		if err := im.flush(ctx, tx); err != nil {
			return err
		}
		im.kind = kind
	}
	l, err := im.decode(kind, data)
	if err == nil {
		err = im.checkOrder(l)
	}
	if err != nil {
		return im.currentLineError(err)
	}
	im.batch = append(im.batch, l)
	im.waiting += len(data)
	im.rows++
	return nil
}

func (im *importer) decode(kind *lineKind, data []byte) (line, error) {
	l := kind.empty()
	if err := im.decodeInto(l, data); err != nil {
		return nil, err
	}
	if err := kind.restoreExact(l); err != nil {
		return nil, err
	}
	return l, kind.check(l)
}

// decodeInto returns an error for a line with fields that the value doesn't have, and for a line
// with text after the JSON value.
func (im *importer) decodeInto(value any, data []byte) error {
	im.feed.Write(data)
	end := im.decoder.InputOffset() + int64(len(data))
	if err := im.decoder.Decode(value); err != nil {
		return plainJSON(err, data)
	}
	if im.decoder.InputOffset() != end {
		return errors.New("there is text after its closing brace")
	}
	return nil
}

// checkOrder returns an error unless the line is after the previous line of its kind in export
// order. So it finds a repeated key without remembering all keys.
func (im *importer) checkOrder(l line) error {
	key := im.kind.keyOf(l)
	if last, ok := im.last[im.kind.name]; ok {
		switch c := key.compare(last); {
		case c == 0:
			return fmt.Errorf("it has the same key as the %s line before it", im.kind.name)
		case c < 0:
			return fmt.Errorf("its key is below that of the %s line before it", im.kind.name)
		}
	}
	im.last[im.kind.name] = key
	return nil
}

// flush writes the pending lines.
func (im *importer) flush(ctx context.Context, tx *sql.Tx) error {
	if len(im.batch) == 0 {
		return nil
	}
	insertion := im.kind.insertion()
	err := insertion.Write(ctx, tx, len(im.batch), func(args []any, i int) []any { return im.kind.values(args, im.batch[i]) })
	clear(im.batch) // for the garbage collector
	im.batch, im.waiting = im.batch[:0], 0
	im.opts.Progress.rows.Store(im.rows)
	return err
}

// checkEnd checks that the export is complete.
func (im *importer) checkEnd(data []byte) error {
	var end endLine
	if err := im.decodeInto(&end, data); err != nil {
		return im.lineError(im.line, err)
	}
	if end.Lines != im.line {
		return fmt.Errorf("%s:%d: the export had %d lines, but this file has %d: copy or export it again, or correct the number (nothing was imported)",
			im.name, im.line, end.Lines, im.line)
	}
	if im.lines.Scan() {
		return im.lineError(im.line+1, errors.New("there is text after the end line"))
	}
	if err := im.lines.Err(); err != nil {
		return fmt.Errorf("%s: its end can't be read (%w): copy or export it again", im.name, err)
	}
	return nil
}
