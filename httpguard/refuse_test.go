package httpguard

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chatguard/chatguard/connguard"
)

// A client that asks for problem documents or JSON gets a problem, with the same headers.
func TestLimit_Problems(t *testing.T) {
	l := newLimited(t, nil)
	for accept, isProblem := range map[string]bool{
		"": false, "*/*": false, "text/html, */*;q=0.8": false, "application/*": false, "application/problem+xml": false,
		"application/problem+json": true, "text/plain, Application/JSON;q=0.5": true, "application/json;charset=utf-8": true,
		"application/json;q=0": false, "application/json; Q=0.000, text/plain": false, ", ;,application/json;q=0.1": true,
	} {
		var w *httptest.ResponseRecorder
		for range 3 {
			w = l.request("anna", func(r *http.Request) { r.Header.Set("Accept", accept) })
		}
		checkHeaders := map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Retry-After": "4"}
		body := "Too many requests. Try again in 4 s.\n"
		if isProblem {
			checkHeaders["Content-Type"] = "application/problem+json"
			body = `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too Many Requests","status":429,"detail":"Too many requests. Try again in 4 s.","violated-policies":["burst"]}` + "\n"
		}
		checkAnswer(t, w, 429, body, checkHeaders)
	}
}

// All answers are valid problems. Only those of a limit have the type quota-exceeded.
func TestRefuser_Problems(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "application/problem+json")
	for err, limit := range map[error]string{connguard.ErrConnections: "connections", ErrInFlight: "in-flight", ErrNobody: "", errors.New("broken"): ""} {
		w := httptest.NewRecorder()
		(&refuser{logger: slog.New(slog.DiscardHandler)}).refuse(w, r, new(headerValues), err)
		var problem struct {
			Type, Title, Detail string
			Status              int
			Violated            []string `json:"violated-policies"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		if problem.Status != w.Code || problem.Title != http.StatusText(w.Code) || problem.Detail == "" || (problem.Type != "") != (limit != "") ||
			len(problem.Violated) > 1 || limit != "" && problem.Violated[0] != limit {
			t.Errorf("%v: %s", err, w.Body)
		}
	}
}

func FuzzAcceptsProblem(f *testing.F) {
	f.Add("application/json;q=0.")
	f.Add(";;,,=,q")
	f.Fuzz(func(t *testing.T, accept string) {
		if !acceptsProblem([]string{accept, "application/problem+json;level=1;q=1"}) {
			t.Errorf("%q hides the next one", accept)
		}
	})
}
