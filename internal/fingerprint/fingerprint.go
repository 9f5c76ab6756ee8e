// Package fingerprint says which texts are the same: it hashes a normalized text with a key. The
// texts of a copy-paste raid differ in case, in invisible characters, or in a number at the end;
// after normalization, they don't. It knows nothing of messages, users or limits, keeps no text,
// and imports only the standard library.
package fingerprint

// A Key is the secret of an installation. Without it, nobody can tell from a print which text it
// is of, or find texts that share one. The zero Key works, and is no secret.
type Key [16]byte

// A Print tells texts apart: texts with the same normalized form have the same print.
type Print struct {
	// Hash is the SipHash-2-4 of the normalized text, with 128 bits. It is 0 if Length is.
	Hash [16]byte

	// Length is the number of characters in the normalized text. It is 0 if nothing is left of it.
	Length int
}

// Prints are the prints of one text. Those that weren't asked for are zero.
type Prints struct {
	Exact   Print // the same text, however it is written
	Similar Print // the same text, except for look-alike letters, numbers, punctuation and the like
}

const (
	// MaxLength is the number of characters that count, in the exact form. Later ones don't: texts
	// that begin with the same MaxLength characters have the same prints.
	MaxLength = 500

	// MaxBytes is the number of bytes that are read of a text. It bounds the cost of invisible
	// characters, which don't count for MaxLength.
	MaxBytes = 8192
)

// Of returns the prints of a text: of its exact form, of its similar form, or of both. Texts with
// the same exact form have the same similar form. The text may be anything, also invalid UTF-8. Of
// allocates nothing, and may be called by several goroutines.
//
// The exact form has compatibility decompositions (NFKD) and full case folding. Invisible
// characters (Default_Ignorable_Code_Point) and marks of a combining class above 0 are left out, so
// "é" is "e". White space and control characters are one space between words. Each other character
// but digits counts once where it is repeated. Invalid UTF-8 is U+FFFD, which is left out at the
// end.
//
// The similar form is made of the exact one. It has Latin letters instead of their look-alikes.
// Names with "@" at the beginning, up to two random words at the end, emoji and other symbols at
// both ends, digits, punctuation and spaces are left out.
func (k *Key) Of(text string, exact, similar bool) (p Prints) {
	var f form
	f.normalize(text)
	if exact {
		p.Exact = f.print(k)
	}
	if similar {
		f.reduce()
		p.Similar = f.print(k)
	}
	return p
}

func (f *form) print(k *Key) Print {
	if f.length == 0 {
		return Print{}
	}
	return Print{Hash: k.sum(f.chars[:f.length]), Length: f.length}
}
