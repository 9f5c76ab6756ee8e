//go:build !race

package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// A request body has a maximum size, which depends on the request.
func TestBody_Bounded(t *testing.T) {
	d := dash(t)
	text := func(bytes int) string { return strings.Repeat("x", bytes) }
	matching := setHeader("If-Match", "*")
	d.wantProblem("a secret", "POST", "/api/v1/session", access.Secret{Code: text(4 << 10)}, nil, 413, "more than the 4096 bytes")
	d.wantProblem("a length", "POST", channelPath+"/raid", map[string]string{"for": text(64 << 10)}, owned, 413, "more than the 65536 bytes")
	d.wantProblem("an override", "PUT", channelPath+"/users/41/override", map[string]string{"timezone": text(64 << 10)}, owned, 413, "more than the 65536 bytes")
	policy := config.DefaultPolicy()
	policy.Timezone = text(64 << 10)
	d.wantProblem("a large policy", "PUT", policyPath, policy, append(owned, matching), 422, "timezone")
	policy.Timezone = text(1 << 20)
	d.wantProblem("a larger one", "PUT", policyPath, policy, append(owned, matching), 413, "more than the 1048576 bytes")
}

// A problem quotes only the beginning of what the caller sent.
func TestProblem_QuotesBeginning(t *testing.T) {
	d := dash(t)
	long := strings.Repeat("y", 4000)
	policy := map[string]any{"mode": "observe", "exempt": []string{long}, "timezone": "UTC", "limits": []any{}, "penalties": map[string]any{}}
	for name, a := range map[string]answer{
		"key":          d.do("POST", "/api/v1/session", map[string]string{long: "x"}),
		"number":       d.do("PUT", policyPath, map[string]any{"exempt": json.RawMessage(strings.Repeat("7", 4000))}, asOwner, setHeader("If-Match", "*")),
		"role":         d.do("PUT", policyPath, policy, asOwner, setHeader("If-Match", "*")),
		"channel":      d.do("GET", "/api/v1/channels/"+long+"/policy", nil, asOwner),
		"parameter":    d.do("GET", "/api/v1/journal?"+long+"=1", nil, asOwner),
		"of a journal": d.do("GET", "/api/v1/journal?result="+long, nil, asOwner),
		"span":         d.do("GET", "/api/v1/rates?span="+long, nil, asOwner),
		"length":       d.do("POST", channelPath+"/raid", map[string]string{"for": long}, asOwner),
		"limit":        d.do("GET", channelPath+"/users/41/week?limit="+long, nil, asOwner),
		"shared":       d.do("GET", channelPath+"/week?limit="+long, nil, asOwner),
	} {
		most := problem.MaxQuoted
		if name == "role" { // other problems quote it
			most = problem.MaxDetail
		}
		if n := strings.Count(string(a.body), "y") + strings.Count(string(a.body), "7"); a.StatusCode/100 != 4 || n > most+10 {
			t.Errorf("%s: %s, %d bytes are quoted: %.300s", name, a.Status, n, a.body)
		}
	}
}
