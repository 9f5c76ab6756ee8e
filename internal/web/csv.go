package web

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
)

const (
	csvPage = 1000             // records in memory at once
	csvTime = 30 * time.Second // time for a reader to receive a page
	// csvWait is how long an export waits for its turn. It is long because a browser does not retry
	// a download.
	csvWait = 20 * time.Second
)

// exportCSV answers with a CSV file that is never held in memory as a whole. page returns the next
// rows, or none after the last. The export stops early if the reader leaves. Each page counts as a
// long read. An error after the first rows can no longer be reported as text. exportCSV then cuts
// the connection, so that nobody mistakes a part of the file for the whole file.
func (h *archive) exportCSV(
	w http.ResponseWriter, r *http.Request, who access.Caller, name string, columns []string, page func() ([][]string, error),
) error {
	rows, err := readLong(r.Context(), h.reads, who, csvWait, page)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="chatguard-%s-%s.csv"`, name, h.users.guard.Now().UTC().Format(time.DateOnly)))
	connection := http.NewResponseController(w)
	var chunk bytes.Buffer
	out := csv.NewWriter(&chunk)
	out.Write(columns) // writing to a buffer never fails
	for {
		for _, row := range rows {
			out.Write(row)
		}
		out.Flush()
		// The server's own deadline is meant for short answers. A connection without deadlines
		// ignores this call.
		connection.SetWriteDeadline(time.Now().Add(csvTime))
		if _, err = w.Write(chunk.Bytes()); err == nil {
			err = connection.Flush()
		}
		if err != nil || len(rows) == 0 {
			return nil // the reader has left or has received everything
		}
		chunk.Reset()
		if rows, err = readLong(r.Context(), h.reads, who, csvWait, page); err != nil {
			h.log.Error("an export has ended early", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

// format is the format of an answer.
type format string

const (
	formatJSON format = "json" // the default
	formatCSV  format = "csv"
)

// formats are all formats.
var formats = []format{formatJSON, formatCSV}

// formula matches the start of a formula in a cell, for any separator. A cell starts at the start
// of the text, and after anything that other programs treat as the end of a cell or row. Spaces and
// quotes may precede the formula. Some spreadsheets also accept full-width signs.
var formula = regexp.MustCompile(`(^|[;\t\r\n])([\v\f\pZ"]*[=+\-@＝＋－＠])`)

// escapeCell puts an apostrophe before each formula in text, so that spreadsheets don't run it,
// whichever separator they expect.
func escapeCell(text string) string {
	text = formula.ReplaceAllString(text, "$1'$2")
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

// formatTime formats a time as RFC 3339, and the zero time as an empty cell.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
