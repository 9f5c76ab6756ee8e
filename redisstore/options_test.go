package redisstore

import (
	"context"
	"crypto/tls"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestOpen_Bounds checks that values out of bounds are refused with the bound.
func TestOpen_Bounds(t *testing.T) {
	for _, test := range []struct {
		opts Options
		want string // empty if it is allowed
	}{
		{Options{Timeout: 1}, "Options.Timeout is 1ns: set it from 1ms to 10s"},
		{Options{Timeout: -1}, "Options.Timeout is -1ns: set it from 1ms to 10s"},
		{Options{Timeout: 10*time.Second + 1}, "from 1ms to 10s"},
		{Options{Timeout: time.Millisecond}, ""},
		{Options{Timeout: 10 * time.Second}, ""},
		{Options{Interval: 20*time.Millisecond - 1}, "Options.Interval is 19.999999ms: set it from 20ms to 1m0s"},
		{Options{Interval: time.Minute + 1}, "from 20ms to 1m0s"},
		{Options{Interval: 20 * time.Millisecond}, ""},
		{Options{Interval: time.Minute}, ""},
		{Options{Node: "a b"}, `Options.Node "a b" may only have letters, digits, '_', '.' and '-'`},
		{Options{Node: "a\n\x1b[31m"}, `Options.Node "a\n\x1b[31m" may only`},
		{Options{Node: "ä"}, "may only have letters"},
		{Options{Node: strings.Repeat("n", 101)}, "Options.Node has 101 bytes: use up to 100"},
		{Options{Node: strings.Repeat("n", 100)}, ""},
		{Options{Node: "A-1_b.c"}, ""},
		{Options{Namespace: strings.Repeat("n", 101)}, "Options.Namespace has 101 bytes"},
	} {
		test.opts.Logger = quiet()
		s, err := Open(context.Background(), "redis://127.0.0.1:1", &test.opts)
		if err == nil {
			s.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.opts, err, test.want)
		}
	}
	if name := defaultNode(); checkName("node", name) != nil {
		t.Error(name)
	}
}

// TestOptions_NameOf checks that the texts name what to change in the program's words.
func TestOptions_NameOf(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--requirepass", "s3cret")
	words := func(name string) string { return "<" + name + ">" }
	for _, test := range []struct {
		url  string
		opts Options
		want string
	}{
		{r.URL(), Options{}, "set <Password>"},
		{r.URL(), Options{Password: "wr0ng"}, "correct <Password>, or <Username>"},
		{r.URL(), Options{Timeout: 1}, "<Timeout> is 1ns"},
		{r.URL(), Options{Interval: 1}, "<Interval> is 1ns"},
		{r.URL(), Options{Namespace: "a b"}, `<Namespace> "a b" may only`},
		{r.URL(), Options{Node: "a b"}, `<Node> "a b" may only`},
		{r.URL(), Options{Placement: 7}, "<Placement> 7 doesn't exist: use <PlaceByUser>, <PlaceByChannel> or <PlaceTogether>"},
		{r.URL(), Options{Replicas: -1}, "<Replicas> is -1"},
		{r.URL(), Options{TLS: &tls.Config{}}, "<TLS> is set"},
		{"redis+cluster://127.0.0.1", Options{Replicas: 1}, "<Replicas> isn't possible"},
		{"redis://192.0.2.1", Options{}, "allow it with <Insecure>"},
	} {
		test.opts.NameOf = words
		if err := openRefused(t, test.url, test.opts); !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "Options") {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	// Every other text, too, gets these names from nameOf.
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && (f.Name.Name == "nameOf" || f.Name.Name == "name") {
				return false
			}
			if text, ok := n.(*ast.BasicLit); ok && regexp.MustCompile(`Options\b|Place[A-Z]\w+ |RootCAs[^"]`).MatchString(text.Value) {
				t.Errorf("%s: %s has a Go name; use Options.nameOf", name, text.Value)
			}
			return true
		})
	}
}
