package persist

import (
	"crypto/sha256"
	"strings"

	"github.com/chatguard/chatguard"
)

// texts makes prints of messages' texts for the timeline. The zero value makes none.
type texts struct {
	print func(text string) chatguard.TextPrint
	mark  textMark
}

// textMark identifies the key of prints. Prints of another key are useless, because they never
// equal those of new messages.
type textMark [4]byte

// markedText is hashed to get a textMark. It never changes.
const markedText = "which key made the prints of this database?"

// newTexts returns texts that make prints with the key of print.
func newTexts(print func(text string) chatguard.TextPrint) texts {
	sum := sha256.Sum256(stored(print(markedText), textMark{}))
	return texts{print, textMark(sum[:])}
}

// maxQueuedText is the maximum length in bytes of a text that is kept until the next flush. Nearly
// all are shorter. If the disk stalls, a full queue has up to 20 MB of texts.
const maxQueuedText = 200

// observe fills in the print of a message, or keeps its text until the next flush: a decision must
// not wait for a print that no limit needs. A longer text would take too much memory.
func (t *texts) observe(row *timelineRow, m *chatguard.Message, v *chatguard.Verdict) {
	switch {
	case t.print == nil:
	case !v.Print.IsZero():
		row.Print = v.Print
	case m.Print != nil:
		row.Print = *m.Print
	case len(m.Text) > maxQueuedText:
		row.Print = t.print(m.Text)
	default:
		row.text = strings.Clone(m.Text)
	}
}

// replace replaces the rows' texts by their prints.
func (t *texts) replace(rows []timelineRow) {
	for i := range rows {
		if r := &rows[i]; r.text != "" {
			r.Print, r.text = t.print(r.text), ""
		}
		rows[i].mark = t.mark
	}
}

// stored returns the value to store for a print that was made with the key of a mark. It is nil for
// the zero print.
func stored(p chatguard.TextPrint, mark textMark) []byte {
	if p.IsZero() {
		return nil
	}
	value, _ := p.AppendBinary(append(make([]byte, 0, 48), mark[:]...)) // it never fails
	return value
}

// read returns the print of a stored value. It is zero if there is none, or if it was made with
// another key.
func (t *texts) read(value any) (p chatguard.TextPrint) {
	data, ok := value.([]byte)
	if !ok || t.print == nil || len(data) < len(t.mark) || textMark(data) != t.mark || p.UnmarshalBinary(data[len(t.mark):]) != nil {
		return chatguard.TextPrint{}
	}
	return p
}
