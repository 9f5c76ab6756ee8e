package shared

import "context"

// Mode says how a Guard uses its Store. The zero value is the same as Exact.
type Mode string

// The modes.
const (
	// Exact asks the Store before a message is allowed. All Guards together allow exactly what one
	// alone would.
	Exact Mode = "exact"
	// Synchronised decides in memory, and compares with the Store at each Exchange. Until then, a
	// user who uses several Guards at the same time can send more than the limit. What exceeds a
	// limit is paid back: the user waits for longer, or gets less in the next window.
	Synchronised Mode = "synchronised"
)

// Guard is what a Store and the program around it need of a *chatguard.Guard, whose method Shared
// returns it. Only package chatguard implements it, because later versions may add methods. Without
// Options.Shared, its methods do nothing and return zero values, except PolicyHash and Seed. It is
// safe for concurrent use.
type Guard interface {
	// Mode returns Exact or Synchronised. It is empty if the Guard has no Store.
	Mode() Mode

	// Invalidate tells the Guard that another node has made a swap of a row with Notify. The Guard
	// then asks the Store before its next decision on the row, or with Synchronised at the next
	// Exchange. The IDs are those of the Row. A Store calls it.
	Invalidate(channelID, userID string)

	// InvalidateAll is Invalidate for all rows. A Store calls it when it may have missed calls of
	// Invalidate.
	InvalidateAll()

	// Heal makes the next Exchange restore the rows that the Store has lost and the Guard
	// remembers. A Store calls it when it may have lost rows. For one second, what was allowed
	// without the Store stays pending, because other Guards may restore rows, too.
	Heal()

	// Exchange writes what was allowed without the Store, and reads what other Guards have allowed.
	// With Exact, only messages that were allowed while the Store was away need this. It returns
	// the first error. A Store calls it regularly. If several goroutines call it at the same time,
	// they share the work.
	Exchange(ctx context.Context) error

	// Seed writes the restored state of all users to the Store, except the rows that the Store
	// already has. Call it once, when a program begins to share limits, so that users don't start
	// with a full allowance. If dryRun is true, Seed only counts what it would write. It returns
	// the first error, and what was written until then. After an error, call it again.
	Seed(ctx context.Context, dryRun bool) (Seeded, error)

	// Counts returns what the Guard has done with the Store since it was made.
	Counts() Counts

	// PolicyHash returns a hash of the Guard's Policy and of Options.TextKey, so that Guards that
	// share limits can find out whether they have the same. It has 16 hexadecimal digits. Titles of
	// limits, the policies of single channels and overlays have no effect on it.
	PolicyHash() string
}

// Seeded is the result of Guard.Seed.
type Seeded struct {
	Written int // rows that the Store did not have
	Kept    int // rows that the Store has, which stay as they are
}

// Counts is what a Guard has done with its Store since it was made.
type Counts struct {
	Swaps      int64 `json:"swaps"`       // swaps that replaced or confirmed rows
	Conflicts  int64 `json:"conflicts"`   // swaps that found other rows, because another Guard was first
	FromMemory int64 `json:"from_memory"` // decisions without the store, because the outcome was certain
	Offline    int64 `json:"offline"`     // decisions without the store, because it was away or refused; only with Exact
	Unreadable int64 `json:"unreadable"`  // decisions without the store, because a row couldn't be read
	Healed     int64 `json:"healed"`      // rows that the store had lost, and that were written again
	Overdrawn  int64 `json:"overdrawn"`   // messages that were allowed beyond a limit, because other nodes had allowed some
	Exchanged  int64 `json:"exchanged"`   // rows that an Exchange has compared with the store
	// Assumed is how many swaps count as made although it isn't known whether they were, because a
	// reply was lost and many other nodes have changed the row since. So no message counts twice.
	Assumed int64 `json:"assumed"`
	// Lost is how many pending rows were dropped, because there were more than Options.SharedRows
	// of them, or because Options.MaxMemory was used up.
	Lost    int64 `json:"lost"`
	Rows    int   `json:"rows"`    // rows in memory
	Pending int   `json:"pending"` // rows with messages or strikes that aren't in the store yet

	// Problem is about the last row that couldn't be read. It is empty once that row can be read,
	// or if there was none in the last ten minutes.
	Problem string `json:"problem,omitempty"`
}
