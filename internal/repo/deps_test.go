package repo

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports returns each package's imports within the module, and whether it imports any package from
// outside.
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

// TestArrows checks the architecture: which package may import which, outside tests. A rule that
// nobody needs is an error too.
func TestArrows(t *testing.T) {
	may := map[string][]string{
		module:                            {"internal/clock", "internal/durations", "internal/fingerprint", "internal/inner/hook", "internal/limits", "internal/sharing", "shared", "state"},
		"state":                           {},
		"shared":                          {},
		"limitinfo":                       {"root", "internal/inner", "internal/limits"},
		"httpguard":                       {"root", "connguard", "internal/inner", "internal/limits"},
		"connguard":                       {"root"},
		"checkclient":                     {"root"},
		"chatguardtest":                   {"root"},
		"internal/limits":                 {},
		"internal/atomicfile":             {},
		"internal/archive":                {},
		"internal/auth":                   {"internal/hostile"},
		"internal/fileaccess":             {},
		"internal/fingerprint":            {},
		"internal/histogram":              {},
		"internal/hostile":                {},
		"internal/textfile":               {},
		"internal/textkey":                {"internal/atomicfile", "internal/fileaccess"},
		"internal/language":               {"web/static"},
		"internal/recent":                 {},
		"internal/repeats":                {"root", "internal/durations", "internal/inner", "internal/journal", "internal/recent"},
		"internal/inner":                  {"root", "internal/inner/hook", "internal/limits"},
		"internal/inner/hook":             {"internal/limits"},
		"internal/roles":                  {"root", "internal/limits"},
		"internal/journal":                {"root", "internal/hostile", "internal/roles"},
		"internal/chat":                   {"root", "internal/clock", "internal/histogram", "internal/hostile", "internal/inner", "internal/journal", "internal/language", "internal/penalties", "internal/recent", "internal/roles", "internal/watchdog"},
		"internal/clock":                  {},
		"internal/control":                {"root", "internal/auth", "internal/clock", "internal/durations", "internal/hostile", "internal/inner", "internal/journal", "internal/language", "internal/limits", "internal/penalties", "internal/policies", "internal/roles", "limitinfo", "shared"},
		"internal/policies":               {"root", "internal/hostile", "internal/inner", "internal/journal", "shared"},
		"internal/peers":                  {},
		"internal/penalties":              {"root"},
		"internal/chat/twitch":            {"root", "internal/chat", "internal/clock", "internal/hostile", "internal/roles"},
		"internal/chat/faketwitch":        {"root"},
		"internal/chat/twitch/api":        {"internal/chat/twitch", "internal/hostile"},
		"internal/chat/twitch/eventsub":   {"root", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/api", "internal/chat/twitch/helix", "internal/clock", "internal/hostile", "internal/recent", "internal/roles"},
		"internal/chat/twitch/helix":      {"root", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/api", "internal/clock", "internal/histogram", "internal/hostile", "internal/journal", "internal/penalties"},
		"internal/chat/twitch/irc":        {"root", "internal/chat", "internal/chat/twitch", "internal/clock", "internal/hostile", "internal/journal", "internal/roles"},
		"internal/chat/twitch/token":      {"internal/atomicfile", "internal/chat/twitch", "internal/chat/twitch/api", "internal/clock", "internal/fileaccess", "internal/hostile", "internal/textfile"},
		"internal/chat/twitch/person":     {"internal/chat/twitch", "internal/chat/twitch/helix", "internal/chat/twitch/token"},
		"internal/chat/twitch/twitchtest": {"internal/chat", "internal/chat/faketwitch", "internal/waittest"},
		"internal/chat/twitchbot":         {"root", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/eventsub", "internal/chat/twitch/helix", "internal/chat/twitch/irc", "internal/chat/twitch/token", "internal/clock", "internal/config", "internal/journal", "internal/penalties"},
		"internal/persist/signin":         {"internal/auth", "internal/persist/statement"},
		"internal/persist":                {"root", "internal/auth", "internal/hostile", "internal/journal", "internal/persist/signin", "internal/persist/sqlite", "internal/persist/statement", "internal/roles", "internal/watchdog", "state"},
		"internal/persist/transfer":       {"root", "internal/archive", "internal/hostile", "internal/inner", "internal/journal", "internal/persist", "internal/persist/sqlite", "internal/persist/statement", "internal/roles", "internal/textfile", "internal/textkey", "state"},
		"internal/persist/persisttest":    {"root", "internal/penalties"},
		"internal/persist/sqlite":         {"internal/atomicfile", "internal/fileaccess"},
		"internal/persist/statement":      {},
		"internal/restore":                {"internal/archive", "internal/atomicfile", "internal/fileaccess", "internal/persist", "internal/persist/sqlite", "internal/persist/transfer"},
		"internal/lab":                    {"root", "internal/durations", "internal/hostile", "internal/inner", "internal/roles", "limitinfo"},
		"internal/web":                    {"root", "connguard", "internal/auth", "internal/control", "internal/durations", "internal/hostile", "internal/inner", "internal/journal", "internal/lab", "internal/language", "internal/limits", "internal/penalties", "internal/policies", "internal/recent", "internal/roles", "internal/simulate", "internal/web/access", "internal/web/check", "internal/web/live", "internal/web/problem", "internal/webhook", "limitinfo", "shared", "web/static"},
		"internal/web/problem":            {"internal/hostile", "internal/journal", "internal/language"},
		"internal/web/access":             {"root", "connguard", "httpguard", "internal/auth", "internal/hostile", "internal/language", "internal/textfile", "internal/web/problem"},
		"internal/web/twitchsignin":       {"internal/auth", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/person", "internal/chat/twitch/token", "internal/hostile", "internal/language", "internal/roles", "internal/web/access", "internal/web/problem"},
		"internal/web/live":               {"root", "internal/auth", "internal/control", "internal/hostile", "internal/inner", "internal/journal", "internal/penalties", "internal/policies", "internal/roles", "internal/web/problem", "limitinfo", "shared"},
		"internal/web/check":              {"root", "httpguard", "internal/hostile", "internal/inner", "internal/journal", "internal/limits", "internal/roles", "internal/sendtime", "internal/web/problem", "shared"},
		"internal/webhook":                {"internal/auth", "internal/clock", "internal/hostile", "internal/journal"},
		"internal/config":                 {"root", "internal/auth", "internal/durations", "internal/hostile", "internal/inner", "internal/journal", "internal/language", "internal/limits", "internal/penalties", "internal/roles", "internal/textfile", "internal/webhook"},
		"internal/sharing":                {"internal/limits", "shared"},
		"internal/simulate":               {"root", "internal/inner", "internal/journal", "internal/roles", "internal/sendtime", "internal/textfile", "limitinfo"},
		"internal/reports":                {"root", "internal/journal", "internal/policies", "internal/webhook"},
		"internal/sendtime":               {},
		"internal/host":                   {"root", "internal/config", "internal/control", "internal/journal", "internal/persist", "internal/policies", "internal/repeats"},
		"internal/app":                    {"root", "internal/atomicfile", "internal/auth", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/api", "internal/chat/twitch/eventsub", "internal/chat/twitch/helix", "internal/chat/twitch/person", "internal/chat/twitch/token", "internal/chat/twitchbot", "internal/clock", "internal/config", "internal/control", "internal/durations", "internal/host", "internal/hostile", "internal/inner", "internal/journal", "internal/node", "internal/penalties", "internal/persist", "internal/persist/signin", "internal/persist/sqlite", "internal/policies", "internal/reports", "internal/request", "internal/textkey", "internal/web", "internal/web/access", "internal/web/check", "internal/web/live", "internal/web/twitchsignin", "internal/webhook", "shared"},
		"internal/app/apptest":            {},
		"internal/demo":                   {"root", "internal/chat/faketwitch", "internal/chat/twitch", "internal/config", "internal/control", "internal/host", "internal/journal", "internal/persist", "internal/policies", "internal/roles", "internal/textkey"},
		"internal/doctor":                 {"root", "internal/app", "internal/chat", "internal/chat/twitch", "internal/chat/twitch/helix", "internal/chat/twitch/irc", "internal/chat/twitch/token", "internal/chat/twitchbot", "internal/clock", "internal/config", "internal/hostile", "internal/inner", "internal/limits", "internal/node", "internal/persist", "internal/persist/sqlite", "internal/request", "internal/systemd", "internal/web/access", "internal/web/twitchsignin", "limitinfo", "internal/textkey", "redisstore"},
		"internal/request":                {"internal/atomicfile", "internal/fileaccess", "internal/persist/sqlite"},
		"redisstore":                      {"root", "internal/histogram", "internal/inner", "internal/limits", "shared"},
		"internal/limittest":              {"root"},
		"internal/redistest":              {"internal/turntest", "internal/waittest"},
		"sqlitestore":                     {"root", "internal/host", "internal/persist"},
		"dashboard":                       {"root", "internal/auth", "internal/config", "internal/host", "internal/persist", "internal/persist/signin", "internal/web", "internal/web/access", "internal/web/check", "internal/web/live", "shared"},
		"internal/browsertest":            {},
		"internal/programtest":            {},
		"internal/turntest":               {},
		"internal/waittest":               {},
		"cmd/chatguard":                   {"root", "internal/app", "internal/auth", "internal/chat", "internal/chat/faketwitch", "internal/chat/twitch/helix", "internal/chat/twitch/irc", "internal/chat/twitch/token", "internal/chat/twitchbot", "internal/clock", "internal/config", "internal/demo", "internal/doctor", "internal/durations", "internal/fileaccess", "internal/hostile", "internal/inner", "internal/journal", "internal/lab", "internal/limits", "internal/node", "internal/persist", "internal/persist/signin", "internal/persist/sqlite", "internal/persist/transfer", "internal/policies", "internal/request", "internal/restore", "internal/simulate", "internal/systemd", "internal/textfile", "internal/web", "internal/web/access", "limitinfo", "redisstore", "shared", "web/static"},
		"internal/systemd":                {"internal/hostile"},
		"internal/watchdog":               {},
		"internal/node":                   {"root", "internal/chat", "internal/clock", "internal/config", "internal/histogram", "internal/inner", "internal/policies", "internal/textfile", "internal/web/access", "internal/web/live", "redisstore", "shared"},
		"internal/policies/policiestest":  {"shared"},
		"internal/repo":                   {},
		"web/static":                      {},
		"web/pack":                        {"internal/atomicfile", "web/static"},
		"scripts/mutants":                 {},
	}
	own, foreign := imports(t)
	for name, imported := range own {
		allowed, ruled := may[name]
		for _, path := range imported {
			if ruled && !slices.Contains(allowed, path) {
				t.Errorf("%s must not import %s", name, path)
			}
		}
		if !ruled {
			t.Errorf("%s: say in this test what it may import", name)
		}
		for _, path := range allowed {
			if !slices.Contains(imported, path) {
				t.Errorf("%s doesn't import %s: remove it from this test", name, path)
			}
		}
	}
	for _, name := range []string{module, "limitinfo", "httpguard", "checkclient", "chatguardtest", "state", "shared", "internal/clock", "internal/limits", "internal/sharing", "internal/atomicfile", "internal/auth", "internal/fingerprint", "internal/histogram", "internal/hostile", "internal/recent", "internal/journal", "internal/lab", "internal/simulate", "internal/chat", "internal/watchdog", "connguard"} {
		if foreign[name] {
			t.Errorf("%s must only import the standard library", name)
		}
	}
}

// TestRoot_NoHTTP checks that a program which only judges messages doesn't contain an HTTP server.
func TestRoot_NoHTTP(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	if slices.Contains(strings.Fields(string(out)), "net/http") {
		t.Error("the root package imports net/http, directly or not; httpguard is the package for HTTP")
	}
}
