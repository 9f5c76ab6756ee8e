package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/turntest"
)

// manyLines returns more lines than one insertion takes.
func manyLines(t testing.TB, n int) []line {
	data := spentData(t)[0]
	lines := make([]line, n)
	for i := range lines {
		lines[i] = &stateLine{ChannelID: "c1", UserID: fmt.Sprint(i), Limit: "burst", Data: data}
	}
	return lines
}

// exportOf returns an export of these lines.
func exportOf(t testing.TB, lines []line) []byte {
	t.Helper()
	return mustExport(t, newDatabase(t, lines))
}

func TestImport_ContinuesOldDatabase(t *testing.T) {
	t.Parallel()
	path, to := newFilledDatabase(t), databasePath(t)
	s := open(t, path)
	g, stats := restoreGuard(t, s)
	last := stats.LastEntry + 1
	m := persisttest.Message("u", start)
	// nobody acts on this entry
	s.Observe(m, chatguard.Verdict{At: start, ChannelID: "c1", UserID: "u", Limit: "burst", EntryID: last, RetryAfter: time.Second})
	flushAndClose(t, s, g)
	fillLines(t, path, oneOfEach(t)[4:6]) // revisions 1 and 2 of c1

	_, err := Import(ctx, to, bytes.NewReader(mustExport(t, path)), "export", nil)
	must(t, err)
	again := open(t, to)
	copied, stats := restoreGuard(t, again)
	if stats.LastEntry != last || stats.Interrupted != 1 || stats.Unreadable != 0 {
		t.Errorf("restored %+v, want %d to be the last entry", stats, last)
	}
	persisttest.AssertSame(t, g, copied, "0", "1", "499", "new")
	if revisions, _, err := again.Revisions(ctx, "c1", 0, 50); err != nil || len(revisions) == 0 || revisions[0].Number != 2 {
		t.Errorf("the last revision isn't the second: %+v, %v", revisions, err)
	}
}

