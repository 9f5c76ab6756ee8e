package persist

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

const streamColumns = "channel_id, start, seen, ended"

var streamInsertion = statement.Insertion{Into: "stream (" + streamColumns + ")", Columns: 4, Conflict: "(channel_id, start) DO UPDATE SET seen = excluded.seen, ended = excluded.ended"}

// streamKey identifies a stream. start is in nanoseconds.
type streamKey struct {
	channelID string
	start     int64
}

func (k streamKey) compare(other streamKey) int {
	return cmp.Or(strings.Compare(k.channelID, other.channelID), cmp.Compare(k.start, other.start))
}

// streams are the streams of channels.
type streams struct {
	db      database
	pending pending[streamKey, journal.Stream]
}

// NoteStream records a stream, or the present state of a recorded one. It never blocks.
func (s *streams) NoteStream(stream journal.Stream) {
	_ = s.pending.put(keyOfStream(stream), &stream) // there is no limit
}

// Streams returns up to n streams of a channel, including pending ones, newest first. An empty
// channel means all channels.
func (s *streams) Streams(ctx context.Context, channelID string, n int) ([]journal.Stream, error) {
	// Read pending streams first, so that none is missed if it is stored in between.
	known := s.pending.peek()
	maps.DeleteFunc(known, func(k streamKey, _ *journal.Stream) bool { return channelID != "" && k.channelID != channelID })
	condition := "$1 = ''" // all channels: the table is small
	if channelID != "" {
		condition = "channel_id = $1"
	}
	err := s.db.Query(ctx, func(rows *sql.Rows) error {
		var stored journal.Stream
		err := rows.Scan(&stored.ChannelID, statement.Time(&stored.Start), statement.Time(&stored.Seen), &stored.Ended)
		if key := keyOfStream(stored); known[key] == nil {
			known[key] = &stored
		}
		return err
	}, "SELECT "+streamColumns+" FROM stream WHERE "+condition+" ORDER BY start DESC LIMIT $2", channelID, n+len(known))
	list := present(known)
	slices.SortFunc(list, func(a, b journal.Stream) int {
		return cmp.Or(b.Start.Compare(a.Start), strings.Compare(b.ChannelID, a.ChannelID))
	})
	return list[:min(n, len(list))], err
}

func keyOfStream(s journal.Stream) streamKey { return streamKey{s.ChannelID, s.Start.UnixNano()} }

// writeStreams stores the streams in table order.
func writeStreams(ctx context.Context, tx *sql.Tx, streams map[streamKey]*journal.Stream) error {
	list := sortedRows(streams, streamKey.compare)
	return streamInsertion.Write(ctx, tx, len(list), func(args []any, i int) []any {
		s := list[i]
		return append(args, s.ChannelID, s.Start.UnixNano(), s.Seen.UnixNano(), s.Ended)
	})
}
