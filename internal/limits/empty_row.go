package limits

// EmptyRow returns the bytes of a row that replaces a user's row by that of a new user: no usage,
// strikes, override or grants. It is the next write of the row, so that no node restores an earlier
// one. until is when all earlier writes of the row have no effect, or Never; a row that had no end
// is kept for a week. It needs no Set. The error says why the row can't be read.
func EmptyRow(data []byte, writer uint32, at, until int64) (empty []byte, keptUntil int64, err error) {
	if _, err := DescribeRow(data); err != nil {
		return nil, 0, err
	}
	if until >= Never {
		until = at + forgottenOwn
	}
	before := WritesOf(data)
	h := rowHeader{version: firstRowVersion, writes: before.next(Stamp{Seq: before.Seq + 1, Writer: writer}), kept: until, series: firstSeries(at) & maxSeries}
	return appendNumbers(h.append(nil), 0), until, nil // 0 limits
}

// IsEmptyRow reports whether the bytes are a row that EmptyRow has made.
func IsEmptyRow(data []byte) bool {
	text, err := DescribeRow(data)
	return err == nil && text.Last.IsZero() && text.Strikes == nil && len(text.Limits) == 0 && text.Given == nil
}