func TestImport_BadLinesRefused(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	good := string(exportOf(t, oneOfEach(t)))
	// lines has header, 2 state, 2 journal, 2 revision, 1 audit, 2 timeline, 1 channel, 1 setting,
	// 1 person, 1 quarter_hour, 1 rolled_up, 1 stream, end.
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	edit := func(n int, from, to string) string {
		t.Helper()
		edited := strings.Replace(lines[n-1], from, to, 1)
		if edited == lines[n-1] {
			t.Fatalf("line %d has no %s: %s", n, from, edited)
		}
		return strings.Join(lines[:n-1], "") + edited + strings.Join(lines[n:], "")
	}
	long := strings.Repeat("x", 3000)
	without := func(n int) string { return strings.Join(lines[:n-1], "") + strings.Join(lines[n:], "") }
	for name, step := range map[string]struct {
		export string
		parts  []string
	}{
		"empty":                  {"", []string{"there.jsonl is not a chatguard export (it is empty): name a file that `chatguard export` wrote"}},
		"something else":         {"hello\n", []string{"there.jsonl is not a chatguard export", "chatguard export"}},
		"another JSON":           {`{"at":1}`, []string{"there.jsonl is not a chatguard export"}},
		"no header":              {without(1), []string{"there.jsonl is not a chatguard export"}},
		"newer":                  {edit(1, `"format":5`, `"format":6`), []string{"newer chatguard", "format 6", "update chatguard"}},
		"no JSON":                {edit(3, `"`, ``), []string{"there.jsonl:3: invalid character"}},
		"two values":             {edit(3, "}\n", "}{}\n"), []string{"there.jsonl:3: "}},
		"an empty line":          {edit(3, "\n", "\n\n"), []string{"there.jsonl:4: "}},
		"unknown kind":           {edit(3, "state", "stale"), []string{`there.jsonl:3: unknown kind "stale"`}},
		"unknown field":          {edit(4, `"text"`, `"txet"`), []string{`there.jsonl:4: unknown field "txet"`}},
		"wrong type":             {edit(4, `"strikes":2`, `"strikes":"2"`), []string{"there.jsonl:4: strikes: string is not allowed here"}},
		"unreadable state":       {edit(2, `"data":"`, `"data":"AAAA`), []string{"there.jsonl:2: data can't be read", "start fresh"}},
		"no state":               {edit(2, `"data":"`, `"bytes":{},"data":"","limit":"`), []string{"there.jsonl:2: data can't be read"}},
		"unknown penalty":        {edit(4, "timeout 30s", "Exile"), []string{"there.jsonl:4: ", "Exile"}},
		"unknown result":         {edit(4, "failed", "fallen"), []string{"there.jsonl:4: outcome: unknown result"}},
		"unknown role":           {edit(9, "vip", "v ap"), []string{"there.jsonl:9: ", "v ap"}},
		"no entry ID":            {edit(4, `"id":41`, `"id":0`), []string{"there.jsonl:4: id: "}},
		"another entry's":        {edit(4, `"entry":41`, `"entry":42`), []string{"there.jsonl:4: outcome: "}},
		"an entry ID too high":   {edit(4, `"id":41`, `"id":9007199254740992`), []string{"there.jsonl:4: id: want a whole number from 1 to 9007199254740991"}},
		"a revision too high":    {edit(6, `"number":1`, `"number":2147483648`), []string{"there.jsonl:6: number: want a whole number from 1 to 2147483647"}},
		"an audit ID too high":   {edit(8, `"id":8`, `"id":9007199254740992`), []string{"there.jsonl:8: id: want a whole number from 1 to 9007199254740991"}},
		"a number too high":      {edit(9, `"number":1`, `"number":9007199254740992`), []string{"there.jsonl:9: number: want a whole number up to 9007199254740991"}},
		"no user":                {edit(4, `"user_id":"7"`, `"user_id":""`), []string{"there.jsonl:4: user_id is missing"}},
		"no cost":                {edit(9, `"cost":2`, `"cost":0`), []string{"there.jsonl:9: cost: "}},
		"more than its cost":     {edit(10, `"unspent":1`, `"unspent":3`), []string{"there.jsonl:10: unspent: want a whole number up to the cost"}},
		"a time too late":        {edit(4, `"at":"2026`, `"at":"2926`), []string{"there.jsonl:4: at: want a time from 1678 to 2262"}},
		"a time with a typo":     {edit(4, `"at":"2026`, `"at":"20x6`), []string{`there.jsonl:4: at: "20x6-03-14T20:00:00.000000001Z" is not a time (want RFC 3339, such as 2026-03-14T20:00:00Z) (nothing`}},
		"a typo in another time": {edit(4, `"reset_at":"2026`, `"reset_at":"20x6`), []string{`there.jsonl:4: reset_at: "20x6-`, "is not a time (want RFC 3339"}},
		"an hour too late":       {edit(8, "T20:", "T25:"), []string{`there.jsonl:8: at: "2026-03-14T25:00:00.000000001Z" is not a time`}},
		"a number for a time":    {edit(8, `"at":"2026-03-14T20:00:00.000000001Z"`, `"at": 7`), []string{"there.jsonl:8: at: 7 is not a time (want RFC 3339"}},
		"a time in odd letters":  {edit(8, `"at":"2026`, `"AT":"20x6`), []string{"there.jsonl:8: one of its times is not a time"}},
		"controls in a time":     {edit(4, `"at":"2026`, "\"at\":\"\x7f\u009b2J\u202e2026"), []string{`there.jsonl:4: at: "\x7f\u009b2J\u202e2026-`, "is not a time"}},
		"controls for a time":    {edit(8, `"at":"2026-03-14T20:00:00.000000001Z"`, "\"at\": [\"\u009b2J\"]"), []string{`there.jsonl:8: at: [\"\u009b2J\"] is not a time`}},
		"controls in a login":    {edit(4, `"login":"anna"`, `"login":"an\u001b[2Jna"`), []string{"there.jsonl:4: login has a line break, another control character"}},
		"controls in a name":     {edit(4, `"display_name":"Anna"`, `"display_name":"An\u009b2Jna"`), []string{"there.jsonl:4: display_name has a line break, another control"}},
		"controls of a writer":   {edit(9, `"login":"anna"`, `"login":"an\nna"`), []string{"there.jsonl:9: login has a line break, another control"}},
		"controls of a channel":  {edit(11, `"login":"`, `"login":"\u007f`), []string{"there.jsonl:11: login has a line break, another control"}},
		"controls of a person":   {edit(13, `"login":"`, `"login":"\r`), []string{"there.jsonl:13: login has a line break, another control"}},
		"a long channel ID":      {edit(2, `"channel":"`, `"channel":"`+long), []string{"there.jsonl:2: "}},
		"a long user ID":         {edit(4, `"user_id":"`, `"user_id":"`+long), []string{"there.jsonl:4: user_id has 3001 bytes, and at most 256 are allowed"}},
		"a long message ID":      {edit(4, `"message_id":"`, `"message_id":"`+long), []string{"there.jsonl:4: message_id has 3002 bytes, and at most 256 are allowed"}},
		"a long login":           {edit(10, `"login":"`, `"login":"`+long), []string{"there.jsonl:10: login has 3004 bytes, and at most 256 are allowed"}},
		"a long name":            {edit(4, `"display_name":"`, `"display_name":"`+long), []string{"there.jsonl:4: display_name has 3004 bytes, and at most 200 are allowed"}},
		"a long text":            {edit(4, `"text":"`, `"text":"`+long), []string{"there.jsonl:4: text has 30"}},
		"a long channel":         {edit(15, `"channel":"`, `"channel":"`+long), []string{"there.jsonl:15: channel has 30"}},
		"no times":               {strings.ReplaceAll(good, `"at":"2026-03-14T20:00:00.000000001Z",`, ``), []string{"there.jsonl:4: at: want a time"}},
		"no revision number":     {edit(6, `"number":1`, `"number":0`), []string{"there.jsonl:6: number: "}},
		"no policy":              {edit(7, `"policy":null,`, ``), []string{"there.jsonl:7: policy is missing"}},
		"an unreadable policy":   {edit(7, `"policy":null`, `"policy":{"mode":"war"}`), []string{"there.jsonl:7: policy or changes can't be read", "war"}},
		"unreadable changes":     {edit(7, `"changes":null`, `"changes":3`), []string{"there.jsonl:7: policy or changes can't be read"}},
		"a huge policy":          {edit(7, `"policy":null`, `"policy":{"mode":"`+strings.Repeat("x", maxPolicyJSON)+`"}`), []string{"there.jsonl:7: policy or changes is longer than 1048576 bytes"}},
		"huge changes":           {edit(7, `"changes":null`, `"changes":[{}`+strings.Repeat(",{}", maxPolicyJSON/3)+`]`), []string{"there.jsonl:7: policy or changes is longer than"}},
		"no action":              {edit(8, `"action":"grant"`, `"action":""`), []string{"there.jsonl:8: action is missing"}},
		"no detail":              {edit(8, `"detail"`, `"bytes":{},"x"`), []string{"there.jsonl:8: unknown field"}},
		"no channel login":       {edit(11, "gardenhour", ""), []string{"there.jsonl:11: login is missing"}},
		"no setting":             {edit(12, `"value":"30"`, `"value":""`), []string{"there.jsonl:12: value is missing"}},
		"no person":              {edit(13, `"user_id":"7"`, `"user_id":""`), []string{"there.jsonl:13: user_id is missing"}},
		"a typo in last_seen":    {edit(13, `"last_seen":"2026`, `"last_seen":"20x6`), []string{`there.jsonl:13: last_seen: "20x6-`, "is not a time"}},
		"no quarter of an hour":  {edit(14, "T20:00", "T20:01"), []string{"there.jsonl:14: at: want the beginning of a quarter of an hour"}},
		"a quarter of nothing":   {edit(14, `"spent":4`, `"spent":0`), []string{"there.jsonl:14: spent: want a whole number from 1"}},
		"a place too high":       {edit(15, `"number":2`, `"number":9007199254740992`), []string{"there.jsonl:15: number: want a whole number up to"}},
		"a stream ends early":    {edit(16, `"start":"2026`, `"start":"2027`), []string{"there.jsonl:16: seen: want a time that is not before the start"}},
		"a typo in seen":         {edit(16, `"seen":"2026`, `"seen":"20x6`), []string{`there.jsonl:16: seen: "20x6-`, "is not a time"}},
		"bytes of nothing":       {edit(4, `"outcome.reason"`, `"outcome.season"`), []string{"there.jsonl:4: bytes: "}},
		"a line twice":           {edit(3, "\n", "\n"+lines[2]), []string{"there.jsonl:4: it has the same key as the state line before it"}},
		"another order":          {edit(3, "\n", "\n"+lines[1]), []string{"there.jsonl:4: its key is below"}},
		"a broken line":          {edit(5, "}\n", "\n"), []string{"there.jsonl:5: the line is cut off", "correct the line"}},
		"cut off in a line":      {good[:len(good)/2], []string{"there.jsonl ends in line 6, without its end line: it was cut off, so export or copy it again"}},
		"cut off in a word":      {strings.Join(lines[:4], "") + `{"kind":"jou`, []string{"there.jsonl ends in line 5, without its end line: it was cut off"}},
		"cut off in the first":   {lines[0][:40], []string{"there.jsonl ends in line 1, without its end line: it was cut off"}},
		"cut off in the last":    {good[:len(good)-4], []string{"there.jsonl ends in line 18, without its end line: it was cut off"}},
		"wrong at its very end":  {strings.TrimSuffix(edit(18, "lines", "rows"), "\n"), []string{`there.jsonl:18: unknown field "rows"`}},
		"cut off after a line":   {without(len(lines)), []string{"there.jsonl ends after line 17, without its end line", "cut off"}},
		"a line is missing":      {without(3), []string{"there.jsonl:17: the export had 18 lines, but this file has 17"}},
		"more after the end":     {good + "\n" + lines[1], []string{"there.jsonl:19: there is text after the end line"}},
		"an unknown field last":  {edit(18, "lines", "rows"), []string{`there.jsonl:18: unknown field "rows"`}},
		"a line too long to be":  {edit(3, "\n", "\n"+strings.Repeat(" ", maxImportLine)+"\n"), []string{"there.jsonl:4: the line is longer than"}},
		"a plain line too long":  {edit(13, `"roles":[`, `"roles":[`+strings.Repeat(`"vip",`, maxPlainLine/6)), []string{"there.jsonl:13: the line is longer than 262144 bytes"}},
		"damaged compression":    {"\x1f\x8b" + good, []string{"there.jsonl: its compression is damaged"}},
		"UTF-16":                 {"\xff\xfe{\x00", []string{"there.jsonl: it is UTF-16 text: save it as UTF-8"}},
		"compression is cut off": {compress(t, good)[:300], []string{"there.jsonl ends in line ", "without its end line: it was cut off"}},
		"compression is damaged": {compressDamaged(t, good), []string{"there.jsonl can't be read ", "check the disk, or export again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := filepath.Join(t.TempDir(), "fresh.db")
			_, err := Import(ctx, fresh, strings.NewReader(step.export), "there.jsonl", nil)
			wantError(t, err, step.parts...)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if _, err := os.Stat(fresh + suffix); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("it left a database behind: fresh.db%s, %v", suffix, err)
				}
			}
			if testing.Short() {
				return
			}
			path := newDatabase(t, manyLines(t, 3))
			before := persisttest.Snapshot(t, path)
			_, err = Import(ctx, path, strings.NewReader(step.export), "there.jsonl", &Options{Replace: true})
			wantError(t, err, step.parts...)
			assertUntouched(t, path, before)
			if _, err := os.Stat(path + ".before-import"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it left a copy behind: %v", err)
			}
		})
	}
}

