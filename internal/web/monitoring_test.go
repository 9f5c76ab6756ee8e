//go:build !race

package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Names follow https://prometheus.io/docs/practices/naming/, so that promtool has no complaints.
func TestFamilies_Conventions(t *testing.T) {
	for name, f := range families {
		if !regexp.MustCompile(`^(chatguard|process|go)(_[a-z]+)+$`).MatchString(name) {
			t.Errorf("%s: not a name in lower case with a prefix", name)
		}
		if isTotal := strings.HasSuffix(name, "_total"); isTotal != (f.kind == "counter") {
			t.Errorf("%s: is a %s", name, f.kind)
		}
		if (f.kind == "histogram" || f.kind == "summary") && !regexp.MustCompile(`_(seconds|bytes|rows)$`).MatchString(name) {
			t.Errorf("%s: a %s needs a unit", name, f.kind)
		}
		if regexp.MustCompile(`_(gauge|counter|summary|histogram|count|sum|bucket|ms|milliseconds|minutes|hours|kilobytes|mb)(_|$)`).MatchString(name) {
			t.Errorf("%s: contains a type, a reserved word or a unit that isn't a base unit", name)
		}
		if !strings.HasSuffix(f.help, ".") || strings.Contains(f.help, "\n") || strings.Contains(f.help, "|") {
			t.Errorf("%s: help %q isn't a sentence", name, f.help)
		}
	}
}

// monitoringFile returns the content of a file that operators copy.
func monitoringFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var metricName = regexp.MustCompile(`\b(?:chatguard|process|go)_[a-z_]+[a-z]\b`)

// What Prometheus and Grafana ask for exists.
func TestMonitoring_NamesExist(t *testing.T) {
	for path, least := range map[string]int{
		"packaging/monitoring/alerts.yml": 15, "packaging/monitoring/alerts_test.yml": 15, "packaging/monitoring/grafana-dashboard.json": 40, "docs/monitoring.md": len(families),
	} {
		found := map[string]bool{}
		for _, name := range metricName.FindAllString(monitoringFile(t, path), -1) {
			family := familyOf(name)
			if _, ok := families[family]; !ok {
				t.Errorf("%s: there is no metric %s", path, name)
			}
			if kind := families[family].kind; family == name && kind == "histogram" && strings.HasSuffix(path, "json") {
				t.Errorf("%s: %s is a histogram, of which nothing is called that", path, name)
			}
			found[family] = true
		}
		if len(found) < least {
			t.Errorf("%s: only %d metrics", path, len(found))
		}
	}
}

// The tables in docs/monitoring.md have all metrics, with their types and their help.
func TestMonitoring_Tables(t *testing.T) {
	rows := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| .([a-z_]+)(?:\{[a-z_,]+\})?. \| (counter|gauge|histogram|summary) \| (.*) \|$`).FindAllStringSubmatch(monitoringFile(t, "docs/monitoring.md"), -1) {
		if rows[row[1]] != nil {
			t.Errorf("%s is listed twice", row[1])
		}
		rows[row[1]] = row[2:]
	}
	for name, f := range families {
		if want := []string{f.kind, f.help}; !slices.Equal(rows[name], want) {
			t.Errorf("%s is listed as %q, want %q", name, rows[name], want)
		}
	}
}

// Each alert is tested and listed, and says what happened and what to do.
func TestMonitoring_Alerts(t *testing.T) {
	tests, page := monitoringFile(t, "packaging/monitoring/alerts_test.yml"), monitoringFile(t, "docs/monitoring.md")
	rules := strings.Split(monitoringFile(t, "packaging/monitoring/alerts.yml"), "- alert: ")[1:]
	for _, rule := range rules {
		name, rest, _ := strings.Cut(rule, "\n")
		for _, key := range []string{"expr", "for", "severity", "summary", "description"} {
			if !regexp.MustCompile(`(?m)^ +` + key + `: `).MatchString(rest) {
				t.Errorf("%s has no %s", name, key)
			}
		}
		if !strings.Contains(tests, `alertname="`+name+`"`) {
			t.Errorf("%s has no test", name)
		}
		if !strings.Contains(page, "\n| `"+name+"` | ") {
			t.Errorf("docs/monitoring.md doesn't list %s", name)
		}
	}
	if len(rules) < 15 {
		t.Errorf("only %d alerts", len(rules))
	}
}

// Grafana can import the dashboard: each panel has a place, a title, an explanation and a query of
// the data source that is chosen at the top.
func TestMonitoring_Dashboard(t *testing.T) {
	var dashboard struct {
		UID           string
		Title         string
		Tags          []string
		SchemaVersion int
		Templating    struct{ List []struct{ Name, Type string } }
		Panels        []struct {
			ID                       int
			Type, Title, Description string
			GridPos                  struct{ H, W, X, Y int }
			Datasource               struct{ UID string }
			Targets                  []struct{ Expr, RefID string }
		}
	}
	decoder := json.NewDecoder(strings.NewReader(monitoringFile(t, "packaging/monitoring/grafana-dashboard.json")))
	if err := decoder.Decode(&dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.UID != "chatguard" || dashboard.Title != "chatguard" || dashboard.SchemaVersion < 36 || len(dashboard.Tags) == 0 {
		t.Errorf("%q, %q, %d, %q", dashboard.UID, dashboard.Title, dashboard.SchemaVersion, dashboard.Tags)
	}
	var variables []string
	for _, v := range dashboard.Templating.List {
		variables = append(variables, v.Name)
	}
	if !slices.Equal(variables, []string{"datasource", "instance", "channel"}) {
		t.Errorf("variables %q", variables)
	}
	ids, bottom := map[int]bool{}, 0
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.H < 1 || p.GridPos.Y < bottom-p.GridPos.H {
			t.Errorf("panel %d %q at %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID], bottom = true, max(bottom, p.GridPos.Y+p.GridPos.H)
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("panel %q lacks its explanation, data source or queries", p.Title)
		}
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, `instance=~"$instance"`) {
				t.Errorf("panel %q ignores the chosen instance: %s", p.Title, target.Expr)
			}
		}
	}
}
