//go:build !race

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
)

// contents returns the database's bytes.
func (s *scene) contents() []byte {
	s.Helper()
	data, err := os.ReadFile(s.database())
	must(s, err)
	return data
}

func (s *scene) write(contents []byte) {
	s.Helper()
	must(s, os.WriteFile(s.database(), contents, 0o600))
}

// overwrite writes over the database's bytes from an offset on.
func (s *scene) overwrite(at int, with []byte) {
	s.Helper()
	data := s.contents()
	copy(data[at:], with)
	s.write(data)
}

const damagedFix = "it is damaged, or not a database: restore a backup, move it away to start with an empty one, or set another file"

// TestRun_RefusedDatabases checks that the error is one line with the fix, and that the
// databases aren't changed.
func TestRun_RefusedDatabases(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	s.stop()
	whole := s.contents()
	for name, c := range map[string]struct {
		spoil func(s *scene)
		want  string
	}{
		"header overwritten": {func(s *scene) { s.overwrite(0, bytes.Repeat([]byte{'x'}, 16)) }, ": " + damagedFix},
		"page overwritten":   {func(s *scene) { s.overwrite(4096, bytes.Repeat([]byte{0xff}, 4096)) }, ": " + damagedFix},
		"cut off":            {func(s *scene) { s.write(whole[:len(whole)/2]) }, ": " + damagedFix},
		"newer":              {func(s *scene) { s.alter("PRAGMA user_version = 99") }, "update chatguard"},
		"another program's":  {func(s *scene) { s.alter("PRAGMA application_id = 1") }, " belongs to another program: set another database"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forTest(t)
			s.write(whole)
			c.spoil(s)
			before := s.contents()
			line := s.checkRefused("run")
			if !strings.HasPrefix(line, "database "+s.database()) || !strings.HasSuffix(line, "; `chatguard run --no-database` moderates without it") || !strings.Contains(line, c.want) {
				t.Errorf("run says %q, want %q", line, c.want)
			}
			for _, args := range [][]string{{"backup", s.database() + ".copy"}, {"export", "-"}} {
				if line := s.checkRefused(args...); !strings.HasPrefix(line, "database "+s.database()) || !strings.Contains(line, c.want) {
					t.Errorf("%s says %q, want %q", args[0], line, c.want)
				}
			}
			if !bytes.Equal(s.contents(), before) {
				t.Error("the database isn't what it was")
			}
			if _, err := os.Stat(s.database() + ".copy"); err == nil {
				t.Error("a copy was made")
			}
		})
	}
}

// TestRun_WithoutDatabase checks that with --no-database, everything works except storing. A
// damaged database file stays unchanged.
func TestRun_WithoutDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	damaged := []byte(strings.Repeat("this is no database\n", 1000))
	s.write(damaged)
	s.start("--no-database")
	s.exhaustLimit("anna")
	if s.change(setTwoMessages) {
		t.Error("what nobody keeps was called saved")
	}
	s.sayAllowed("berta")
	s.sayAllowed("berta")
	s.sayExcess("berta")
	if d := s.databaseStatus(); d != (databaseStatus{State: "off"}) {
		t.Errorf("the status says %+v", d)
	}
	if answer, text := s.ask("GET", "readyz", ""); answer.StatusCode != http.StatusOK {
		t.Errorf("/readyz answers %s %s", answer.Status, text)
	}
	if name := s.signedInName(s.signIn(fmt.Sprintf(`{"token":%q}`, webToken))); name != auth.OwnerName {
		t.Errorf("the owner's token signs in as %q", name)
	}
	for _, args := range [][]string{{"backup", s.database() + ".copy"}, {"export", "-"}, {"signin"}, {"run"}} {
		if line := s.checkRefused(args...); !strings.HasPrefix(line, fmt.Sprintf("database %s: %s", s.database(), damagedFix)) {
			t.Errorf("%s says %q", args[0], line)
		}
	}
	s.stop()
	if !bytes.Equal(s.contents(), damaged) {
		t.Error("the damaged file isn't what it was")
	}
	if text := s.bot.log(); !strings.Contains(text, "started without a database: nothing is kept after the end") {
		t.Errorf("the start doesn't say what is missing:\n%s", text)
	}
}
