package simulate

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

func parseNothing(line string) (chatguard.Message, bool, error) {
	switch line {
	case "no time":
		return chatguard.Message{ChannelID: "1", User: chatguard.User{ID: "7"}}, true, nil
	case "mirrored":
		return chatguard.Message{}, false, ErrMirrored
	}
	if strings.HasPrefix(line, "?") {
		return chatguard.Message{}, false, errors.New("no such line")
	}
	return chatguard.Message{}, false, nil
}

// replay returns the summary of a record, the skipped lines and the verdicts.
func replay(t *testing.T, record io.Reader) (Summary, []string, []chatguard.Verdict) {
	t.Helper()
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	must(t, err)
	var skipped []string
	var verdicts []chatguard.Verdict
	r := NewReplay(ReplayOptions{
		Guard: guard, Parse: parseNothing,
		Skipped: func(name string, line int, why error) {
			skipped = append(skipped, fmt.Sprintf("%s:%d: %v", name, line, why))
		},
		Decided: func(v chatguard.Verdict) error { verdicts = append(verdicts, v); return nil },
	})
	must(t, r.Read(context.Background(), "chat", record))
	return r.Summary(), skipped, verdicts
}

func TestParse_Record(t *testing.T) {
	got, ok, err := new(Reader).parse([]byte(`{"at":"2026-01-05T12:00:00Z","channel":"1","user_id":"7","login":"anna","roles":["vip"],"text":"hi",` +
		`"cost":2,"message_kind":"bits","timezone":"Asia/Tokyo"}`))
	want := chatguard.Message{
		ChannelID: "1", Text: "hi", Kinds: []string{"bits"}, Cost: 2, SentAt: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC),
		User: chatguard.User{ID: "7", Login: "anna", Roles: chatguard.Roles{"vip"}, Timezone: "Asia/Tokyo"},
	}
	if !reflect.DeepEqual(got, want) || !ok || err != nil {
		t.Errorf("%+v, %v, %v, want %+v", got, ok, err, want)
	}
}

func TestSummary(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `{"at":%d,"channel":"1","user_id":"7","login":"anna","text":"hi"}`+"\n", 1767614400000+i)
	}
	b.WriteString("a line of another kind\n\n")
	b.WriteString(`{"at":"2026-01-05T12:00:00.5Z","channel":"1","user_id":"8","cost":4}` + "\r\n")
	b.WriteString(`{"at":"2026-01-05T12:00:00Z","channel":"1","user_id":"9","roles":["moderator"]}` + "\n")
	b.WriteString(`{"at":"2026-01-05T12:00:01Z","channel":"1","user_id":"10"}`)
	want := Summary{
		Messages: 8, Users: 4, ThrottledMessages: 3, ThrottledUsers: 2, ExemptMessages: 1, ByLimit: map[string]int{"burst": 3},
		Top: []User{{UserID: "7", Login: "anna", Messages: 5, Throttled: 2}, {UserID: "8", Messages: 1, Throttled: 1}},
	}
	got, skipped, verdicts := replay(t, strings.NewReader(b.String()))
	if !reflect.DeepEqual(got, want) || skipped != nil {
		t.Errorf("got %+v, skipped %q\nwant %+v", got, skipped, want)
	}
	if len(verdicts) != 8 || !verdicts[5].Never || !verdicts[3].At.Equal(time.UnixMilli(1767614400003)) {
		t.Errorf("verdicts %+v", verdicts)
	}

	if marked, skipped, _ := replay(t, strings.NewReader("\uFEFF"+b.String())); !reflect.DeepEqual(marked, want) || skipped != nil {
		t.Errorf("after a byte order mark %+v, skipped %q", marked, skipped)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(w, b.String()); err != nil || w.Close() != nil {
		t.Fatal("zipping failed")
	}
	if fromZip, _, _ := replay(t, &zipped); !reflect.DeepEqual(fromZip, want) {
		t.Errorf("from gzip %+v", fromZip)
	}
}

