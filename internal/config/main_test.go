package config

import (
	"errors"
	"strings"
	"testing"
)

// variables is an environment.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	text, ok := v[name]
	return text, ok
}

// problem returns the error of a configuration and checks that it is one line.
func problem(t *testing.T, err error) string {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %T %v, want an *Error", err, err)
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("more than one line: %q", err)
	}
	return err.Error()
}

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
