package chatguard_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/chatguard/chatguard"

// imports returns what each package of the module imports from the module, and whether it imports anything foreign.
func imports(t *testing.T) (own map[string][]string, foreign map[string]bool) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	own, foreign = map[string][]string{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module+"/")
		for _, path := range fields[1:] {
			first, _, _ := strings.Cut(path, "/")
			switch {
			case path == module:
				own[name] = append(own[name], "root")
			case strings.HasPrefix(path, module+"/"):
				own[name] = append(own[name], strings.TrimPrefix(path, module+"/"))
			case strings.Contains(first, "."):
				foreign[name] = true
			}
		}
	}
	return own, foreign
}

// TestArrows holds the architecture: who may know whom.
func TestArrows(t *testing.T) {
	may := map[string][]string{
		module:                     {"internal/limits"},
		"internal/limits":          {},
		"internal/journal":         {"root"},
		"internal/chat":            {"root", "internal/clock", "internal/journal"},
		"internal/clock":           {},
		"internal/control":         {"root", "internal/clock", "internal/journal"},
		"internal/chat/twitch":     {"root", "internal/chat", "internal/clock"},
		"internal/chat/faketwitch": {"root"},
		"internal/persist":         {"root", "internal/journal"},
		"internal/web":             {"root", "internal/journal", "internal/preview", "internal/sendtime", "web/static"},
		"internal/config":          {"root", "internal/journal"},
		"internal/preview":         {"root", "internal/journal"},
		"internal/replay":          {"root", "internal/sendtime"},
		"internal/sendtime":        {},
		"internal/embedded":        {"root", "internal/config", "internal/control", "internal/journal", "internal/persist"},
		"sqlitestore":              {"root", "internal/embedded", "internal/persist"},
		"dashboard":                {"root", "internal/config", "internal/embedded", "internal/journal", "internal/persist", "internal/web", "sqlitestore"},
		"internal/browsertest":     {},
		"web/static":               {},
	}
	own, foreign := imports(t)
	for name, imported := range own {
		allowed, ruled := may[name]
		for _, path := range imported {
			if ruled && !slices.Contains(allowed, path) {
				t.Errorf("%s must not import %s", name, path)
			}
		}
		if !ruled && !strings.HasPrefix(name, "cmd/") {
			t.Errorf("%s: say in this test what it may import", name)
		}
	}
	for _, name := range []string{module, "internal/limits", "internal/journal", "internal/preview", "internal/chat"} {
		if foreign[name] {
			t.Errorf("%s must only import the standard library", name)
		}
	}
}
