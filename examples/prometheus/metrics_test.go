package metrics

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/chatguard/chatguard"
)

// scrape returns what Prometheus reads from a server on loopback.
func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRegister(t *testing.T) {
	guard, err := chatguard.New(chatguard.Policy{
		Exempt: []chatguard.Role{chatguard.RoleModerator},
		Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 3, time.Hour)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	if err := Register(guard, registry); err != nil {
		t.Fatal(err)
	}
	anna, eve := chatguard.User{ID: "anna"}, chatguard.User{ID: "eve", Roles: chatguard.Roles{chatguard.RoleModerator}}
	for _, user := range []chatguard.User{anna, anna, anna, anna, anna, eve} {
		if _, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: user}); err != nil {
			t.Fatal(err)
		}
	}
	text := scrape(t, registry)
	for _, line := range []string{
		`chatguard_messages_total{limit="",outcome="allowed"} 3`,
		`chatguard_messages_total{limit="",outcome="exempt"} 1`,
		`chatguard_messages_total{limit="burst",outcome="throttled"} 2`,
		`chatguard_cost_total 3`,
		`chatguard_users 1`,
		`chatguard_evicted_users_total 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	if err := Register(guard, registry); err == nil {
		t.Error("the same metrics could be registered twice")
	}
}
