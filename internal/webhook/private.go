package webhook

import (
	"net/netip"
	"slices"
	"syscall"
)

// privateError is the error for an address that isn't on the public internet.
type privateError struct {
	host string // as text: an IP address, or a name
}

func (e *privateError) Error() string {
	return e.host + " is not an address on the public internet" + allowPrivate
}

// allowPrivate is the fix for an address that isn't on the public internet.
const allowPrivate = ": only a webhook of the configuration with allow_private = true may go there"

// prefixes returns the prefixes of a list.
func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, text := range list {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// special4 are the IPv4 addresses that aren't on the public internet: those of the IANA registry of
// special-purpose addresses, multicast, and an address within clouds.
var special4 = prefixes(
	"0.0.0.0/8",        // this host
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // behind a carrier's NAT; metadata of a cloud
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's own services
	"169.254.0.0/16",   // link-local; metadata of most clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; metadata of a cloud
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
)

// global6 has the IPv6 addresses that are assigned on the public internet, and special6 are the
// exceptions.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes(
		"2001::/23",     // protocol assignments, Teredo
		"2001:db8::/32", // documentation
		"3fff::/20",     // documentation
	)
)

// embedded4 has the prefixes of IPv6 addresses that contain an IPv4 address. at is the byte at
// which the IPv4 address begins.
var embedded4 = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
}

// isPublic reports whether an address is on the public internet.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	contains := func(p netip.Prefix) bool { return p.Contains(ip) }
	switch {
	case !ip.IsValid() || ip.Zone() != "":
		return false
	case ip.Is4():
		return !slices.ContainsFunc(special4, contains)
	}
	for _, e := range embedded4 {
		if e.Contains(ip) {
			bytes := ip.As16()
			return isPublic(netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])))
		}
	}
	return global6.Contains(ip) && !slices.ContainsFunc(special6, contains)
}

// checkPublic returns a privateError unless an address is on the public internet.
func checkPublic(ip netip.Addr) error {
	if !isPublic(ip) {
		return &privateError{host: ip.String()}
	}
	return nil
}

// dialPublic is the Control of a dialer that only connects to public addresses. The dialer calls it
// with the address to which it is about to connect, so that names can't lead elsewhere later.
func dialPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &privateError{host: address}
	}
	return checkPublic(at.Addr())
}
