//go:build !race

package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
)

var updateAlgorithms = flag.Bool("update-algorithms", false, "write the answer of GET /algorithms for the tests of the dashboard's modules")

// algorithmsOfTests is the answer of GET /algorithms that the tests of the dashboard's modules use.
const algorithmsOfTests = "../../web/test/algorithms.json"

func TestAlgorithms(t *testing.T) {
	d := dash(t)
	a := d.do("GET", "/api/v1/algorithms", nil, setBearer(d.newToken(auth.View)))
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.Status)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, bytes.TrimSpace(a.body), "", "\t"); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *updateAlgorithms {
		if err := os.WriteFile(algorithmsOfTests, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(algorithmsOfTests)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is outdated (%v); run go test ./internal/web -run TestAlgorithms -update-algorithms", algorithmsOfTests, err)
	}
	d.wantStatus("a token for checks", http.StatusForbidden, "GET", "/api/v1/algorithms", nil, setBearer(d.newToken(auth.Check)))
}
