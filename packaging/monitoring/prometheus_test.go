//go:build deploy

package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/programtest"
)

// patience is the maximum time for a program to do something.
const patience = 2 * time.Minute

// buildChatguard builds the binary.
func buildChatguard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chatguard")
	build := exec.Command("go", "build", "-o", path, "../../cmd/chatguard")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// promtool runs promtool, which must have no complaints.
func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	cmd := exec.Command("promtool", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "FAILED") {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// get returns the body of an answer with status 200.
func get(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", address, answer.Status, err, body)
	}
	return string(body)
}

// readFile returns the content of a file in this folder.
func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// prometheus is a running Prometheus.
type prometheus struct {
	*testing.T
	address string
}

// startPrometheus starts a Prometheus with a configuration and alerts.yml.
func startPrometheus(t *testing.T, configuration string) *prometheus {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"prometheus.yml": strings.ReplaceAll(configuration, "_interval: 15s", "_interval: 1s"),
		"alerts.yml":     readFile(t, "alerts.yml"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(folder, "prometheus.yml")
	promtool(t, "", "check", "config", "--lint=all", "--lint-fatal", file)
	started := programtest.Start(t, exec.Command("prometheus", "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address=127.0.0.1:0"), `msg="Listening on" address=(\S+)`)
	p := &prometheus{t, "http://" + started.Found}
	p.until("Prometheus is ready", func() bool {
		return status(t, p.address+"/-/ready") == http.StatusOK
	})
	return p
}

// status returns the status of an answer.
func status(t *testing.T, address string) int {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// until waits until something is the case.
func (p *prometheus) until(what string, is func() bool) {
	p.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for gaveUp := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(gaveUp) {
			p.Fatalf("not until %s", what)
		}
	}
}

// ask asks Prometheus' API, and decodes the data.
func (p *prometheus) ask(path string, into any) {
	p.Helper()
	answer := struct {
		Status string
		Data   any
	}{Data: into}
	err := json.Unmarshal([]byte(get(p.T, p.address+"/api/v1/"+path)), &answer)
	if err != nil || answer.Status != "success" {
		p.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
}

// count returns how many series an expression has now.
func (p *prometheus) count(expression string) int {
	p.Helper()
	var data struct{ Result []json.RawMessage }
	p.ask("query?query="+url.QueryEscape(expression), &data)
	return len(data.Result)
}

// waitFor waits until each expression has data, and reports those that never have any.
func (p *prometheus) waitFor(expressions map[string]string) {
	p.Helper()
	defer func() {
		for expression, whose := range expressions {
			p.Errorf("%s: no data for %s", whose, expression)
		}
	}()
	p.until("all expressions have data", func() bool {
		for expression := range expressions {
			if p.count(expression) > 0 {
				delete(expressions, expression)
			}
		}
		return len(expressions) == 0
	})
}

// rules are the alerts as Prometheus has loaded them.
type rules struct {
	Groups []struct {
		Rules []struct{ Name, Query, Health, LastError string }
	}
}

// loadedRules returns the alerts once Prometheus has evaluated them all.
func (p *prometheus) loadedRules() (loaded rules) {
	p.Helper()
	p.until("all alerts are evaluated", func() bool {
		loaded = rules{}
		p.ask("rules", &loaded)
		for _, rule := range loaded.Groups[0].Rules {
			if rule.Health == "unknown" {
				return false
			}
		}
		return true
	})
	return loaded
}

// TestPromtool checks the files as an operator would.
func TestPromtool(t *testing.T) {
	promtool(t, "", "check", "rules", "--lint=all", "--lint-fatal", "alerts.yml")
	promtool(t, "", "check", "config", "--lint=all", "--lint-fatal", "prometheus.yml")
	promtool(t, "", "test", "rules", "alerts_test.yml")
}

// optional matches expressions that have no data in the demo: it is one node, nobody signs in with
// Twitch, and all penalties succeed.
var optional = regexp.MustCompile(`chatguard_shared_|sign_ins|result(!="done"|="failed")`)

// comparison matches the end of an alert's expression, from its threshold on.
var comparison = regexp.MustCompile(` (==|<|>) .*$`)

// TestPrometheus lets Prometheus read the demo's metrics, and asks it everything that the dashboard
// and the alerts ask.
func TestPrometheus(t *testing.T) {
	demo := programtest.Start(t, exec.Command(buildChatguard(t), "demo", "--listen", "127.0.0.1:0",
		"--raid-every", "10s"), `Dashboard: (http://\S+?)/`).Found
	server := strings.TrimPrefix(demo, "http://")
	configuration := strings.ReplaceAll(readFile(t, "prometheus.yml"), "127.0.0.1:8080", server)
	p := startPrometheus(t, configuration)
	expressions := dashboardExpressions(t)
	loaded := p.loadedRules()
	for _, rule := range loaded.Groups[0].Rules {
		if rule.Health != "ok" {
			t.Errorf("%s: %s, %s", rule.Name, rule.Health, rule.LastError)
		}
		expressions[comparison.ReplaceAllString(rule.Query, "")] = rule.Name
	}
	want := strings.Count(readFile(t, "alerts.yml"), "- alert: ")
	if len(loaded.Groups[0].Rules) != want {
		t.Errorf("Prometheus has %d alerts, want %d", len(loaded.Groups[0].Rules), want)
	}
	for expression := range expressions {
		if optional.MatchString(expression) {
			p.count(expression) // it parses
			delete(expressions, expression)
		}
	}
	if len(expressions) < 50 {
		t.Errorf("only %d expressions", len(expressions))
	}
	p.waitFor(expressions)
	if n := p.count(`ALERTS{alertstate="firing"}`); n != 0 {
		t.Errorf("%d alerts fire in the demo", n)
	}
	var channels []string
	p.ask("label/channel/values?match[]=chatguard_messages_total", &channels)
	if fmt.Sprint(channels) != "[gardenhour teahouse]" {
		t.Errorf("channels %q", channels)
	}
	promtool(t, get(t, demo+"/metrics"), "check", "metrics")
}

// dashboardExpressions returns the expressions of the dashboard, as Grafana sends them if all
// instances and channels are chosen, with the titles of their panels.
func dashboardExpressions(t *testing.T) map[string]string {
	t.Helper()
	type target struct{ Expr string }
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []target
		}
		Annotations struct{ List []target }
	}
	if err := json.Unmarshal([]byte(readFile(t, "grafana-dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "30s", "$instance", ".*", "$channel", ".*")
	expressions := map[string]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expressions[variables.Replace(target.Expr)] = panel.Title
		}
	}
	for _, a := range dashboard.Annotations.List {
		if a.Expr != "" {
			expressions[comparison.ReplaceAllString(variables.Replace(a.Expr), "")] = "annotations"
		}
	}
	return expressions
}

// commented matches lines of the second job in prometheus.yml.
var commented = regexp.MustCompile(`(?m)^  #(- |  )`)

// TestPrometheus_Token uses the job with a token. Without the token, chatguard refuses.
func TestPrometheus_Token(t *testing.T) {
	binary, folder, server := buildChatguard(t), t.TempDir(), programtest.FreeAddress(t).String()
	configuration, token := filepath.Join(folder, "chatguard.toml"), filepath.Join(folder, "token")
	content := fmt.Appendf(nil, `[check]
channels = ["hall"]
[web]
listen = %q
public_url = "https://chat.example.org"
`, server)
	if err := os.WriteFile(configuration, content, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary, append(args, "--config", configuration)...)
		cmd.Dir = folder
		return cmd
	}
	programtest.Start(t, run("run"), "Dashboard: https://chat.example.org/")
	made, err := run("token", "make", "prometheus", "--role", "view").Output()
	if err == nil {
		err = os.WriteFile(token, made, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := status(t, "http://"+server+"/metrics"); got != http.StatusUnauthorized {
		t.Errorf("without a token: status %d", got)
	}
	file := commented.ReplaceAllString(readFile(t, "prometheus.yml"), "  $1")
	file = strings.NewReplacer("scheme: https", "scheme: http", "chat.example.org", server,
		"/etc/prometheus/chatguard.token", token, "127.0.0.1:8080", server).Replace(file)
	p := startPrometheus(t, file)
	p.waitFor(map[string]string{
		`up{job="chatguard-remote"} == 1`: "the job with a token",
		`up{job="chatguard"} == 0`:        "the job without one",
		"chatguard_build_info":            "the job with a token",
	})
}