// assertUntouched fails unless a database and its log have the same bytes as before.
func assertUntouched(t *testing.T, path string, before [][]byte) {
	t.Helper()
	for i, after := range persisttest.Snapshot(t, path) {
		if !bytes.Equal(before[i], after) {
			t.Errorf("%s has changed", path)
		}
	}
}

func TestImport_NonEmptyDatabaseRefused(t *testing.T) {
	t.Parallel()
	export := exportOf(t, manyLines(t, 2))
	for _, l := range oneOfEach(t) {
		path := newDatabase(t, []line{l})
		before := persisttest.Snapshot(t, path)
		_, err := Import(ctx, path, bytes.NewReader(export), "there.jsonl", nil)
		wantError(t, err, "database "+path+" isn't empty", "table "+kindOf(l).name, "--replace")
		assertUntouched(t, path, before)
	}
}

func TestImport_OwnedDatabaseRefused(t *testing.T) {
	t.Parallel()
	export := exportOf(t, manyLines(t, 2))
	s := open(t, databasePath(t))
	var owned *sqlite.OwnedError
	if _, err := Import(ctx, s.Path(), bytes.NewReader(export), "there.jsonl", nil); !errors.As(err, &owned) {
		t.Errorf("got %v, want an OwnedError", err)
	}
}

