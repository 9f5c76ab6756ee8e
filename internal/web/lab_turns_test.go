//go:build !race

package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/access"
)

// slowAnswer is the answer to a client that reads nothing until wait is closed.
type slowAnswer struct {
	*httptest.ResponseRecorder
	wait <-chan struct{}
}

func (s slowAnswer) Write(p []byte) (int, error) {
	<-s.wait
	return len(p), nil
}

func callerNamed(name string) access.Caller {
	return access.Caller{Identity: auth.Identity{Name: name}}
}

// labQuestionFrom returns a question with this body.
func labQuestionFrom(body io.Reader) *http.Request {
	r := httptest.NewRequest("POST", "/api/v1/lab", body)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// However slowly people send questions and read answers, others have theirs answered.
func TestLab_SlowPeople(t *testing.T) {
	small, large := `{`+oneLane+`}`, `{`+oneLane+`,"messages": [`+strings.Repeat(" ", labSmall)+`]}`
	big := manyMessages() // of its answer
	for name, slow := range map[string]func(h *labs, i int, wait <-chan struct{}, end io.Reader){
		"one byte of one address": func(h *labs, _ int, _ <-chan struct{}, end io.Reader) {
			h.post(httptest.NewRecorder(), labQuestionFrom(io.MultiReader(strings.NewReader("{"), end)), callerNamed("slow"))
		},
		"one byte of many addresses": func(h *labs, i int, _ <-chan struct{}, end io.Reader) {
			h.post(httptest.NewRecorder(), labQuestionFrom(io.MultiReader(strings.NewReader("{"), end)), callerNamed(fmt.Sprint("slow", i)))
		},
		"large questions of many": func(h *labs, i int, _ <-chan struct{}, end io.Reader) {
			h.post(httptest.NewRecorder(), labQuestionFrom(io.MultiReader(strings.NewReader(large[:len(large)-2]), end)), callerNamed(fmt.Sprint("slow", i)))
		},
		"large answers of one address": func(h *labs, _ int, wait <-chan struct{}, _ io.Reader) {
			h.post(slowAnswer{httptest.NewRecorder(), wait}, labQuestionFrom(strings.NewReader(big)), callerNamed("slow"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, wait := newLabs(), make(chan struct{})
				end, finish := io.Pipe()
				for i := range 30 {
					go slow(h, i, wait, end)
				}
				synctest.Wait()
				began := time.Now()
				quick := []string{small}
				if strings.HasSuffix(name, "one address") {
					quick = append(quick, large, big)
				}
				for _, question := range quick {
					w := httptest.NewRecorder()
					if err := h.post(w, labQuestionFrom(strings.NewReader(question)), callerNamed("quick")); err != nil || w.Code != http.StatusOK || time.Since(began) != 0 {
						t.Errorf("another's question: %v %d after %s", err, w.Code, time.Since(began))
					}
				}
				close(wait)
				finish.Close()
				synctest.Wait()
				if len(h.large)+len(h.pending)+len(h.working)+len(h.holders.byHolder) != 0 {
					t.Errorf("places are still taken: %+v", h)
				}
			})
		})
	}
}

// An address has as much work done for it as it has left.
func TestLabSite_BoundsWork(t *testing.T) {
	turntest.Expensive(t)
	site, advance := labSite(t, nil)
	heavy := `{"no_steps": true, "edge": "24h", "lanes": [{"limits": [` + strings.TrimSuffix(strings.Repeat(`{"algorithm": "fixed-window", "messages": 100000, "every": "24h"},`, 4), ",") + `]}]}`
	answered := 0
	for ask(site, heavy).Code == http.StatusOK {
		if answered++; answered > labBurst {
			t.Fatal("every question is answered")
		}
	}
	if a := ask(site, `{`+oneLane+`}`); answered > 6 || a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "1" {
		t.Errorf("after %d large questions: %d", answered, a.Code)
	}
	advance(labWorkRefill)
	if a := ask(site, `{`+oneLane+`}`); a.Code != http.StatusOK {
		t.Errorf("a little later: %d", a.Code)
	}
}
