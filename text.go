package chatguard

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard/internal/fingerprint"
	"github.com/chatguard/chatguard/internal/limits"
)

// TextPrint identifies the text of a message for limits on repeated text. It has two keyed hashes
// of the text, as it is and as similar texts have it, and its lengths, but not the text. Prints
// that were made with the same Options.TextKey are equal if their texts are the same. The zero
// value is that of an empty text.
type TextPrint struct {
	exact, similar             [16]byte
	exactLength, similarLength uint16 // in characters after normalization
	emotes                     bool   // the message consists of emotes only
}

// IsZero reports whether the print is that of an empty text.
func (p TextPrint) IsZero() bool { return p == TextPrint{} }

// The maximum length in bytes of a print in binary form, and the flag in its first byte.
const (
	printBytes = 1 + 2*(2+16)
	emotesFlag = 1
)

// AppendBinary appends the form that UnmarshalBinary reads: nothing for the zero value, and 37
// bytes for others. There is no error.
func (p TextPrint) AppendBinary(b []byte) ([]byte, error) {
	if p.IsZero() {
		return b, nil
	}
	var flags byte
	if p.emotes {
		flags = emotesFlag
	}
	b = binary.LittleEndian.AppendUint16(append(b, flags), p.exactLength)
	b = binary.LittleEndian.AppendUint16(append(b, p.exact[:]...), p.similarLength)
	return append(b, p.similar[:]...), nil
}

// MarshalBinary returns what AppendBinary appends.
func (p TextPrint) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

var errPrint = errors.New("chatguard: this isn't the print of a text")

// UnmarshalBinary reads what MarshalBinary returns.
func (p *TextPrint) UnmarshalBinary(b []byte) error {
	*p = TextPrint{}
	if len(b) == 0 {
		return nil
	}
	if len(b) != printBytes || b[0]&^emotesFlag != 0 {
		return errPrint
	}
	p.emotes = b[0] == emotesFlag
	p.exactLength, p.similarLength = binary.LittleEndian.Uint16(b[1:]), binary.LittleEndian.Uint16(b[19:])
	copy(p.exact[:], b[3:])
	copy(p.similar[:], b[21:])
	if max(p.exactLength, p.similarLength) > fingerprint.MaxLength {
		return errPrint
	}
	return nil
}

// MarshalText returns the print as base64. It is empty for the zero value.
func (p TextPrint) MarshalText() ([]byte, error) {
	b, err := p.MarshalBinary()
	return base64.RawURLEncoding.AppendEncode(nil, b), err
}

// UnmarshalText reads what MarshalText returns.
func (p *TextPrint) UnmarshalText(text []byte) error {
	b, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil {
		return errPrint
	}
	return p.UnmarshalBinary(b)
}

// TextPrint returns the print of a text that isn't of emotes only.
func (g *Guard) TextPrint(text string) TextPrint {
	g.created()
	prints := g.channels.textKey.Of(text, true, true)
	return TextPrint{
		exact: prints.Exact.Hash, exactLength: uint16(prints.Exact.Length), similar: prints.Similar.Hash, similarLength: uint16(prints.Similar.Length),
	}
}

// needsPrint reports whether a message may count in a channel's limits on repeated text. An
// override may withdraw an exemption; with shared.Exact, only the store may know of it.
func (cs *channels) needsPrint(c *channel, q *limits.Request) bool {
	return !q.Exempt || cs.exact || c.table.HasOwn()
}

// fillPrint sets p, which must be zero, to the print of a message if the channel's limits need it.
func (g *Guard) fillPrint(p *TextPrint, m *Message, c *channel, q *limits.Request) {
	if c.texts.Load() != nil { // inlined, as few channels have such limits
		g.fillNeeded(p, m, c, q)
	}
}

// fillNeeded is fillPrint for a channel with limits on repeated text.
func (g *Guard) fillNeeded(p *TextPrint, m *Message, c *channel, q *limits.Request) {
	if !g.channels.needsPrint(c, q) {
		return
	}
	if m.Print != nil {
		*p = *m.Print
	} else {
		*p = g.TextPrint(m.Text)
	}
	p.emotes = !p.IsZero() && (p.emotes || slices.Contains(m.Kinds, KindEmotes))
}

// checkTextKey returns an error if a policy has limits on repeated text, and other Guards share
// their rows without knowing the key.
func (cs *channels) checkTextKey(c *compiled) error {
	if cs.rows == nil || cs.sharesKey {
		return nil
	}
	i := slices.IndexFunc(c.policy.Limits, func(l Limit) bool { return l.Per.isText() })
	if i < 0 {
		return nil
	}
	l := &c.policy.Limits[i]
	return fmt.Errorf("chatguard: %w", &PolicyError{
		Limit: l.Name, Parameter: "per", Value: l.Per.String(), Problem: "Guards that share a limit on repeated text need the same key: set Options.TextKey to the same secret on all nodes",
	})
}

// textTable has the rows of limits on repeated text with one SameText.
type textTable struct {
	same  limits.SameText
	table *limits.Table
}

// textTables are all textTables of a channel; nil if there are none.
type textTables []textTable

// withSets returns the tables for the sets of a policy. It keeps those whose SameText stays, before
// new ones: decisions by the old tables and by the next ones must lock them in the same order.
func (ts textTables) withSets(cs *channels, sets *limits.Sets, changes *limits.Changes) (next textTables) {
	for _, t := range ts {
		if set := sets.OfText(t.same); set != nil {
			changes.Apply(t.table, set)
			next = append(next, t)
		} else {
			t.table.LeaveBudget()
		}
	}
	for _, set := range sets.Texts() {
		same := *set.Text()
		if !slices.ContainsFunc(ts, func(t textTable) bool { return t.same == same }) {
			next = append(next, textTable{same, cs.newTable(set, limits.TextMemory(cs.maxMemory))})
		}
	}
	return next
}

// find returns the table that has a row, or nil if there is none.
func (ts textTables) find(key string) *limits.Table {
	for _, t := range ts {
		if t.same.HasKey(key) {
			return t.table
		}
	}
	return nil
}

// hash returns the hash of the row that a user's message with a print uses. It returns false if the
// message doesn't count.
func (t *textTable) hash(secret *fingerprint.Key, p *TextPrint, userID string) (h limits.Hash, ok bool) {
	hash, length := &p.exact, p.exactLength
	if t.same.Similar {
		hash, length = &p.similar, p.similarLength
	}
	if int(length) < t.same.FromLength || p.emotes && !t.same.Emotes {
		return h, false
	}
	if t.same.Everyone {
		return limits.HashOf(hash), true
	}
	byUser := secret.With(*hash, userID)
	return limits.HashOf(&byUser), true
}

// textPlaces appends the rows of repeated text that a user's message with a print uses. There must
// be room for limits.MaxTexts.
func (c *channel) textPlaces(places []limits.Place, secret *fingerprint.Key, p *TextPrint, userID string) []limits.Place {
	texts := c.texts.Load()
	if texts == nil {
		return places
	}
	for i := range *texts {
		t := &(*texts)[i]
		if hash, ok := t.hash(secret, p, userID); ok {
			places = append(places, limits.Place{Table: t.table, Text: hash})
		}
	}
	return places
}

// textKeys returns the keys of the rows of repeated text that a user's message with a print uses.
func (c *channel) textKeys(secret *fingerprint.Key, p *TextPrint, userID string) (keys []string) {
	var room [limits.MaxTexts]limits.Place
	for _, place := range c.textPlaces(room[:0], secret, p, userID) {
		keys = append(keys, place.TextKey())
	}
	return keys
}
