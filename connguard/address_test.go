package connguard

import (
	"net/netip"
	"testing"
)

func TestAddressBlock(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "", "2001:db8:1:2:3:4:5:6": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48", "::ffff:192.0.2.7": "",
		"64:ff9b::192.0.2.7": "", "64:ff9b::192.0.2.7%eth0": "", "64:ff9b:1::192.0.2.7": "64:ff9b:1::/48",
	} {
		if got := AddressBlock(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is of %q, want %q", addr, got, want)
		}
	}
}

func TestAddressKey(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
		"::ffff:192.0.2.7": "192.0.2.7", "64:ff9b::192.0.2.7": "192.0.2.7", "64:ff9b::192.0.2.7%eth0": "192.0.2.7", "64:ff9b::1:0:0": "64:ff9b::/64", "64:ff9b:1::192.0.2.7": "64:ff9b:1::/64",
	} {
		if got := AddressKey(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s counts under %s, want %s", addr, got, want)
		}
	}
}

func TestNetwork(t *testing.T) {
	for _, test := range []struct {
		addr string
		bits int
		want string
	}{
		{"192.0.2.7", 64, "192.0.2.7/32"}, {"::ffff:192.0.2.7", 48, "192.0.2.7/32"}, {"64:ff9b::192.0.2.7", 128, "192.0.2.7/32"},
		{"64:ff9b::192.0.2.7%eth0", 128, "192.0.2.7/32"}, {"2001:db8:1:2:3:4:5:6", 56, "2001:db8:1::/56"}, {"fe80::1%eth0", 128, "fe80::1/128"},
		{"2001:db8::1", 129, "invalid Prefix"}, {"2001:db8::1", -1, "invalid Prefix"},
	} {
		if got := Network(netip.MustParseAddr(test.addr), test.bits).String(); got != test.want {
			t.Errorf("%s, %d bits: %s, want %s", test.addr, test.bits, got, test.want)
		}
	}
	if got := Network(netip.Addr{}, 64); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
}
