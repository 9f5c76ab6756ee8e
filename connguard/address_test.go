package connguard

import (
	"net/netip"
	"testing"
)

func TestAddressBlock(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "", "2001:db8:1:2:3:4:5:6": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48", "::ffff:192.0.2.7": "",
		"64:ff9b::192.0.2.7": "", "64:ff9b:1::192.0.2.7": "64:ff9b:1::/48",
	} {
		if got := AddressBlock(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is of %q, want %q", addr, got, want)
		}
	}
}

func TestAddressKey(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
		"::ffff:192.0.2.7": "192.0.2.7", "64:ff9b::192.0.2.7": "192.0.2.7", "64:ff9b::1:0:0": "64:ff9b::/64", "64:ff9b:1::192.0.2.7": "64:ff9b:1::/64",
	} {
		if got := AddressKey(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s counts under %s, want %s", addr, got, want)
		}
	}
}
