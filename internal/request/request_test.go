package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestRequests_AreAnswered checks that concurrent requests are answered, private, and leave nothing
// behind.
func TestRequests_AreAnswered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	q := Queue{path}
	for _, word := range []string{"A", "B"} {
		if err := writePrivately(path+requestName+word, path, Request{Do: Discard, Channel: word}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path + requestName + "A"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a request is %v, %v", info.Mode(), err)
	}
	asked, err := q.Take()
	if err != nil || len(asked) != 2 || asked[path+outcomeName+"B"] != (Request{Discard, "B"}) {
		t.Errorf("asked was %v, %v", asked, err)
	}
	if again, err := q.Take(); len(again) != 0 || err != nil {
		t.Errorf("and again %v, %v", again, err)
	}
	if err := q.Answer(path+outcomeName+"B", Outcome{Lines: []string{"done"}}); err != nil {
		t.Fatal(err)
	}
	if o, err := awaitOutcome(t.Context(), path+outcomeName+"B"); err != nil || fmt.Sprint(o) != "{[done] }" {
		t.Errorf("the outcome is %v, %v", o, err)
	}
	writeFile(t, path+requestName+"C", "no request")
	if asked, err := q.Take(); len(asked) != 0 || err == nil {
		t.Errorf("of what can't be read %v, %v", asked, err)
	}
	writeFile(t, path+requestName+"D", "from before the start")
	if err := q.Forget(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + "?*"); len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if names := (Queue{}).named(requestName); names != nil {
		t.Errorf("without a database there are %q", names)
	}
}

func writeFile(t *testing.T, name, contents string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAwaitOutcome_IsBounded checks that waiting ends if nobody answers, and that an answer that
// can't be read is reported.
func TestAwaitOutcome_IsBounded(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "outcome")
	over, stop := context.WithCancel(t.Context())
	stop()
	if _, err := awaitOutcome(over, name); !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer: %v", err)
	}
	writeFile(t, name, "no outcome")
	if _, err := awaitOutcome(t.Context(), name); !errors.As(err, new(*json.SyntaxError)) {
		t.Errorf("of nonsense: %v", err)
	}
}
