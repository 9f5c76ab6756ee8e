package connguard_test

import (
	"fmt"
	"net/netip"

	"github.com/chatguard/chatguard/connguard"
)

func ExampleAddressKey() {
	addr := netip.MustParseAddr("2001:db8:1:2::7")
	fmt.Println(connguard.AddressKey(addr), "is one client")
	fmt.Println(connguard.AddressBlock(addr), "may belong to one owner")
	// Output:
	// 2001:db8:1:2::/64 is one client
	// 2001:db8:1::/48 may belong to one owner
}
