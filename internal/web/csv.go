package web

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const (
	csvPage = 1000             // records that are held at once
	csvTime = 30 * time.Second // for a reader to take so many
	csvWait = 20 * time.Second // for their turn: a browser that downloads doesn't ask twice
)

// exportCSV answers with a file of rows that is never held as a whole: page returns the next rows, none after the last. It ends early when the reader
// goes. Each page takes a turn among the long reads. Once rows are on their way, trouble can't be told any more in words: then the connection breaks, so that nobody takes a part for the whole.
func (s *Server) exportCSV(
	w http.ResponseWriter, r *http.Request, who caller, name string, columns []string, page func() ([][]string, error),
) error {
	rows, err := readLong(r.Context(), s.reads, who, csvWait, page)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="chatguard-%s-%s.csv"`, name, s.opts.Now().UTC().Format(time.DateOnly)))
	connection := http.NewResponseController(w)
	var chunk bytes.Buffer
	out := csv.NewWriter(&chunk)
	out.Write(columns) // a buffer takes everything
	for {
		for _, row := range rows {
			out.Write(row)
		}
		out.Flush()
		connection.SetWriteDeadline(time.Now().Add(csvTime)) // the server's own is for short answers; without one there is none to move
		if _, err = w.Write(chunk.Bytes()); err == nil {
			err = connection.Flush()
		}
		if err != nil || len(rows) == 0 {
			return nil // the reader is gone, or has everything
		}
		chunk.Reset()
		if rows, err = readLong(r.Context(), s.reads, who, csvWait, page); err != nil {
			s.opts.Log.Error("an export has ended early", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

// formula finds where a cell would begin with a formula, for any separator: at the beginning of the text, and behind what others than we take for
// the end of a cell or a row. Spaces and quotes may stand between. Some spreadsheets take wide signs, too.
var formula = regexp.MustCompile(`(^|[;\t\r\n])([\v\f\pZ"]*[=+\-@＝＋－＠])`)

// cell returns a text that a spreadsheet takes for text and not for formulas, whichever separator it expects: an apostrophe stands before each.
func cell(text string) string {
	text = formula.ReplaceAllString(text, "$1'$2")
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

// timeCell is a time as RFC 3339 has it, and nothing for none.
func timeCell(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
