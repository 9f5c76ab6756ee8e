package redisstore

import (
	"net/url"
	"strings"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// keys builds the names of keys. Every name begins with the namespace.
type keys struct {
	namespace string
	placement Placement
}

// row returns the key of a row.
func (k keys) row(r *shared.Row) string {
	key, _, _ := k.appendRow(nil, r)
	return string(key)
}

// appendRow appends the key of a row. Its hash tag, which determines the slot, is between the two
// indexes.
func (k keys) appendRow(b []byte, r *shared.Row) (key []byte, from, to int) {
	user, channel := escape(r.UserID), escape(r.ChannelID)
	b = append(append(b, k.namespace...), ":{"...)
	from = len(b)
	switch {
	case k.placement == PlaceTogether:
		b = append(b, k.namespace...)
	case user == "", channel != "" && k.placement == PlaceByChannel:
		b, channel = append(append(b, "c:"...), channel...), ""
	default:
		b, user = append(append(b, "u:"...), user...), ""
	}
	to = len(b)
	b = append(b, '}')
	if user != "" {
		b = append(append(b, ":u:"...), user...)
	}
	if channel != "" {
		b = append(append(b, ":c:"...), channel...)
	}
	return b, from, to
}

func (k keys) policy(name string) string { return k.namespace + ":policy:" + escape(name) }
func (k keys) own(channel string) string { return k.namespace + ":own:" + escape(channel) }
func (k keys) node(id string) string     { return k.namespace + ":node:" + escape(id) }
func (k keys) number(n string) string    { return k.namespace + ":number:" + n }
func (k keys) lead(name string) string   { return k.namespace + ":lead:" + escape(name) }
func (k keys) led(name string) string    { return k.namespace + ":led:" + escape(name) }
func (k keys) nodes() string             { return k.namespace + ":nodes" }
func (k keys) epoch() string             { return k.namespace + ":epoch" }
func (k keys) format() string            { return k.namespace + ":format" }
func (k keys) scratch() string           { return k.namespace + ":scratch" }
func (k keys) doctor() string            { return k.namespace + ":doctor" }
func (k keys) changes() string           { return k.namespace + ":changes" }

// beside returns the key of a trial change in the same slot of a Cluster as another key.
func (k keys) beside(key, id string) string {
	if _, rest, found := strings.Cut(key, "{"); found {
		key, _, _ = strings.Cut(rest, "}")
	}
	return k.scratch() + ":" + id + ":{" + key + "}"
}

// rowMargin is how long a row stays after its effect has ended. It absorbs differences between
// clocks, and late messages.
const rowMargin = time.Minute

// A node's record is written at each heartbeat, and expires without one.
const (
	heartbeatEvery = time.Second
	nodeExpires    = 5 * time.Second
)

// clock is in the slot of the epoch: the shard whose clock counts has it.
func (k keys) clock() string { return k.namespace + ":{" + k.epoch() + "}:clock" }

// plain reports whether a byte needs no escaping in a key.
func plain(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '.' || c == '-'
}

// escape %-encodes all bytes of an ID that could have a meaning in a key, a notice or a hash tag.
func escape(id string) string {
	i := 0
	for i < len(id) && plain(id[i]) {
		i++
	}
	if i == len(id) {
		return id
	}
	var b strings.Builder
	for _, c := range []byte(id) {
		if plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1])
		}
	}
	return b.String()
}

// unescape is the inverse of escape. It returns false if no ID has this form.
func unescape(text string) (id string, ok bool) {
	id, err := url.PathUnescape(text)
	return id, err == nil
}

const digits = "0123456789ABCDEF"

// parseRow returns the IDs in the key of a row. ok is false for other keys.
func (k keys) parseRow(key string) (row shared.Row, ok bool) {
	rest, ok := strings.CutPrefix(key, k.namespace+":{")
	if !ok {
		return row, false
	}
	tag, rest, ok := strings.Cut(rest, "}")
	if !ok {
		return row, false
	}
	ids := map[string]string{}
	parts := strings.Split(rest, ":")[1:] // before the first colon there is nothing
	if tag != k.namespace {
		parts = append(strings.Split(tag, ":"), parts...)
	}
	for len(parts) >= 2 {
		if ids[parts[0]], ok = unescape(parts[1]); !ok {
			return row, false
		}
		parts = parts[2:]
	}
	row.UserID, row.ChannelID = ids["u"], ids["c"]
	return row, k.row(&row) == key
}
