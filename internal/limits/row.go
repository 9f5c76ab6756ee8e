package limits

// A row is one user's state in a channel: a header, then the words of each limit in the order of the Set.
const (
	wordUser     = iota // key of the user
	wordLast            // the latest time the user spent at
	wordStrikeAt        // when the last strike was given
	wordMeta            // version << 32 | roles << 17 | strikes << 1 | dirty
	headerWords
)

const (
	dirtyFlag    = 1
	strikeShift  = 1
	maxStrikes   = 1<<16 - 1
	rolesShift   = 17
	maxRoles     = 1<<roleBits - 1
	versionShift = 32
)

func strikeCount(row []uint64) int { return int(row[wordMeta] >> strikeShift & maxStrikes) }

func setStrikeCount(row []uint64, n int) {
	row[wordMeta] = row[wordMeta]&^(maxStrikes<<strikeShift) | uint64(n)<<strikeShift
}

// rolesOf are the user's roles when they last spent: they say under which numbers that was.
func rolesOf(row []uint64) uint8 { return uint8(row[wordMeta] >> rolesShift & maxRoles) }

func setRoles(row []uint64, roles uint8) {
	row[wordMeta] = row[wordMeta]&^(maxRoles<<rolesShift) | uint64(roles)<<rolesShift
}

// version counts how often the row was changed, so that what was written to a store can be told from what changed meanwhile.
func version(row []uint64) uint32 { return uint32(row[wordMeta] >> versionShift) }

func isDirty(row []uint64) bool { return row[wordMeta]&dirtyFlag != 0 }
