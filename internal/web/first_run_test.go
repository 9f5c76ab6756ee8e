//go:build !race

package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/web/access"
)

// firstRun is a setup page with the codes of its sign-in links.
type firstRun struct {
	*testing.T
	*FirstRun
	tokens  *signin.Tokens
	answers []Answers // received by create
	err     error     // returned by create
	session *http.Cookie
}

func newFirstRun(t *testing.T) *firstRun {
	t.Helper()
	store, err := persist.OpenMemory(t.Context(), &persist.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f := &firstRun{T: t, tokens: store.Tokens}
	f.FirstRun, err = NewFirstRun(FirstRunOptions{
		Site: access.Site{Listen: "127.0.0.1:8080"}, Sessions: store.Tokens, WrongCode: signin.ErrCode, Console: "https://example.org/console", Log: quiet,
		Create: func(_ context.Context, a Answers) (string, error) {
			f.answers = append(f.answers, a)
			return "next-code", f.err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// signIn redeems a new code of somebody with this access.
func (f *firstRun) signIn(as auth.Access) {
	f.Helper()
	code, err := f.tokens.NewSignInCode(f.Context(), auth.Identity{Name: "owner", Access: as}, 0)
	if err != nil {
		f.Fatal(err)
	}
	w := f.send("POST", "/api/v1/session", `{"code":"`+code+`"}`)
	if w.Code != http.StatusOK {
		f.Fatalf("%d %s", w.Code, w.Body)
	}
	f.session = w.Result().Cookies()[0]
}

func (f *firstRun) send(method, path, body string, adjust ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if f.session != nil {
		r.AddCookie(f.session)
	}
	for _, change := range adjust {
		change(r)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

const goodAnswers = `{"channel":"gardenhour","timezone":"Europe/Berlin"}`

func TestFirstRun_Created(t *testing.T) {
	f := newFirstRun(t)
	f.signIn(auth.Own)
	var who firstSession
	if err := json.Unmarshal(f.send("GET", "/api/v1/session", "").Body.Bytes(), &who); err != nil || who.FirstRun.Console != "https://example.org/console" || who.Name != "owner" {
		t.Errorf("signed in as %+v, %v", who, err)
	}
	w := f.send("PUT", "/api/v1/configuration", goodAnswers)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "next-code") || len(f.answers) != 1 || f.answers[0] != (Answers{Channel: "gardenhour", Timezone: "Europe/Berlin"}) {
		t.Errorf("%d %s, received %+v", w.Code, w.Body, f.answers)
	}
	for _, method := range []string{"GET", "PUT"} {
		if w := f.send(method, "/api/v1/configuration", goodAnswers); w.Code != http.StatusServiceUnavailable || len(f.answers) != 1 {
			t.Errorf("afterwards, %s: %d %s", method, w.Code, w.Body)
		}
	}
}

func TestFirstRun_Ends(t *testing.T) {
	for name, end := range map[string]func(f *firstRun, stop context.CancelFunc){
		"created": func(f *firstRun, _ context.CancelFunc) { f.send("PUT", "/api/v1/configuration", goodAnswers) },
		"stopped": func(_ *firstRun, stop context.CancelFunc) { stop() },
	} {
		f := newFirstRun(t)
		f.signIn(auth.Own)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- f.FirstRun.Run(ctx, listener) }()
		end(f, stop)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the listener is open: %v", name, err)
		}
	}
}

func TestFirstRun_Refusals(t *testing.T) {
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, test := range map[string]struct {
		as     auth.Access
		body   string
		adjust func(*http.Request)
		status int
		says   string
	}{
		"signed out":   {"", goodAnswers, func(*http.Request) {}, 401, "Sign in first"},
		"view only":    {auth.View, goodAnswers, func(*http.Request) {}, 403, "this needs owner access"},
		"other origin": {auth.Own, goodAnswers, header("Sec-Fetch-Site", "cross-site"), 403, "another site"},
		"other host":   {auth.Own, goodAnswers, func(r *http.Request) { r.Host = "evil.example" }, 421, "not allowed"},
		"a form":       {auth.Own, goodAnswers, header("Content-Type", "text/plain"), 415, "JSON"},
		"too long":     {auth.Own, `{"channel":"` + strings.Repeat("a", 5000) + `"}`, func(*http.Request) {}, 413, "4096 bytes"},
		"unknown key":  {auth.Own, `{"listen":"0.0.0.0:80"}`, func(*http.Request) {}, 400, "unknown field"},
	} {
		f := newFirstRun(t)
		if test.as != "" {
			f.signIn(test.as)
		}
		w := f.send("PUT", "/api/v1/configuration", test.body, test.adjust)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || len(f.answers) != 0 {
			t.Errorf("%s: %d %s, received %+v", name, w.Code, w.Body, f.answers)
		}
	}
}

func TestFirstRun_WrongAnswers(t *testing.T) {
	f := newFirstRun(t)
	f.signIn(auth.Own)
	f.err = &AnswerError{"no such zone"}
	if w := f.send("PUT", "/api/v1/configuration", goodAnswers); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "no such zone") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	f.err = errors.New("a secret")
	if w := f.send("PUT", "/api/v1/configuration", goodAnswers); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	f.err = nil
	if w := f.send("PUT", "/api/v1/configuration", goodAnswers); w.Code != http.StatusOK {
		t.Errorf("corrected: %d %s", w.Code, w.Body)
	}
}

func TestFirstRun_LinkWorksOnce(t *testing.T) {
	f := newFirstRun(t)
	if w := f.send("POST", "/api/v1/session", `{"code":"used"}`); w.Code != 401 || !strings.Contains(w.Body.String(), "Start chatguard again") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
