package chatguard_test

import (
	"fmt"
	"log"

	"github.com/chatguard/chatguard"
)

// Two nodes must have the same policy to share its limits.
func ExampleGuard_PolicyHash() {
	policy := chatguard.DefaultPolicy()
	a, err := chatguard.New(policy, nil)
	if err != nil {
		log.Fatal(err)
	}
	b, err := chatguard.New(policy, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.PolicyHash() == b.PolicyHash())
	policy.Limits[0].Burst++
	if err := b.SetPolicy(policy); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.PolicyHash() == b.PolicyHash())
	// Output:
	// true
	// false
}
