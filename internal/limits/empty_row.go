package limits

// EmptyRow returns the bytes of a row that replaces the row in data. The new row is that of a new
// user, without usage, strikes, override or grants. It counts as the next write of the row, so that
// no node restores an earlier one. until is when no earlier write of the row has any effect any
// more, or Never. The new row is kept until then, or for a week if until is Never. EmptyRow needs
// no Set. The error says why data can't be read.
func EmptyRow(data []byte, writer uint32, at, until int64) (empty []byte, keptUntil int64, err error) {
	if _, err := DescribeRow(data); err != nil {
		return nil, 0, err
	}
	if until >= Never {
		until = at + forgottenOwn
	}
	before := WritesOf(data)
	h := rowHeader{
		writes: before.next(Stamp{Seq: before.Seq + 1, Writer: writer}), kept: until, series: firstSeries(at) & maxSeries,
		era: era{began: at / nanosPerMilli},
	}
	return appendNumbers(h.append(nil), 0), until, nil // 0 limits
}

// IsEmptyRow reports whether the bytes are a row that EmptyRow has made.
func IsEmptyRow(data []byte) bool {
	text, err := DescribeRow(data)
	return err == nil && text.Last.IsZero() && text.Strikes == nil && len(text.Limits) == 0 && text.Given == nil
}
