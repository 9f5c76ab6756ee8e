// Package monitoring checks what Prometheus and Grafana make of chatguard: a real Prometheus reads
// the metrics of a running chatguard. `make test-deploy` runs the tests.
package monitoring
