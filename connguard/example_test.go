package connguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// A server that knows who connects, for example by a client's certificate.
func ExampleDoor_Admit() {
	door, err := connguard.New(newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second)), &connguard.Options{
		MaxConnections:           1,
		MaxConnectionsPerAddress: 20,
		Connects:                 chatguard.TokenBucketLimit("connects", 2, time.Hour),
		ConnectsPerAddress:       connguard.NoLimit(),
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		session, err := door.Admit(context.Background(), chatguard.User{ID: "anna"}, netip.MustParseAddr("192.0.2.7"), "lobby")
		if err != nil {
			text, wait := connguard.Answer(err)
			fmt.Println(errors.Is(err, connguard.ErrConnections), wait, text)
			continue
		}
		defer session.Close() // also if the handler panics
	}
	// Output:
	// true 5s You have too many connections open. Close one, then try again.
	// false 1h0m0s Too many connection attempts. Try again in 60 min.
}

// A chat that visitors may enter without signing in.
func ExampleSession_Admit() {
	door, err := connguard.New(newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second)), nil)
	if err != nil {
		log.Fatal(err)
	}
	addr := netip.MustParseAddr("2001:db8:1:2::7")
	for _, name := range []string{"anna", "address:192.0.2.7", ""} {
		session, err := door.Accept(context.Background(), addr)
		if err != nil {
			log.Fatal(err)
		}
		defer session.Close()
		user := chatguard.User{ID: name}
		if name == "" { // or connguard.AnonymousID, for one allowance of all visitors
			user = chatguard.User{ID: connguard.AddressID(addr, 64), Visitor: true}
		}
		err = session.Admit(context.Background(), user, "lobby")
		fmt.Printf("%q enters as %q; reserved: %v, %v\n", name, session.User().ID, connguard.IsReservedID(name), errors.Is(err, connguard.ErrReservedID))
	}
	// Output:
	// "anna" enters as "anna"; reserved: false, false
	// "address:192.0.2.7" enters as ""; reserved: true, true
	// "" enters as "address:2001:db8:1:2::/64"; reserved: false, false
}

func ExampleAddressKey() {
	addr := netip.MustParseAddr("2001:db8:1:2::7")
	fmt.Println(connguard.AddressKey(addr), "is one client")
	fmt.Println(connguard.AddressBlock(addr), "may belong to one owner")
	fmt.Println(connguard.Network(addr, 56), "is what many providers assign")
	// Output:
	// 2001:db8:1:2::/64 is one client
	// 2001:db8:1::/48 may belong to one owner
	// 2001:db8:1::/56 is what many providers assign
}
