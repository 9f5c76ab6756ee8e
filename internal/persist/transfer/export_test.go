package transfer

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/roles"
)

// frozen are options with which exports of the same database are identical.
var frozen = &Options{Now: at(start)}

// fillLines stores lines of any kind, in any order, into the database at path, which need not exist
// yet.
func fillLines(t rapid.TB, path string, lines []line) {
	t.Helper()
	err := persist.Schema.Own(ctx, path, func(db *sqlite.Owned) error {
		return db.Write(ctx, func(tx *sql.Tx) error {
			for _, l := range lines {
				kind := kindOf(l)
				insertion := kind.insertion()
				if err := insertion.Write(ctx, tx, 1, func(args []any, _ int) []any { return kind.values(args, l) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
	must(t, err)
}

// newDatabase returns the path of a new database with these lines.
func newDatabase(t testing.TB, lines []line) (path string) {
	t.Helper()
	path = databasePath(t)
	fillLines(t, path, lines)
	return path
}

func kindOf(l line) *lineKind {
	for i, kind := range lineKinds {
		if fmt.Sprintf("%T", kind.empty()) == fmt.Sprintf("%T", l) {
			return &lineKinds[i]
		}
	}
	panic(fmt.Sprintf("no kind has lines of type %T", l))
}

// dump returns the contents of a database except its sign-ins, as SQLite formats each value.
func dump(t rapid.TB, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	var all strings.Builder
	for _, kind := range lineKinds {
		var quoted []string
		for _, c := range kind.columns {
			quoted = append(quoted, "typeof("+c.name+") || ' ' || ifnull(hex("+c.name+"), '')")
		}
		rows, err := db.Query("SELECT " + strings.Join(quoted, " || ', ' || ") + " FROM " + kind.name + " ORDER BY " + kind.columnNames(kind.key))
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var row string
			must(t, rows.Scan(&row))
			fmt.Fprintln(&all, kind.name, row)
		}
		must(t, rows.Err())
	}
	return all.String()
}

func mustExport(t rapid.TB, path string) []byte {
	t.Helper()
	var out bytes.Buffer
	_, err := Export(ctx, path, &out, frozen)
	must(t, err)
	return out.Bytes()
}

// spentData returns state as the Guard writes it.
func spentData(t rapid.TB) [][]byte {
	t.Helper()
	g, err := chatguard.New(persisttest.Policy(), nil)
	must(t, err)
	for range 4 { // the fourth is throttled: a strike
		_, err := g.Check(ctx, persisttest.Message("7", start))
		must(t, err)
	}
	var data [][]byte
	for row := range g.State().Dirty().Rows() {
		if row.Limit == "burst" || row.Limit == "daily" { // strikes are stored under another name
			data = append(data, row.Data)
		}
	}
	return data
}

// oneOfEach returns a line of each kind, and a second one if a kind has two forms.
func oneOfEach(t rapid.TB) []line {
	nano := start.Add(time.Nanosecond)
	waits := journal.Entry{
		ID: 41, At: nano, ChannelID: "c1", UserID: "7", Login: "anna", DisplayName: "Anna", MessageID: "m1", Text: "<b>hi</b> & \u2028bye", Limit: "burst",
		MaySpeakAt: journal.OptionalTime{Time: nano}, ResetAt: nano, Strikes: 2, Penalty: chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: 30 * time.Second}, Cost: 3,
		Offence: journal.Offence{Late: 5, Counted: 1, Series: 4, NewStrike: true, Low: true},
		Outcome: journal.Outcome{Entry: 41, At: nano, Action: chatguard.ActionTimeout, Result: journal.Failed, Reason: "no\xffUTF-8"},
	}
	never := waits
	never.ID, never.Outcome.Entry, never.MaySpeakAt, never.ResetAt, never.Outcome.Result = 42, 42, journal.OptionalTime{}, time.Time{}, journal.Pending
	policyJSON, err := json.Marshal(persisttest.Policy())
	must(t, err)
	spoken := journal.TimelineMessage{At: nano, ChannelID: "c1", UserID: "7", Login: "anna", Roles: chatguard.Roles{roles.VIP, roles.Subscriber}, Cost: 2, MessageKinds: roles.Kinds{roles.Bits, roles.Highlighted}}
	return []line{
		&stateLine{ChannelID: "", UserID: "7", Limit: "burst", Data: spentData(t)[0]},
		&stateLine{ChannelID: "c1", UserID: "", Limit: "", Data: spentData(t)[0]},
		&entryLine{Entry: waits}, &entryLine{Entry: never},
		&revisionLine{Revision: journal.Revision{ChannelID: "c1", Number: 1, Author: "anna", At: nano}, Policy: policyJSON, Changes: []byte(`[{"key":"a","from":9007199254740993,"to":"\u003c"}]`)},
		&revisionLine{Revision: journal.Revision{ChannelID: "c1", Number: 2, Author: "berta", At: nano}, Policy: []byte("null"), Changes: []byte("null")},
		&auditLine{Audit: journal.Audit{ID: 8, At: nano, Author: "anna", Action: journal.UserGranted, ChannelID: "c1", UserID: "7"}, Detail: []byte(`{"messages":9007199254740993}`)},
		&timelineLine{TimelineMessage: spoken, Number: 1}, &timelineLine{TimelineMessage: spoken, Number: 2, Unspent: 1, DisplayName: "長い", Low: true},
		&channelLine{ID: "c1", Login: "gardenhour"},
		&settingLine{ChannelID: "c1", Name: "slow", Value: "30"},
		&personLine{ChannelID: "c1", Person: journal.Person{UserID: "7", Login: "anna", DisplayName: "長い", Roles: spoken.Roles, LastSeen: nano}},
		&quarterLine{ChannelID: "c1", UserID: "7", At: start, Spent: 4},
		&rolledUpLine{ChannelID: "c1", At: nano, Number: 2},
		&streamLine{Stream: journal.Stream{ChannelID: "c1", Start: start, Seen: nano, Ended: true}},
		&noteLine{Note: journal.Note{ID: 3, At: nano, ChannelID: "c1", UserID: "7", Author: "berta", Text: "Friendly.\nLikes caps."}},
	}
}

// hostileTexts generates both texts that Twitch never sends and texts that it does.
func hostileTexts() *rapid.Generator[string] {
	anyBytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
	known := rapid.SampledFrom([]string{"", "\x00", "a\x00b", "\xff\xfe", "\xed\xa0\x80", "\u2028", "\ufffd", "\r\n", `"\`, "</script>", "\u202e", "7", "007"})
	return rapid.OneOf(rapid.String(), anyBytes, known)
}

func hostileLines(t *rapid.T, data [][]byte) (lines []line) {
	// the longest ID that the Guard accepts
	id := rapid.Map(hostileTexts(), func(s string) string { return s[:min(len(s), 200)] })
	// names are stored in this form
	name := rapid.Map(hostileTexts(), func(s string) string { return hostile.ClipName(s, journal.MaxName) })
	text, times := rapid.Map(hostileTexts(), func(s string) string { return s[:min(len(s), 255)] }), rapid.Map(rapid.Int64(), statement.TimeAt)
	optional := rapid.OneOf(rapid.Just(time.Time{}), times)
	user := rapid.Map(text, func(s string) string { return "u" + s })
	count := rapid.IntRange(0, 3)
	for n := range count.Draw(t, "states") {
		lines = append(lines, &stateLine{ChannelID: id.Draw(t, "channel"), UserID: id.Draw(t, "user"), Limit: fmt.Sprint(n, text.Draw(t, "limit")), Data: rapid.SampledFrom(data).Draw(t, "data")})
	}
	for n := range count.Draw(t, "entries") {
		e := journal.Entry{
			ID: chatguard.EntryID(n) + rapid.SampledFrom([]chatguard.EntryID{1, maxID - 3}).Draw(t, "id"), At: times.Draw(t, "at"), ChannelID: text.Draw(t, "channel"), UserID: user.Draw(t, "user"),
			Login: name.Draw(t, "login"), DisplayName: name.Draw(t, "name"), MessageID: text.Draw(t, "message"), Text: text.Draw(t, "text"), Limit: text.Draw(t, "limit"),
			MaySpeakAt: journal.OptionalTime{Time: optional.Draw(t, "may")}, ResetAt: optional.Draw(t, "reset"), Strikes: rapid.Int().Draw(t, "strikes"), Cost: rapid.IntMin(1).Draw(t, "cost"),
		}
		e.Outcome = journal.Outcome{Entry: e.ID, At: times.Draw(t, "outcome"), Result: rapid.SampledFrom(journal.Results).Draw(t, "result"), Reason: text.Draw(t, "reason")}
		lines = append(lines, &entryLine{Entry: e})
	}
	for n := range count.Draw(t, "audits") {
		detail, err := json.Marshal(map[string]any{text.Draw(t, "key"): text.Draw(t, "value")})
		must(t, err)
		a := journal.Audit{ID: int64(n) + 1, At: times.Draw(t, "at"), Author: text.Draw(t, "author"), Action: journal.AuditAction("a" + text.Draw(t, "action")), ChannelID: text.Draw(t, "channel"), UserID: text.Draw(t, "user")}
		lines = append(lines, &auditLine{Audit: a, Detail: detail})
	}
	for n := range count.Draw(t, "revisions") {
		r := journal.Revision{ChannelID: text.Draw(t, "channel"), Number: n + 1, Author: text.Draw(t, "author"), At: times.Draw(t, "at")}
		lines = append(lines, &revisionLine{Revision: r, Policy: []byte("null"), Changes: []byte("[]")})
	}
	for n := range count.Draw(t, "spoken") {
		s := journal.TimelineMessage{At: times.Draw(t, "at"), ChannelID: text.Draw(t, "channel"), UserID: user.Draw(t, "user"), Login: name.Draw(t, "login"), Roles: chatguard.Roles{roles.Broadcaster}, Cost: 1}
		lines = append(lines, &timelineLine{TimelineMessage: s, Number: int64(n), Unspent: rapid.IntRange(0, 1).Draw(t, "unspent"), DisplayName: name.Draw(t, "display name")})
	}
	for n := range count.Draw(t, "channels") {
		lines = append(lines, &channelLine{ID: fmt.Sprint(n, id.Draw(t, "id")), Login: "u" + name.Draw(t, "login")})
	}
	for n := range count.Draw(t, "settings") {
		lines = append(lines, &settingLine{ChannelID: text.Draw(t, "channel"), Name: fmt.Sprint(n, text.Draw(t, "name")), Value: "v" + text.Draw(t, "value")})
	}
	for n := range count.Draw(t, "people") {
		p := journal.Person{UserID: fmt.Sprint(n, id.Draw(t, "user")), Login: name.Draw(t, "login"), DisplayName: name.Draw(t, "display name"), Roles: chatguard.Roles{roles.VIP}, LastSeen: times.Draw(t, "seen")}
		lines = append(lines, &personLine{ChannelID: text.Draw(t, "channel"), Person: p})
	}
	for n := range count.Draw(t, "quarters") {
		at := statement.TimeAt(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "at")).Truncate(persist.Quarter)
		lines = append(lines, &quarterLine{ChannelID: text.Draw(t, "channel"), UserID: fmt.Sprint(n, id.Draw(t, "user")), At: at, Spent: rapid.Int64Range(1, maxID).Draw(t, "spent")})
	}
	for n := range count.Draw(t, "rolled up") {
		lines = append(lines, &rolledUpLine{ChannelID: fmt.Sprint(n, id.Draw(t, "channel")), At: times.Draw(t, "at"), Number: int64(n)})
	}
	for n := range count.Draw(t, "streams") {
		at := times.Draw(t, "start")
		lines = append(lines, &streamLine{Stream: journal.Stream{ChannelID: fmt.Sprint(n, id.Draw(t, "channel")), Start: at, Seen: at, Ended: n == 1}})
	}
	for n := range count.Draw(t, "notes") {
		note := journal.Note{ID: int64(n) + 1, At: times.Draw(t, "at"), ChannelID: text.Draw(t, "channel"), UserID: user.Draw(t, "user"), Author: "a" + text.Draw(t, "author"), Text: "t" + text.Draw(t, "text")}
		lines = append(lines, &noteLine{Note: note})
	}
	return lines
}

// checkRoundTrip exports a database with the lines and imports the export into another database. It
// fails unless both have the same contents.
func checkRoundTrip(t rapid.TB, from, to string, lines []line) {
	t.Helper()
	fillLines(t, from, lines)
	there := mustExport(t, from)
	imported, err := Import(ctx, to, bytes.NewReader(there), "there", frozen)
	if err != nil {
		t.Fatalf("%v\n%s", err, there)
	}
	if imported.Rows != int64(len(lines)) || !imported.At.Equal(start) || imported.Kept != "" {
		t.Errorf("imported %+v of %d rows", imported, len(lines))
	}
	if got, want := dump(t, to), dump(t, from); got != want {
		t.Errorf("imported\n%swant\n%s", got, want)
	}
	if back := mustExport(t, to); !bytes.Equal(back, there) {
		t.Errorf("exported again\n%swant\n%s", back, there)
	}
}

func TestExport_RoundTrip(t *testing.T) {
	t.Parallel()
	checkRoundTrip(t, databasePath(t), databasePath(t), nil)
	checkRoundTrip(t, databasePath(t), databasePath(t), oneOfEach(t))
}

func TestExport_HostileRoundTrip(t *testing.T) {
	t.Parallel()
	from, to, data := databasePath(t), databasePath(t), spentData(t)
	fillLines(t, from, nil)
	empty, err := os.ReadFile(from) // creating a database takes longest
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		for _, path := range []string{from, to} {
			must(t, errors.Join(os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm"), os.WriteFile(path, empty, 0o600)))
		}
		checkRoundTrip(t, from, to, hostileLines(t, data))
	})
}

// Sign-ins and webhooks have secrets.
func TestExport_EveryTableWithoutSecrets(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, nil)
	src, err := persist.Schema.OpenSnapshot(ctx, path)
	must(t, err)
	defer src.Close()
	rows, err := src.DB.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('token', 'webhook', 'webhook_delivery')")
	must(t, err)
	defer rows.Close()
	var tables, kinds []string
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	must(t, rows.Err())
	for _, kind := range lineKinds {
		kinds = append(kinds, kind.name)
	}
	slices.Sort(tables)
	slices.Sort(kinds)
	if !slices.Equal(tables, kinds) {
		t.Errorf("exported are %q, and there are %q", kinds, tables)
	}
}

func TestExport_MatchesDocumentation(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, []line{
		&entryLine{Entry: journal.Entry{ID: 1, At: start, UserID: "7", Text: "a\xffb <3", Cost: 1, Outcome: journal.Outcome{Entry: 1, At: start, Result: journal.Done}}},
		&revisionLine{Revision: journal.Revision{ChannelID: "c1", Number: 1, Author: "anna", At: start}, Policy: []byte("null"), Changes: []byte("null")},
		&channelLine{ID: "c1", Login: "gardenhour"},
		&settingLine{ChannelID: "c1", Name: "paused", Value: "yes"},
		&personLine{ChannelID: "c1", Person: journal.Person{UserID: "7", Login: "anna", Roles: chatguard.Roles{roles.VIP}, LastSeen: start}},
		&quarterLine{ChannelID: "c1", UserID: "7", At: start, Spent: 4},
		&rolledUpLine{ChannelID: "c1", At: start, Number: 2},
		&streamLine{Stream: journal.Stream{ChannelID: "c1", Start: start, Seen: start.Add(time.Hour), Ended: true}},
	})
	want := `{"kind":"chatguard-export","format":5,"at":"2026-03-14T20:00:00Z"}
{"kind":"journal","id":1,"at":"2026-03-14T20:00:00Z","channel":"","user_id":"7","login":"","display_name":"","message_id":"","text":"a\ufffdb <3","limit":"","may_speak_at":null,"reset_at":"0001-01-01T00:00:00Z","strikes":0,"penalty":"none","cost":1,"offence":{"late":0,"counted":0,"series":0,"new_strike":false},"outcome":{"entry":1,"at":"2026-03-14T20:00:00Z","action":"none","result":"done","reason":""},"bytes":{"text":"Yf9iIDwz"}}
{"kind":"revision","channel":"c1","number":1,"author":"anna","at":"2026-03-14T20:00:00Z","policy":null,"changes":null}
{"kind":"channel","id":"c1","login":"gardenhour"}
{"kind":"setting","channel":"c1","name":"paused","value":"yes"}
{"kind":"person","channel":"c1","user_id":"7","login":"anna","roles":["vip"],"last_seen":"2026-03-14T20:00:00Z"}
{"kind":"quarter_hour","channel":"c1","user_id":"7","at":"2026-03-14T20:00:00Z","spent":4}
{"kind":"rolled_up","channel":"c1","at":"2026-03-14T20:00:00Z","number":2}
{"kind":"stream","channel":"c1","start":"2026-03-14T20:00:00Z","seen":"2026-03-14T21:00:00Z","ended":true}
{"kind":"end","lines":10}
`
	if got := string(mustExport(t, path)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestExportFile(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, oneOfEach(t))
	want := mustExport(t, path)
	for name, read := range map[string]func(io.Reader) (io.Reader, error){
		"plain.jsonl":     func(r io.Reader) (io.Reader, error) { return r, nil },
		"zipped.jsonl.gz": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		target := filepath.Join(t.TempDir(), name)
		made, err := ExportFile(ctx, path, target, frozen)
		must(t, err)
		data, err := os.ReadFile(target)
		must(t, err)
		if made.Path != target || made.Bytes != int64(len(data)) || made.Rows != int64(len(oneOfEach(t))) || !made.At.Equal(start) {
			t.Errorf("%s: %+v", name, made)
		}
		plain, err := read(bytes.NewReader(data))
		must(t, err)
		if got, err := io.ReadAll(plain); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s holds\n%s%v", name, got, err)
		}
		assertAlone(t, target)

		into := databasePath(t)
		_, err = Import(ctx, into, bytes.NewReader(data), name, nil)
		must(t, err)
		if !bytes.Equal(mustExport(t, into), want) {
			t.Errorf("%s: the import isn't what was exported", name)
		}
	}
}

// assertAlone fails unless the file is private to its owner and alone in its folder.
func assertAlone(t *testing.T, file string) {
	t.Helper()
	info, err := os.Stat(file)
	must(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("%s has mode %v", file, mode)
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("beside it: %v", entries)
	}
}

// stopsAfter is a writer that stops the export at the first write.
type stopsAfter struct{ stop func() }

func (s stopsAfter) Write(data []byte) (int, error) {
	s.stop()
	return len(data), nil
}

func TestExport_Stopped(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, manyLines(t, 5000))
	stopped, stop := context.WithCancel(ctx)
	if _, err := Export(stopped, path, stopsAfter{stop}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	target := filepath.Join(t.TempDir(), "export.jsonl")
	if _, err := ExportFile(stopped, path, target, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	persisttest.AssertEmpty(t, filepath.Dir(target))
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestExport_FailingWriter(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, oneOfEach(t))
	want := errors.New("the other end is gone")
	if _, err := Export(ctx, path, failingWriter{want}, nil); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// An export during which the log is deleted may lack what was in it.
func TestExport_LogDeleted(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, oneOfEach(t))
	_, err := Export(ctx, path, io.Discard, &Options{Now: func() time.Time {
		must(t, os.Remove(path+"-wal"))
		return persisttest.Start
	}})
	wantError(t, err, path, "was deleted or replaced while it was read: run this again")
}

func TestExport_OlderVersionRefused(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, nil)
	persisttest.Alter(t, path, "DROP TABLE webhook; DROP TABLE webhook_delivery; ALTER TABLE timeline DROP COLUMN kinds; ALTER TABLE timeline DROP COLUMN print; ALTER TABLE journal DROP COLUMN repeat_times; ALTER TABLE journal DROP COLUMN repeat_people; ALTER TABLE journal DROP COLUMN repeat_window; PRAGMA user_version = 10")
	_, err := Export(ctx, path, io.Discard, nil)
	wantError(t, err, path, "older version", "chatguard run")
}

func compress(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.WriteString(w, text)
	must(t, errors.Join(err, w.Close()))
	return out.String()
}

// compressDamaged returns compressed text with damage in the middle.
func compressDamaged(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.WriteString(w, text[:len(text)/2])
	must(t, errors.Join(err, w.Flush()))
	return out.String() + strings.Repeat("\xff", 100) // no block begins like this
}

// benchRows is how many rows a benchmark copies at a time.
const benchRows = 100_000

func BenchmarkExport(b *testing.B) {
	path := newDatabase(b, manyLines(b, benchRows))
	for b.Loop() {
		_, err := Export(ctx, path, io.Discard, nil)
		must(b, err)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// An export leaves out what repeated texts have used: their hashes mean nothing without the key of
// this installation.
func TestExport_WithoutTexts(t *testing.T) {
	data := spentData(t)[0]
	path := newDatabase(t, []line{
		&stateLine{ChannelID: "1", UserID: "7", Limit: "burst", Data: data}, &stateLine{ChannelID: "1", UserID: "\x1fuet12.AAAAAAAAAAAAAAAAAAAAAA", Limit: "burst", Data: data},
	})
	if out := string(mustExport(t, path)); strings.Count(out, `"kind":"state"`) != 1 || !strings.Contains(out, `"user_id":"7"`) {
		t.Errorf("the export is %s", out)
	}
}