func TestRead_UnreadableLines(t *testing.T) {
	record := strings.Join([]string{
		`{"at":1767614400000,"channel":"1","user_id":"7"`,
		`{"channel":"1","user_id":"7"}`,
		`{"at":1767614400000,"channel":"1"}`,
		`{"at":1767614400000,"channel":"1","user_id":"7","cost":0}`,
		`{"at":true,"channel":"1","user_id":"7"}`,
		`{"at":1767614400000,"channel":"1","user_id":"7","roles":["the king"]}`,
		`{"at":"yesterday","channel":"1","user_id":"7"}`,
		`{"at":1767614400000,"channel":1,"user_id":"7"}`,
		`?`,
		`{"x":"` + strings.Repeat("x", 3*maxLine) + `"}`,
		"no time",
		"mirrored",
		`{"at":1767614400000,"channel":"1","user_id":"7"}`,
	}, "\n")
	got, skipped, _ := replay(t, strings.NewReader(record))
	if got.Messages != 1 || got.Skipped != 11 || len(skipped) != 11 {
		t.Errorf("got %+v", got)
	}
	for i, want := range []string{
		"chat:1: unexpected end of JSON input",
		"chat:2: the message has no time",
		"chat:3: chatguard: the user ID is empty",
		"chat:4: the cost is less than 1",
		`chat:5: "at": want RFC 3339 text or milliseconds since 1970, found true`,
		`chat:6: roles: "the king" is no name: it has 1 to 64 letters (a to z, A to Z), digits and characters of -_:`,
		`chat:7: "at": want RFC 3339 text or milliseconds since 1970, found "yesterday"`,
		`chat:8: "channel": want string, found number`,
		"chat:9: no such line",
		"chat:10: the line is longer than 1048576 bytes",
		"chat:11: the message has no time",
	} {
		if skipped[i] != want {
			t.Errorf("got  %s\nwant %s", skipped[i], want)
		}
	}
}

// Enter is called once per channel, before its first message. Messages that Enter refuses are not
// judged.
func TestEnter(t *testing.T) {
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	must(t, err)
	var seen []string
	refused := 1
	r := NewReplay(ReplayOptions{
		Guard: guard, Parse: parseNothing,
		Enter: func(m chatguard.Message, line string) error {
			seen = append(seen, "enter "+m.ChannelID+" "+line[len(line)-3:])
			if m.ChannelID == "3" && refused > 0 {
				refused--
				return errors.New("not yet")
			}
			return nil
		},
		Decided: func(v chatguard.Verdict) error { seen = append(seen, "judge "+v.ChannelID); return nil },
	})
	var b strings.Builder
	for i, channel := range []string{"1", "1", "2", "1", "3", "3", "3"} {
		fmt.Fprintf(&b, `{"at":1767614400000,"channel":%q,"user_id":"%d"}`+"\n", channel, i)
	}
	b.WriteString("mirrored\n")
	must(t, r.Read(t.Context(), "chat", strings.NewReader(b.String())))
	want := `[enter 1 0"} judge 1 judge 1 enter 2 2"} judge 2 judge 1 enter 3 4"} enter 3 5"} judge 3 judge 3]`
	if got := fmt.Sprint(seen); got != want || r.Summary().Skipped != 1 {
		t.Errorf("got  %s, skipped %d\nwant %s, skipped 1", got, r.Summary().Skipped, want)
	}
}

// The number of channels has a maximum, because even a small file can name many and each costs
// kilobytes.
func TestChannels_Bounded(t *testing.T) {
	var b strings.Builder
	for i := range maxChannels + 2 {
		fmt.Fprintf(&b, `{"at":1767614400000,"channel":"%d","user_id":"7"}`+"\n", i)
	}
	// a known channel, so it is still judged
	b.WriteString(`{"at":1767614400000,"channel":"0","user_id":"7"}`)
	got, skipped, _ := replay(t, strings.NewReader(b.String()))
	if got.Messages != maxChannels+1 || got.Skipped != 2 || len(skipped) != 2 {
		t.Fatalf("got %+v, skipped %q", got, skipped)
	}
	want := "chat:10001: the channel is one of more than 10000: split the record by channels, and replay the parts one by one"
	if skipped[0] != want {
		t.Errorf("skipped %q, want %q", skipped[0], want)
	}
}

func TestRead_FatalErrors(t *testing.T) {
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	must(t, err)
	full := errors.New("disk full")
	r := NewReplay(ReplayOptions{Guard: guard, Parse: parseNothing, Decided: func(chatguard.Verdict) error { return full }})
	if err := r.Read(t.Context(), "chat", strings.NewReader(`{"at":1767614400000,"channel":"1","user_id":"7"}`)); err != full {
		t.Errorf("error %v, want %v", err, full)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(w, strings.Repeat("line\n", 1000)); err != nil || w.Close() != nil {
		t.Fatal("zipping failed")
	}
	cut := bytes.NewReader(zipped.Bytes()[:zipped.Len()-4])
	if err := r.Read(t.Context(), "cut.gz", cut); err == nil || !strings.HasPrefix(err.Error(), "cut.gz: ") {
		t.Errorf("a record that is cut off: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"at":"2026-01-05T12:00:00.5Z","channel":"1","user_id":"8","cost":4,"roles":["vip"]}`))
	r := Reader{Parse: parseNothing}
	f.Fuzz(func(t *testing.T, line []byte) {
		if m, ok, err := r.parse(line); ok && (err != nil || m.Cost < 1) {
			t.Errorf("%q became %+v, %v", line, m, err)
		}
	})
}