func TestImport_ReplaceKeepsCopy(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := open(t, path)
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	must(t, s.Close())
	fillLines(t, path, oneOfEach(t))
	var kept []string
	for n := 1; n <= 3; n++ {
		before := dump(t, path)
		fillOther := exportOf(t, manyLines(t, n))
		imported, err := Import(ctx, path, bytes.NewReader(fillOther), "there.jsonl", &Options{Replace: true})
		must(t, err)
		if got := mustExport(t, path); imported.Rows != int64(n) || imported.Path != path || !bytes.Equal(got, fillOther) {
			t.Errorf("imported %+v:\n%s", imported, got)
		}
		if got := dump(t, imported.Kept); got != before {
			t.Errorf("kept is\n%swant\n%s", got, before)
		}
		kept = append(kept, strings.TrimPrefix(imported.Kept, path))
	}
	if got, want := fmt.Sprint(kept), "[.before-import .before-import.2 .before-import.3]"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	s = open(t, path)
	if _, who, err := s.Tokens.RedeemCode(ctx, code); err != nil || !reflect.DeepEqual(who, ada) {
		t.Errorf("the sign-in is gone: %v, %v", who, err)
	}
}

// longLines is an export with lines of 1 MiB. It fails the test if many lines are pending for
// insertion.
type longLines struct {
	t        *testing.T
	lines    int
	progress Progress
	next     int // 0 means the header
	rest     []byte
}

