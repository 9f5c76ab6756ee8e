package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// collect returns all values, by instrument and attributes.
func collect(t *testing.T, reader sdk.Reader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	values := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, p := range points(t, m.Data) {
				outcome, _ := p.Attributes.Value("outcome")
				limit, _ := p.Attributes.Value("limit")
				values[fmt.Sprintf("%s %s %s", m.Name, outcome.AsString(), limit.AsString())] = p.Value
			}
		}
	}
	return values
}

func points(t *testing.T, data metricdata.Aggregation) []metricdata.DataPoint[int64] {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		return d.DataPoints
	case metricdata.Gauge[int64]:
		return d.DataPoints
	}
	t.Errorf("a metric of type %T", data)
	return nil
}

func TestRegister(t *testing.T) {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 3, time.Hour),
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	defer func() {
		if err := provider.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := Register(guard, provider.Meter("chat")); err != nil {
		t.Fatal(err)
	}
	limit, err := httpguard.Limit(guard, httpguard.ByAddress(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(limit(http.NotFoundHandler()))
	defer server.Close()
	for range 5 {
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int64{
		"chatguard.messages allowed ":        3,
		"chatguard.messages throttled burst": 2,
		"chatguard.cost  ":                   3,
		"chatguard.users  ":                  1,
		"chatguard.evicted_users  ":          0,
	}
	if got := collect(t, reader); !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
}
