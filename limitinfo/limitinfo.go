// Package limitinfo describes limits, for programs that show them to people.
//
// A page about a user calls [Explain]. It returns the user's status in every limit, the verdict on
// the next message, and for a drawing, each limit's state in the terms of its algorithm:
//
//	why, err := limitinfo.Explain(ctx, guard, chatguard.Message{ChannelID: "lobby", User: user})
//	if err != nil {
//		return err
//	}
//	for _, limit := range why.Limits {
//		fmt.Fprintf(page, "%s: %d of %d used\n", limit.Name, limit.Used, limit.Capacity)
//	}
//
// A page that lets moderators edit limits makes its form from [Algorithms]. [Capacity] and [Memory]
// say what a policy costs before it is in force.
//
// The package only reads. It knows nothing about pages, and never changes a Guard.
package limitinfo