func (l *longLines) Read(data []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.next > l.lines+1 {
			return 0, io.EOF
		}
		if waiting := int64(l.next-1) - l.progress.Rows(); waiting > importBytes>>20+1 {
			l.t.Errorf("%d lines of 1 MiB wait", waiting)
		}
		l.rest = l.line()
		l.next++
	}
	n := copy(data, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *longLines) line() []byte {
	switch l.next {
	case 0:
		return []byte(`{"kind":"chatguard-export","format":1,"at":"2026-03-14T20:00:00Z"}` + "\n")
	case l.lines + 1:
		return fmt.Appendf(nil, `{"kind":"end","lines":%d}`+"\n", l.lines+2)
	}
	return fmt.Appendf(nil, `{"kind":"audit","id":%d,"at":"2026-03-14T20:00:00Z","author":"anna","action":"grant","channel":"1","user_id":"7","detail":"%s"}`+"\n", l.next, strings.Repeat("a", 1<<20))
}

func TestImport_FewLongLinesInMemory(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	lines := &longLines{t: t, lines: 30}
	imported, err := Import(ctx, databasePath(t), lines, "there.jsonl", &Options{Progress: &lines.progress})
	must(t, err)
	if imported.Rows != 30 {
		t.Errorf("imported %+v", imported)
	}
}

func TestImport_HighestNumbers(t *testing.T) {
	t.Parallel()
	lines := oneOfEach(t)
	lines[3].(*entryLine).ID, lines[3].(*entryLine).Outcome.Entry = maxID, maxID
	lines[5].(*revisionLine).Number = maxRevision
	lines[6].(*auditLine).ID = maxID
	lines[8].(*timelineLine).Number = maxID
	checkRoundTrip(t, databasePath(t), databasePath(t), lines)
}

// stopsReading is a reader that stops the import when it is read.
type stopsReading struct {
	io.Reader
	stop func()
}

func (s stopsReading) Read(data []byte) (int, error) {
	s.stop()
	return s.Reader.Read(data)
}

func TestImport_Stopped(t *testing.T) {
	t.Parallel()
	export := exportOf(t, manyLines(t, 10))
	path := newDatabase(t, manyLines(t, 3))
	before := persisttest.Snapshot(t, path)
	stopped, stop := context.WithCancel(ctx)
	_, err := Import(stopped, path, stopsReading{bytes.NewReader(export), stop}, "there.jsonl", &Options{Replace: true})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	assertUntouched(t, path, before)
}

