//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Nothing that a user chooses makes an error, because servers show messages without a verdict.
func TestCheck_UsersChoices(t *testing.T) {
	d, asServer := runLobby(t, setCheckSpace)
	roles := `"r0"`
	for i := range 200 {
		roles += fmt.Sprintf(`,"r%d"`, i+1)
	}
	long, longest := strings.Repeat("é", 4097), strings.Repeat(`\u00e9\ud83d\ude00"`, 20_000)
	for name, c := range map[string]struct{ fields, changed string }{
		"a long text":            {`"user_id":"1","text":"` + long + `"`, `"changed":["text"]`},
		"a very long text":       {`"user_id":"2","text":"` + strings.ReplaceAll(longest, `"`, `\"`) + `"`, `"changed":["text"]`},
		"a very long name":       {`"user_id":"3","text":"x","login":"` + strings.Repeat("x", 200<<10) + `"`, `"changed":["login"]`},
		"bytes that aren't text": {"\"user_id\":\"4\",\"text\":\"\xff\xfe\"", `"spent":1}`},
		"a name with a break":    {`"user_id":"5","login":"an\nna","display_name":"An\u0085na","id":"m\r1"`, `"changed":["id","login","display_name"]`},
		"half a surrogate pair":  {`"user_id":"6","display_name":"\ud800"`, `"changed":["display_name"]`},
		"a long ID":              {`"user_id":"` + strings.Repeat("x", 251) + `"`, `"user_id":"sha256:`},
		"a very long ID":         {`"user_id":"` + strings.Repeat("y", 300<<10) + `"`, `"changed":["user_id"]`},
		"an unknown kind":        {`"user_id":"7","message_kind":"bits, cheer"`, `"changed":["message_kind"]`},
		"many unknown roles":     {`"user_id":"10","roles":[` + roles + `]`, `"ignored_roles":["r0","r1",`},
		"an empty kind":          {`"user_id":"9","message_kind":""`, `"spent":1}`},
		"an ID with a break":     {`"user_id":"a\nb"`, `"changed":["user_id"]`},
		"an ID of other bytes":   {"\"user_id\":\"a\xff\"", `"changed":["user_id"]`},
		"an ID like ours":        {`"user_id":"check:41"`, `"user_id":"check:41"`},
		"unknown roles":          {`"user_id":"8","roles":["king","subscriber","king","` + long + `"]`, `"ignored_roles":["king","éé`},
	} {
		body := []byte(`{"channel":"lobby",` + c.fields + `}`)
		var last answer
		for i := range 4 {
			a := d.send("/api/v1/check", body, asServer)
			want := http.StatusOK
			if i == 3 {
				want = http.StatusTooManyRequests
			}
			if a.StatusCode != want || i == 0 && !strings.Contains(string(a.body), c.changed) || len(a.body) > 1000 {
				t.Errorf("%s: message %d: %s %.1000s, want %s", name, i, a.Status, a.body, c.changed)
			}
			if i == 2 {
				last = a
			}
		}
		d.refund(last.body, asServer)
		if a := d.send("/api/v1/check", body, asServer); a.StatusCode != http.StatusOK {
			t.Errorf("%s: after a refund: %s", name, a.Status)
		}
	}
}

// A batch with very long texts is judged, too.
func TestCheckBatch_LongTexts(t *testing.T) {
	d, asServer := runLobby(t)
	var messages []string
	for i := range 400 {
		messages = append(messages, fmt.Sprintf(`{"channel":"lobby","user_id":"%d","text":"%s"}`, i%100, strings.Repeat("x", 20_000)))
	}
	a := d.send("/api/v1/check/batch", []byte(`{"messages":[`+strings.Join(messages, ",")+`]}`), asServer)
	verdicts := decode[struct{ Verdicts []verdict }](t, a).Verdicts
	for i, v := range verdicts {
		if v.Allowed != (i < 300) || len(v.Changed) != 1 {
			t.Errorf("message %d: %+v", i, v)
		}
	}
	if len(verdicts) != 400 {
		t.Errorf("%d verdicts", len(verdicts))
	}
}
