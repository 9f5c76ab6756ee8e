// Package schema checks the dashboard for Grafana against Grafana's own types. It is a module of
// its own, because the types are large.
package schema

import (
	"os"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// TestDashboard_Schema checks that Grafana knows each field of the dashboard, of its panels and of
// their queries, and that no required field is missing.
func TestDashboard_Schema(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	content, err := os.ReadFile("../grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard.Dashboard
	// An empty list of errors is no nil.
	if err := d.UnmarshalJSONStrict(content); err != nil && err.Error() != "" {
		t.Error(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if len(d.Panels) == 0 {
		t.Error("there are no panels")
	}
}
