package redisstore

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumber_AllTaken checks that nodes have different numbers, and get one when it is free again.
func TestNumber_AllTaken(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	args := []string{"MSET"}
	for n := range 256 {
		args = append(args, fmt.Sprint("cg1:number:", n), "other 1")
	}
	r.must(args...)
	renew := func() {
		t.Helper()
		must(t, s.number.renew(t.Context()))
	}
	renew()
	if n, ok := s.Number(); ok {
		t.Errorf("number %d is taken", n)
	}
	r.must("DEL", "cg1:number:77")
	renew()
	if n, ok := s.Number(); n != 77 || !ok {
		t.Errorf("number %d, %t", n, ok)
	}
	record := mustString(t, r.must("GET", "cg1:number:77"))
	renew() // too soon
	if now := mustString(t, r.must("GET", "cg1:number:77")); now != record {
		t.Errorf("renewed at once: %q, %q", record, now)
	}
	// A renewal whose reply was lost, and then a renewal.
	lease := *s.number.lease.Load()
	lease.renewed = lease.renewed.Add(-2 * numberRenew)
	s.number.lease.Store(&lease)
	r.must("SET", "cg1:number:77", s.server.instance+" lost")
	renew()
	renew()
	if now := mustString(t, r.must("GET", "cg1:number:77")); now == record || !strings.HasPrefix(now, s.server.instance) {
		t.Errorf("not renewed: %q", now)
	}
	// Another node has the number now.
	lease = *s.number.lease.Load()
	lease.renewed = lease.renewed.Add(-numberExpires)
	s.number.lease.Store(&lease)
	if _, ok := s.Number(); ok {
		t.Error("a number is held after it has expired")
	}
	r.must("SET", "cg1:number:77", "other 1")
	renew()
	if _, ok := s.Number(); ok {
		t.Error("a number of another node is held")
	}
}
