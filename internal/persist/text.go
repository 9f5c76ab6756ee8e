package persist

import (
	"context"
	"crypto/sha256"
	"errors"
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
	value, err := p.AppendBinary(append(make([]byte, 0, 48), mark[:]...))
	if err != nil {
		return nil // it never fails
	}
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

// HasOtherTexts reports whether the database at path has hashes of texts that are useless with the
// key of print. If print is nil, there is no key yet, so all of them are. Otherwise, only the prints
// of the timeline say which key made them. HasOtherTexts works whether or not a process owns the
// database.
func HasOtherTexts(ctx context.Context, path string, print func(text string) chatguard.TextPrint) (has bool, err error) {
	db, err := Schema.OpenSnapshot(ctx, path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// An older version has neither prints nor rows of texts.
	err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_table_info('timeline') WHERE name = 'print')").Scan(&has)
	switch {
	case err != nil || !has:
	case print == nil:
		err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM timeline WHERE print IS NOT NULL) OR EXISTS (SELECT 1 FROM state WHERE user_id GLOB char(31) || '*')").Scan(&has)
	default:
		mark := newTexts(print).mark
		err = db.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM timeline WHERE print IS NOT NULL AND substr(print, 1, length(?1)) <> ?1)", mark[:]).Scan(&has)
	}
	return has, err
}
