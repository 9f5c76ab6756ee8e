package main

import (
	"os"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	list, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := parse(string(list))
	if err != nil || len(mutants) < 60 {
		t.Fatalf("%d mutants, %v", len(mutants), err)
	}
	for _, m := range mutants {
		data, err := os.ReadFile("../../" + m.file)
		if n := strings.Count(string(data), m.old); err != nil || n != 1 {
			t.Errorf("mutant %s: %q occurs %d times, not once, %v", m.name, m.old, n, err)
		}
	}
	mutants, err = parse("# About.\n\na.go\n# Why.\n- one\n- \ttwo\nfirst: TestA\n\n\nb.go\n- one\n+ two\nsurvives: equal\n")
	want := []mutant{
		{name: "1 a.go", file: "a.go", old: "one\n\ttwo", first: "TestA"},
		{name: "2 b.go", file: "b.go", old: "one", new: "two", survives: "equal"},
	}
	if err != nil || len(mutants) != 2 || mutants[0] != want[0] || mutants[1] != want[1] {
		t.Errorf("%+v, %v", mutants, err)
	}
	for _, wrong := range []string{"a.go\n- one\n+ one\n", "a.go\n", "a.go\none\n"} {
		if mutants, err := parse(wrong); err == nil {
			t.Errorf("%q: %+v", wrong, mutants)
		}
	}
}
