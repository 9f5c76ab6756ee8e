package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// TestShared_ClusterPlacement checks that a policy whose rows the placement spreads over a Cluster
// is refused with the fix: at the start, by doctor, by a reload, and on the dashboard.
func TestShared_ClusterPlacement(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")
	sendCommand(t, server, "CONFIG SET cluster-announce-ip 127.0.0.1")
	sendCommand(t, server, "CLUSTER ADDSLOTSRANGE 0 16383")
	table := func(placement string) string {
		return fmt.Sprintf("\n[shared]\nmode = \"exact\"\nurl = \"redis+cluster://%s\"\ntimeout = %q\nnamespace = %q\nplacement = %q\n", server.Addr(), patience, placement, placement)
	}
	const perChannel = "\n[[channel.lobby.limit]]\nname = \"room\"\nper = \"channel\"\nalgorithm = \"token-bucket\"\nburst = 9\nrefill = \"1s\"\n"
	const fix = `set it to "channel", and another shared.namespace, on all nodes`
	configuration := filepath.Join(t.TempDir(), "chatguard.toml")

	writeRooms(t, configuration, perChannel+table("user"))
	checkShared(t, configuration, "run", exitUsage, `shared.placement: on a Cluster, "user" as shared.placement doesn't suit the limit "room", which a whole channel shares: `+fix)
	checkShared(t, configuration, "doctor", exitFailed, "problem  shared store", fix)

	writeRooms(t, configuration, table("user"))
	s := &roomServer{T: t, configuration: configuration, owner: webToken}
	s.start()
	waittest.Until(t, func() bool { _, degraded := s.verdict("anna"); return !degraded }) // the Cluster needs a moment
	policy := s.address + "api/v1/channels/check:hall/policy"
	_, inForce := sendRequest(t, "GET", policy, "", "Authorization", "Bearer "+webToken)
	const room = `"limits":[{"name":"room","per":"channel","algorithm":"token-bucket","burst":9,"refill":"1s"},`
	for body, want := range map[string]int{inForce: http.StatusOK, strings.Replace(inForce, `"limits":[`, room, 1): http.StatusUnprocessableEntity} {
		answer, text := sendRequest(t, "PUT", policy, body, "Authorization", "Bearer "+webToken, "If-Match", "*")
		if answer.StatusCode != want || want != http.StatusOK && !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), fix) {
			t.Errorf("PUT %s: %s %s, want %d", body, answer.Status, text, want)
		}
	}
	writeRooms(t, configuration, perChannel+table("user"))
	checkShared(t, configuration, "reload", exitFailed, fix)
	s.stop(t)

	writeRooms(t, configuration, perChannel+table("channel"))
	s.start()
	waittest.Until(t, func() bool { _, degraded := s.verdict("berta"); return !degraded })
	s.stop(t)
}
