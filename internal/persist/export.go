package persist

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
)

// exportFormat is the version of the lines that are written, and the highest that is read. Version 1 had no settings, and no exemption that ends;
// version 2 nothing that the timeline was rolled up to, which the next start makes of it, nor how much of a message's cost wasn't spent.
const exportFormat = 3

const (
	headerKind = "chatguard-export"
	endKind    = "end"
)

// headerLine is the first line of an export.
type headerLine struct {
	head
	Format int       `json:"format"`
	At     time.Time `json:"at"` // it holds all that was stored by then
}

// endLine is the last line of an export, without which it is only a part of one.
type endLine struct {
	head
	Lines int64 `json:"lines"` // of the whole export, with the first and this one
}

// Export writes everything that the database at path holds but the sign-ins, as it is at one moment, as JSON lines. It works beside the owner,
// whom it never holds up, and without one. Memory doesn't grow with the database. Where the context ends, the error is the context's; one of
// w's comes back as it is; any other names the database and the mend.
func Export(ctx context.Context, path string, w io.Writer, opts *CopyOptions) (Copy, error) {
	src, err := openExport(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.db.Close()
	return src.export(ctx, w, opts.withDefaults())
}

// ExportFile is an Export to the file target, gzip where its name ends in .gz. The file is for its owner only, and appears when it is whole, or
// not at all.
func ExportFile(ctx context.Context, path, target string, opts *CopyOptions) (Copy, error) {
	src, err := openExport(ctx, path)
	if err != nil {
		return Copy{}, err
	}
	defer src.db.Close()
	full := opts.withDefaults()
	d, err := newDraft(target, full.Force, src.path, src.named)
	if err != nil {
		return Copy{}, err
	}
	defer d.discard()
	var c Copy
	if strings.HasSuffix(d.target, ".gz") {
		c, err = src.exportZipped(ctx, d, full)
	} else {
		c, err = src.export(ctx, d, full)
	}
	if err != nil {
		return Copy{}, err
	}
	c.Path = d.target
	c.Bytes, err = d.publish()
	return c, err
}

func (src *source) exportZipped(ctx context.Context, w io.Writer, opts CopyOptions) (Copy, error) {
	zipped := gzip.NewWriter(w)
	c, err := src.export(ctx, zipped, opts)
	if err != nil {
		return c, err
	}
	return c, zipped.Close()
}

// openExport opens a database of which every table is known.
func openExport(ctx context.Context, path string) (*source, error) {
	src, err := openSource(ctx, path)
	if err != nil {
		return nil, err
	}
	current := &database{path: src.path, reader: src.db}
	if err := current.checkCurrent(ctx); err != nil {
		return nil, errors.Join(err, src.db.Close())
	}
	return src, nil
}

func (src *source) export(ctx context.Context, w io.Writer, opts CopyOptions) (Copy, error) {
	at := opts.Now().UTC()
	tx, err := src.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Copy{}, explain(src.path, err)
	}
	defer tx.Rollback() // there is nothing to commit
	buffer := bufio.NewWriterSize(w, 1<<16)
	e := &exporter{tx: tx, encoder: json.NewEncoder(buffer), progress: opts.Progress}
	e.encoder.SetEscapeHTML(false) // for the people who read chat in it
	if err := e.writeAll(ctx, at); err != nil {
		return Copy{}, explain(src.path, err)
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
	rows, err := e.tx.QueryContext(ctx, "SELECT "+kind.columns+" FROM "+kind.name+" ORDER BY "+kind.order)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if ctx.Err() != nil {
			return ctx.Err() // rows notice it only some time later
		}
		l := kind.empty(head{kind.name})
		if err := l.scan(rows); err != nil {
			return fmt.Errorf("row %d of table %s can't be read: %w", e.rows+1, kind.name, err)
		}
		keepExact(l)
		if err := e.encoder.Encode(l); err != nil {
			return err
		}
		e.rows++
		e.progress.rows.Store(e.rows)
	}
	return rows.Err()
}