// The rest of an interrupted line isn't reported as a broken one.
func TestImport_StoppedInALine(t *testing.T) {
	t.Parallel()
	export := exportOf(t, manyLines(t, 10))
	for _, length := range []int{20, len(export) / 2} {
		stopped := io.MultiReader(bytes.NewReader(export[:length]), iotest.ErrReader(context.Canceled))
		_, err := Import(ctx, databasePath(t), stopped, "there.jsonl", nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d bytes: %v", length, err)
		}
	}
}

// importUntilKilled imports the file beside the database, and prints a line when it has read the
// whole file. It doesn't end.
func importUntilKilled(ctx context.Context, path string) error {
	f, err := os.Open(path + ".jsonl")
	if err != nil {
		return err
	}
	_, err = Import(ctx, path, io.MultiReader(f, saysSo{}, os.Stdin), "there.jsonl", &Options{Replace: true})
	return err
}

// saysSo is a reader without data.
type saysSo struct{}

func (saysSo) Read([]byte) (int, error) {
	fmt.Println("read")
	return 0, io.EOF
}

func TestImport_KilledChangesNothing(t *testing.T) {
	t.Parallel()
	lines := manyLines(t, importBatch+2000)
	export := exportOf(t, lines)
	end := bytes.LastIndexByte(bytes.TrimSuffix(export, []byte("\n")), '\n') + 1
	for name, step := range map[string]struct {
		there []line
		read  int // bytes read of the export
	}{
		"before the first insertion": {oneOfEach(t), len(export) / 10},
		"in the middle":              {oneOfEach(t), len(export) * 9 / 10},
		"before the end line":        {oneOfEach(t), end},
		"into a new database":        {nil, end},
	} {
		t.Run(name, func(t *testing.T) {
			path, want := databasePath(t), ""
			if step.there != nil {
				fillLines(t, path, step.there)
				want = dump(t, path)
			}
			must(t, os.WriteFile(path+".jsonl", export[:step.read], 0o600))
			c := persisttest.StartChild(t, "import", path)
			c.Next(t)
			c.Kill(t)
			must(t, open(t, path).Close())
			if got := dump(t, path); got != want {
				t.Errorf("there is\n%.2000swant\n%s", got, want)
			}
			_, err := Import(ctx, path, bytes.NewReader(export), "there.jsonl", &Options{Replace: true})
			must(t, err)
			if !bytes.Equal(mustExport(t, path), export) {
				t.Error("the second import isn't what was exported")
			}
		})
	}
}

func BenchmarkImport(b *testing.B) {
	export := exportOf(b, manyLines(b, benchRows))
	for b.Loop() {
		_, err := Import(ctx, databasePath(b), bytes.NewReader(export), "there.jsonl", nil)
		must(b, err)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// From an export of version 2, people come only from its journal and its timeline. The timeline is
// rolled up later.
func TestImport_OlderExportPeople(t *testing.T) {
	t.Parallel()
	entry := oneOfEach(t)[2:3]
	older := bytes.Replace(exportOf(t, entry), []byte(`"format":5`), []byte(`"format":2`), 1)
	path := databasePath(t)
	_, err := Import(ctx, path, bytes.NewReader(older), "older", frozen)
	must(t, err)
	s := open(t, path)
	p, ok, err := s.Person(ctx, "c1", "7")
	if err != nil || !ok || p.Login != "anna" || p.DisplayName != "Anna" || !p.LastSeen.Equal(entry[0].(*entryLine).At) {
		t.Errorf("%+v, %v, %v", p, ok, err)
	}
}

// Names and notes are where a search finds them after the import.
func TestImport_NamesAndNotes(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	_, err := Import(ctx, path, bytes.NewReader(exportOf(t, oneOfEach(t))), "there.jsonl", frozen)
	must(t, err)
	s := open(t, path)
	people, err := s.FindPeople(ctx, "c1", "長", 9)
	if err != nil || len(people) != 1 || people[0].DisplayName != "長い" {
		t.Errorf("%+v, %v", people, err)
	}
	if notes := s.Notes("c1", "7"); len(notes) != 1 || notes[0].Author != "berta" || notes[0].Text != "Friendly.\nLikes caps." {
		t.Errorf("%+v", notes)
	}
}
