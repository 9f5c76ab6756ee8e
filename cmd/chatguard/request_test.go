package main

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

// TestRequests_AreAnswered whoever asks at the same time, are private, and leave nothing behind.
func TestRequests_AreAnswered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chatguard.db")
	writeFile(t, path, "a database")
	q := requests{path}
	for _, word := range []string{"A", "B"} {
		if err := writePrivately(path+requestName+word, path, request{Do: doDiscard, Channel: word}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path + requestName + "A"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a request is %v, %v", info.Mode(), err)
	}
	asked, err := q.take()
	if err != nil || len(asked) != 2 || asked[path+outcomeName+"B"] != (request{doDiscard, "B"}) {
		t.Errorf("asked was %v, %v", asked, err)
	}
	if again, err := q.take(); len(again) != 0 || err != nil {
		t.Errorf("and again %v, %v", again, err)
	}
	if err := q.answer(path+outcomeName+"B", outcome{Lines: []string{"done"}}); err != nil {
		t.Fatal(err)
	}
	if o, err := awaitOutcome(t.Context(), path+outcomeName+"B"); err != nil || fmt.Sprint(o) != "{[done] }" {
		t.Errorf("the outcome is %v, %v", o, err)
	}
	writeFile(t, path+requestName+"C", "no request")
	if asked, err := q.take(); len(asked) != 0 || err == nil {
		t.Errorf("of what can't be read %v, %v", asked, err)
	}
	writeFile(t, path+requestName+"D", "from before the start")
	if err := q.forget(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + "?*"); len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if names := (requests{}).named(requestName); names != nil {
		t.Errorf("without a database there are %q", names)
	}
}

func writeFile(t *testing.T, name, contents string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAwaitOutcome_IsBounded where nobody answers, and says so of an answer that can't be read.
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
