package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// TestRequests_AreAnswered checks that concurrent requests are answered, private, and leave nothing
// behind.
func TestRequests_AreAnswered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	q := Queue{path}
	for _, word := range []string{"A", "B"} {
		must(t, writePrivately(path+requestName+word, path, Request{Do: Discard, Channel: word}))
	}
	if info, err := os.Stat(path + requestName + "A"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a request is %v, %v", info.Mode(), err)
	}
	asked, err := q.Take()
	if err != nil || len(asked) != 2 || asked[path+outcomeName+"B"] != (Request{Discard, "B", ""}) {
		t.Errorf("asked was %v, %v", asked, err)
	}
	if again, err := q.Take(); len(again) != 0 || err != nil {
		t.Errorf("and again %v, %v", again, err)
	}
	must(t, q.Answer(path+outcomeName+"B", Outcome{Lines: []string{"done"}}))
	if o, err := awaitOutcome(t.Context(), path+outcomeName+"B", path); err != nil || fmt.Sprint(o.Lines)+o.Error != "[done]" {
		t.Errorf("the outcome is %v, %v", o, err)
	}
	writeFile(t, path+requestName+"C", "no request")
	want := "the request in " + path + requestName + "C can't be read: run that command again, as the same user as chatguard or as root: "
	if asked, err := q.Take(); len(asked) != 0 || err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("of what can't be read %v, %v", asked, err)
	}
	writeFile(t, path+requestName+"D", "from before the start")
	must(t, q.Forget())
	if left, err := filepath.Glob(path + "?*"); len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if names := (Queue{}).named(requestName); names != nil {
		t.Errorf("without a database there are %q", names)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name, contents string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(contents), 0o600))
}

// TestAsk_AnotherContainer checks that Ask doesn't notify its own process if the owner is in
// another container, where it has the same PID.
func TestAsk_AnotherContainer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	_, err := Ask(t.Context(), &sqlite.OwnedError{Path: path, PID: os.Getpid()}, Request{Do: Reload})
	if err == nil || !strings.Contains(err.Error(), "another container") {
		t.Errorf("got %v", err)
	}
}

// TestAwaitOutcome_IsBounded checks that waiting ends if nobody answers, and that an answer that
// can't be read is reported.
func TestAwaitOutcome_IsBounded(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outcome")
	over, stop := context.WithCancel(t.Context())
	stop()
	if _, err := awaitOutcome(over, name, name); !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer: %v", err)
	}
	writeFile(t, name, "no outcome")
	if _, err := awaitOutcome(t.Context(), name, name); !errors.As(err, new(*json.SyntaxError)) {
		t.Errorf("of nonsense: %v", err)
	}
}

// TestAskStatus_SendsNoSignal checks that a process that doesn't answer is only waited for. This
// process would end at a signal.
func TestAskStatus_SendsNoSignal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	_, err := AskStatus(t.Context(), &sqlite.OwnedError{Path: path, PID: os.Getpid()}, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "hasn't answered within 1ms: it is starting or stopping") {
		t.Errorf("without an answer: %v", err)
	}
	if left, err := filepath.Glob(path + "?*"); len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	for user, want := range map[string]string{"anna": " as the user anna: run this as anna or root", "root": " as the user root: run this as root"} {
		other := &sqlite.OwnedError{Path: path, PID: 1, User: user}
		if _, err := AskStatus(t.Context(), other, time.Hour); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("of another user's: %v", err)
		}
	}
}

// TestAnswerQuestions checks that questions are answered, that other requests are left alone, and
// that the outcomes of commands that were killed don't pile up.
func TestAnswerQuestions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	for _, name := range []string{path, path + outcomeName + "old", path + outcomeName + "new", path + requestName + "other"} {
		writeFile(t, name, "{}")
	}
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path+outcomeName+"old", long, long))
	ctx, stop := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	answering.Go(func() {
		Queue{path}.AnswerQuestions(ctx, func() Status { return Status{State: OK, Figures: &Figures{PID: 7}} }, func(err error) { t.Error(err) })
	})
	for range 2 {
		s, err := AskStatus(ctx, &sqlite.OwnedError{Path: path, PID: os.Getpid()}, time.Hour)
		if err != nil || s.State != OK || s.PID != 7 {
			t.Errorf("the answer is %+v, %v", s, err)
		}
	}
	stop()
	answering.Wait()
	left, err := filepath.Glob(path + "?*")
	if fmt.Sprint(left) != fmt.Sprint([]string{path + outcomeName + "new", path + requestName + "other"}) {
		t.Errorf("left are %q, %v", left, err)
	}
	Queue{}.AnswerQuestions(t.Context(), nil, nil) // without a database, it returns
}
