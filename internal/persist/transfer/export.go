package transfer

import (
	"bufio"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// exportFormat is the version of the written lines, and the highest version that can be read.
// Version 1 had no settings, and no exemptions that end. Version 2 had no unspent part of a
// message's cost and no rolled-up timeline. After the import of such an export, the next start
// rolls up the timeline. Version 3 had no streams, no notes, and no display names except in the
// journal. Version 4 had no priorities.
const exportFormat = 5

const (
	headerKind = "chatguard-export"
	endKind    = "end"
)

// headerLine is the first line of an export.
type headerLine struct {
	head
	Format int       `json:"format"`
	At     time.Time `json:"at"` // the export has everything stored by then
}

// endLine is the last line of an export. Without it the export is incomplete.
type endLine struct {
	head
	Lines int64 `json:"lines"` // in the whole export, including the first and last
}

// Export writes the contents of the database at path except the sign-ins, as of one moment, as JSON
// lines. It works whether or not a process owns the database, and never delays that process. Memory
// use doesn't grow with the database. If the context ends, the error is the context's. An error of
// w is returned unchanged. Any other error names the database and the fix.
func Export(ctx context.Context, path string, w io.Writer, opts *Options) (Copy, error) {
	src, err := openExport(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.Close()
	return export(ctx, src, w, opts.withDefaults())
}

// ExportFile is an Export to the file target. If the target's name ends in .gz, the file is
// compressed with gzip. Only its owner can read the file. It appears complete or not at all.
func ExportFile(ctx context.Context, path, target string, opts *Options) (Copy, error) {
	src, err := openExport(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.Close()
	full := opts.withDefaults()
	d, err := src.NewDraft(target, full.Force)
	if err != nil {
		return Copy{}, err
	}
	defer d.Discard()
	var c Copy
	if strings.HasSuffix(d.Target, ".gz") {
		c, err = exportZipped(ctx, src, d, full)
	} else {
		c, err = export(ctx, src, d, full)
	}
	if err != nil {
		return Copy{}, err
	}
	c.Path = d.Target
	c.Bytes, err = d.Publish()
	return c, err
}

func exportZipped(ctx context.Context, src *sqlite.Snapshot, w io.Writer, opts Options) (Copy, error) {
	zipped := gzip.NewWriter(w)
	c, err := export(ctx, src, zipped, opts)
	if err != nil {
		return c, err
	}
	return c, zipped.Close()
}

// openExport opens a database and checks that all of its tables are known.
func openExport(ctx context.Context, path string) (*sqlite.Snapshot, error) {
	src, err := persist.Schema.OpenSnapshot(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := src.CheckCurrent(ctx); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

func export(ctx context.Context, src *sqlite.Snapshot, w io.Writer, opts Options) (Copy, error) {
	at := opts.Now().UTC()
	tx, err := src.DB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Copy{}, sqlite.Explain(src.Path, err)
	}
	defer tx.Rollback() // nothing to commit
	buffer := bufio.NewWriterSize(w, 1<<16)
	e := &exporter{tx: tx, encoder: json.NewEncoder(buffer), progress: opts.Progress}
	e.encoder.SetEscapeHTML(false) // keep chat readable for people
	if err := e.writeAll(ctx, at); err != nil {
		return Copy{}, sqlite.Explain(src.Path, err)
	}
	if err := src.CheckLog(); err != nil {
		return Copy{}, err
	}
	return Copy{Rows: e.rows, At: at}, buffer.Flush()
}

// exporter writes one export.
type exporter struct {
	tx       *sql.Tx
	encoder  *json.Encoder
	progress *Progress
	rows     int64
}

func (e *exporter) writeAll(ctx context.Context, at time.Time) error {
	if err := e.encoder.Encode(headerLine{head{headerKind}, exportFormat, at}); err != nil {
		return err
	}
	for i := range lineKinds {
		if err := e.writeKind(ctx, &lineKinds[i]); err != nil {
			return err
		}
	}
	return e.encoder.Encode(endLine{head{endKind}, e.rows + 2})
}

func (e *exporter) writeKind(ctx context.Context, kind *lineKind) (err error) {
	rows, err := e.tx.QueryContext(ctx, kind.query())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	l := kind.empty() // one line serves all rows: each row sets every field
	into := kind.scanners(l)
	entry, _ := l.(*entryLine)
	usage, _ := l.(*stateLine)
	for rows.Next() {
		if ctx.Err() != nil {
			return ctx.Err() // rows notices the context's end later
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("row %d of table %s can't be read: %w", e.rows+1, kind.name, err)
		}
		if usage != nil && inner.IsTextKey(usage.UserID) {
			continue // a hash means nothing without the installation's key
		}
		if entry != nil {
			entry.Outcome.Entry = entry.ID // the table stores this ID only once
		}
		kind.keepExact(l)
		if err := e.encoder.Encode(l); err != nil {
			return err
		}
		e.rows++
		e.progress.rows.Store(e.rows)
	}
	return rows.Err()
}
