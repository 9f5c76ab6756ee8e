package persist

import (
	"cmp"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// maxCost is the maximum cost of a message in a sum, so that no sum overflows.
const maxCost = 1<<31 - 1

// timelineRow is one message of the timeline. Its number distinguishes messages of the same time.
type timelineRow struct {
	journal.TimelineMessage
	number  int64
	unspent int // unspent part of the cost
	// displayName is empty if it equals the login.
	displayName string
	low         bool // it passed at low priority
	// text is that of the message until its print is made. A row with a text has no print.
	text string
	mark textMark // of the print's key
}

// spentCost returns the spent part of the cost, up to maxCost.
func (r *timelineRow) spentCost() int64 { return int64(min(r.Cost, maxCost) - min(r.unspent, maxCost)) }

// compareTo compares the row's position within its channel with the position of another row.
func (r *timelineRow) compareTo(at, number int64) int {
	return cmp.Or(cmp.Compare(r.At.UnixNano(), at), cmp.Compare(r.number, number))
}

// sortTimeline sorts rows in table order.
func sortTimeline(rows []timelineRow) {
	slices.SortFunc(rows, func(a, b timelineRow) int {
		return cmp.Or(strings.Compare(a.ChannelID, b.ChannelID), a.At.Compare(b.At), cmp.Compare(a.number, b.number))
	})
}

// personKey identifies a user of a channel.
type personKey struct{ channelID, userID string }

func (k personKey) compare(other personKey) int {
	return cmp.Or(strings.Compare(k.channelID, other.channelID), strings.Compare(k.userID, other.userID))
}

// quarterKey identifies a quarter hour of a user of a channel. at is the quarter's start.
type quarterKey struct {
	personKey
	at int64
}

func (k quarterKey) compare(other quarterKey) int {
	return cmp.Or(k.personKey.compare(other.personKey), cmp.Compare(k.at, other.at))
}
