package limits

// A row is the state of one user: a header, then the words of each limit in the order of the Set.
// With the default limits it has eight words, one cache line.
const (
	wordUser        = iota // key of the user
	wordLast               // latest time at which the user spent something
	wordStrikeAt           // when the last strike was given
	wordSilentUntil        // end of the user's silence
	wordMeta               // see below
	// headerWords is the number of these words. The roles follow, if they have a word of their own,
	// and then the rest of the key of a repeated text.
	headerWords
)

// wordMeta: version << 32 | series << 27 | roles << 20 | strikes << 4 | flags.
const (
	dirtyFlag    = 1 << 0 // changed since a store confirmed it
	pinnedFlag   = 1 << 1 // evicted last, and never dropped as fresh, before a store confirms it
	personalFlag = 1 << 2 // the user has a personal record

	strikeShift  = 4
	maxStrikes   = 1<<16 - 1
	rolesShift   = 20
	rolesInMeta  = 7 // a longer list of roles has a word of its own
	maxRoles     = 1<<rolesInMeta - 1
	seriesShift  = 27
	maxSeries    = 1<<5 - 1
	versionShift = 32
)

func strikeCount(row []uint64) int { return int(row[wordMeta] >> strikeShift & maxStrikes) }

func setStrikeCount(row []uint64, n int) {
	row[wordMeta] = row[wordMeta]&^(maxStrikes<<strikeShift) | uint64(n)<<strikeShift
}

// seriesOf returns the number of the series that the strikes belong to. The number wraps after 32.
func seriesOf(row []uint64) uint8 { return uint8(row[wordMeta] >> seriesShift & maxSeries) }

func setSeries(row []uint64, series uint8) {
	row[wordMeta] = row[wordMeta]&^(maxSeries<<seriesShift) | uint64(series&maxSeries)<<seriesShift
}

func nextSeries(row []uint64) { setSeries(row, seriesOf(row)+1) }

// version returns the row's version: the shard's count of changes at the row's last change. A store
// uses it to tell whether a row has changed since it was written.
func version(row []uint64) uint32 { return uint32(row[wordMeta] >> versionShift) }

func hasFlag(row []uint64, flag uint64) bool { return row[wordMeta]&flag != 0 }
