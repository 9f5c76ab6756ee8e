//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// Nothing that a user chooses makes an error, because servers show messages without a verdict.
func TestCheck_UsersChoices(t *testing.T) {
	d, asServer := runLobby(t, setCheckSpace)
	roles := `"r0"`
	for i := range 63 {
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
		"an unknown kind":        {`"user_id":"7","message_kind":"bits, cheer"`, `"unknown_kinds":["cheer"]`},
		"an unknown zone":        {`"user_id":"11","timezone":"Europe/Berln"`, `"unknown_timezone":"Europe/Berln"}`},
		"a zone that is a file":  {`"user_id":"12","timezone":"../../etc/localtime"`, `"unknown_timezone":"../../etc/localtime"}`},
		"this machine's zone":    {`"user_id":"13","timezone":"Local"`, `"unknown_timezone":"Local"}`},
		"a very long zone":       {`"user_id":"14","timezone":"` + strings.Repeat("Europe/Berlin", 800) + `"`, `"unknown_timezone":"Europe/BerlinEurope/`},
		"a zone of other bytes":  {"\"user_id\":\"15\",\"timezone\":\"\xff\"", `"unknown_timezone":"`},
		"a known zone":           {`"user_id":"16","timezone":"Asia/Tokyo"`, `"spent":1}`},
		"no zone":                {`"user_id":"17","timezone":null`, `"spent":1}`},
		"many unknown roles":     {`"user_id":"10","roles":[` + roles + `]`, `"unknown_roles":["r0","r1",`},
		"emotes only":            {`"user_id":"18","message_kind":"emotes"`, `"spent":1}`},
		"an empty kind":          {`"user_id":"9","message_kind":""`, `"spent":1}`},
		"an ID with a break":     {`"user_id":"a\nb"`, `"changed":["user_id"]`},
		"an ID of other bytes":   {"\"user_id\":\"a\xff\"", `"changed":["user_id"]`},
		"an ID like ours":        {`"user_id":"check:41"`, `"user_id":"check:41"`},
		"unknown roles":          {`"user_id":"8","roles":["king","subscriber","king","Sub scriber"]`, `"unknown_roles":["king","Sub scriber"]`},
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

// Roles and kinds come from the server, so too many or too long ones are its mistake.
func TestCheck_InvalidNames(t *testing.T) {
	d, asServer := runLobby(t)
	many, long := `"r`+strings.Join(strings.Split(strings.Repeat("x", 65), ""), `","`)+`"`, strings.Repeat("x", 65)
	for i := range 65 {
		many = strings.Replace(many, `"x"`, fmt.Sprintf(`"x%d"`, i), 1)
	}
	for fields, says := range map[string]string{
		`"roles":[` + many + `]`:              "roles: want 64 names or fewer",
		`"roles":["` + long + `"]`:            "has 65 bytes, want 64 or fewer",
		`"roles":["vip",7]`:                   "want a text",
		`"roles":"vip"`:                       "want a list",
		`"message_kind":"bits, ` + long + `"`: "message_kind: ",
		`"message_kind":["bits"]`:             "want a text",
		`"message_kind":"` + strings.ReplaceAll(many, `"`, "") + `"`: "message_kind: ",
	} {
		a := d.send("/api/v1/check", []byte(`{"channel":"lobby","user_id":"1",`+fields+`}`), asServer)
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), says) {
			t.Errorf("%.40s: %s %.300s, want %s", fields, a.Status, a.body, says)
		}
	}
}

// A room's policy defines its roles. Those of another room have no effect there.
func TestCheck_RolesOfPolicy(t *testing.T) {
	d, asServer := runLobby(t)
	policy := d.guard.Policy()
	policy.Roles, policy.Exempt = []chatguard.Role{"staff", "pro"}, []chatguard.Role{"staff"}
	policy.Limits[0].Roles = map[chatguard.Role]chatguard.Override{"pro": {Burst: 9}}
	if err := d.guard.SetChannelPolicy("lobby", policy); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct{ roles, says string }{
		{`["staff","vip"]`, `"exempt":true,"roles":["staff"],"unknown_roles":["vip"]`},
		{`["pro"]`, `"remaining":8,`},
		{`["moderator"]`, `"unknown_roles":["moderator"]`},
	} {
		a := d.send("/api/v1/check", fmt.Appendf(nil, `{"channel":"lobby","user_id":"u%d","roles":%s}`, i, step.roles), asServer)
		if a.StatusCode != http.StatusOK || !strings.Contains(string(a.body), step.says) {
			t.Errorf("%s: %s %.300s, want %s", step.roles, a.Status, a.body, step.says)
		}
	}
}

// An answer says that limits on repeated text didn't count a message without a text.
func TestCheck_MissingText(t *testing.T) {
	copies := chatguard.Limit{Name: "copies", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Hour, Per: chatguard.PerText}
	d, asServer := runLobby(t, setCheckSpace, addLimits(t, copies))
	const missing = `"missing":["text"]`
	for _, c := range []struct {
		fields string
		want   bool
	}{{`"user_id":"1"`, true}, {`"user_id":"1","text":null`, true}, {`"user_id":"1","text":""`, false}, {`"user_id":"2","text":"hello"`, false}, {`"user_id":"3","roles":["moderator"]`, false}} {
		body := `{"channel":"lobby",` + c.fields + `}`
		one := d.send("/api/v1/check", []byte(body), asServer).body
		batch := d.send("/api/v1/check/batch", []byte(`{"messages":[`+body+`]}`), asServer).body
		if strings.Contains(string(one), missing) != c.want || strings.Contains(string(batch), missing) != c.want {
			t.Errorf("%s: %s and %s, want it missing: %t", c.fields, one, batch, c.want)
		}
	}
	d, asServer = runLobby(t)
	if a := d.send("/api/v1/check", []byte(`{"channel":"lobby","user_id":"1"}`), asServer); strings.Contains(string(a.body), missing) {
		t.Errorf("without limits on repeated text: %s", a.body)
	}
}
