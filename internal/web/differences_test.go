//go:build !race

package web

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/policies"
)

func TestDifferences_ToConfiguration(t *testing.T) {
	d := dash(t)
	changes := func() string { return string(d.do("GET", policyPath+"/differences", nil, asOwner).body) }
	if got := changes(); got != "{\"changes\":[]}\n" {
		t.Errorf("without changes: %s", got)
	}
	decode[policies.Revised](t, d.put(func(p *chatguard.Policy) { p.Limits[0].Burst, p.Limits[0].Refill = 5, time.Minute }))
	if _, err := d.control.Switches.Pause(t.Context(), channelID, "berta"); err != nil {
		// changes nothing in the stated policy
		t.Fatal(err)
	}
	if got := changes(); got != `{"changes":[{"key":"limit.burst.burst","from":3,"to":5},{"key":"limit.burst.refill","from":"10m","to":"1m"}]}`+"\n" {
		t.Errorf("with changes: %s", got)
	}
}

func TestExportPolicy(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.ExportPolicy = func(p chatguard.Policy) ([]byte, error) {
			return fmt.Appendf(nil, "burst = %d\n", p.Limits[0].Burst), nil
		}
	})
	decode[policies.Revised](t, d.put(burst(5)))
	a := d.do("GET", policyPath+"/export", nil, asOwner)
	if a.StatusCode != http.StatusOK || string(a.body) != "burst = 5\n" || a.Header.Get("Content-Type") != "application/toml" ||
		a.Header.Get("Content-Disposition") != `attachment; filename="chatguard-somechannel.toml"` {
		t.Errorf("%s %v %s", a.Status, a.Header, a.body)
	}
}

func TestFileName_Portable(t *testing.T) {
	if got := fileName("Tea\"Time/../\r\nhöur_1"); got != "teatimehur_1" {
		t.Error(got)
	}
}
