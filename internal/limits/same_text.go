package limits

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
)

// SameText says which messages count together in a limit on repeated text. Limits with the same
// SameText have their state in the same rows. The zero value is that of other limits.
type SameText struct {
	Everyone   bool // everyone's messages in a channel; otherwise those of one user
	Similar    bool // similar texts are the same
	Emotes     bool // messages that consist of emotes only count, too
	FromLength int  // shorter texts don't count; in characters after normalization
}

const (
	// MaxTexts is the maximum number of different SameTexts in a policy.
	MaxTexts = 4
	// DefaultFromLength is the length from which texts count if a limit has no FromLength.
	DefaultFromLength = 12
	// MaxFromLength is the number of characters of a text that are compared.
	MaxFromLength = 500
)

// textShare is how much more memory users may take than repeated texts. Anybody can make up texts,
// so they must not replace users.
const textShare = 5

// TextMemory returns the memory of a table of repeated texts, if that of the users may have the
// given number of bytes.
func TextMemory(users int64) int64 { return max(1, users/textShare) }

// compileText checks the parameters of limits on repeated text, and fills in what they leave out.
func (l *Limit) compileText() error {
	t := &l.Text
	switch {
	case !l.Scope.IsText() && *t != SameText{}:
		name, value := t.parameter()
		return MistakeIn(name, value, "%q is only for limits on repeated text: set per to user-text or text, or leave it out", name)
	case !l.Scope.IsText():
	case l.Algorithm == leakyBucket.name: // see countsTexts
		return MistakeIn("algorithm", l.Algorithm, "a repeated text can't wait in a %s: use another algorithm, such as %s", l.Algorithm, slidingLog.name)
	case t.FromLength < 0:
		return MistakeIn("from_length", t.FromLength, "from_length is %d, want 1 to %d, or leave it out for %d", t.FromLength, MaxFromLength, DefaultFromLength)
	case t.FromLength > MaxFromLength:
		return MistakeIn("from_length", t.FromLength, "from_length is %d, want 1 to %d: no text has more characters, so the limit would never count", t.FromLength, MaxFromLength)
	default:
		t.Everyone = l.Scope == PerText
		if t.FromLength == 0 {
			t.FromLength = DefaultFromLength
		}
	}
	if l.Strikes && l.Scope != PerText {
		return MistakeIn("strikes", true, "strikes is only for limits with per = \"text\": a limit per user gives strikes anyway, and no other shared limit can")
	}
	return nil
}

// parameter returns the first parameter that is set, and its value.
func (t *SameText) parameter() (name string, value any) {
	switch {
	case t.Similar:
		return "similar", true
	case t.FromLength != 0:
		return "from_length", t.FromLength
	}
	return "count_emotes", true
}

// NotPersonal returns the error for a user's own numbers, or extra messages, in a limit on repeated
// text.
func NotPersonal(name string) error {
	return MistakeIn("limits", name, "the limit %q counts each text: choose a limit per user", name)
}

// textSet returns the index of the set for limits with that SameText: the one that has it, or else
// the first unused one. It returns MaxSets if there is neither.
func textSet(bySet [][]Limit, text SameText) int {
	at := int(PerUserText)
	for at < len(bySet) && len(bySet[at]) > 0 && bySet[at][0].Text != text {
		at++
	}
	return at
}

// Text returns which messages the limits count together, if they are limits on repeated text.
// Otherwise it returns nil.
func (s *Set) Text() *SameText { return s.text }

// Hash is a keyed hash of a repeated text, and of its author unless everyone shares the limit. The
// highest bit is 0, as in the key of a user without a name. The lowest bit is 1, so that the second
// word is never 0.
type Hash struct{ first, second uint64 }

// HashOf returns the hash with these bytes, except for the highest and the lowest bit.
func HashOf(b *[16]byte) Hash {
	return Hash{binary.BigEndian.Uint64(b[:8]) &^ namedKey, binary.BigEndian.Uint64(b[8:]) | 1}
}

// TextMark is the first character of the key of a row of repeated text, in place of a user ID. So
// no user may have an ID that begins with it.
const TextMark = '\x1f'

// TextKey returns the key of a row of repeated text, as a store has it in place of a user ID.
func (o *Place) TextKey() string { return o.Text.key(o.Table.prefix) }

// HasKey reports whether a row of a repeated text with that key belongs to limits with this
// SameText.
func (t *SameText) HasKey(key string) bool {
	_, ok := HashIn(t.keyPrefix(), key)
	return ok
}

func (h Hash) key(prefix string) string {
	b := binary.BigEndian.AppendUint64(nil, h.first)
	return prefix + strictBase64.EncodeToString(binary.BigEndian.AppendUint64(b, h.second))
}

// strictBase64 accepts only what it writes, so that a text has one key.
var strictBase64 = base64.RawURLEncoding.Strict()

// HashIn returns the hash in the key of a row that begins with the prefix of a SameText. ok is
// false unless Place.TextKey returns such a key.
func HashIn(prefix, key string) (h Hash, ok bool) {
	text, ok := strings.CutPrefix(key, prefix)
	var b [18]byte // what 24 characters decode to, in case there are line breaks among them
	if !ok || len(text) != strictBase64.EncodedLen(16) {
		return h, false
	}
	n, err := strictBase64.Decode(b[:], []byte(text))
	h = HashOf((*[16]byte)(b[:16]))
	return h, err == nil && n == 16 && b[0]&0x80 == 0 && b[15]&1 == 1
}

// keyPrefix returns the beginning of the keys of the rows. It differs between SameTexts, and is the
// same in each program.
func (t *SameText) keyPrefix() string {
	who, how, what := "u", "e", "t"
	if t.Everyone {
		who = "a"
	}
	if t.Similar {
		how = "s"
	}
	if t.Emotes {
		what = "m"
	}
	return string(TextMark) + who + how + what + strconv.Itoa(t.FromLength) + "."
}

// OfKey returns the set that has the row of a repeated text with that key, or nil if there is none.
func (s *Sets) OfKey(key string) *Set {
	for _, set := range s.Texts() {
		if set.text.HasKey(key) {
			return set
		}
	}
	return nil
}

// OfText returns the set with a SameText, or nil if there is none.
func (s *Sets) OfText(text SameText) *Set {
	for _, set := range s.Texts() {
		if *set.text == text {
			return set
		}
	}
	return nil
}
