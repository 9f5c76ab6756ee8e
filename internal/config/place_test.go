package config

import (
	"fmt"
	"testing"
)

func TestPlace_Line(t *testing.T) {
	const file = "# limit\r\n" + // 1
		"a = 'limit.b' # b = 1\r\n" + // 2
		"text = \"\"\"\n" + // 3
		"[[limit]]\n" + // 4: still part of the text
		"b = 1\"\"\"\n" + // 5
		"\n" + // 6
		"[[ \"limit\" ]] # first\n" + // 7
		"b = 1\n" + // 8
		"c = [ # [[limit]]\n" + // 9
		"  '''\n" + // 10
		"]''', 'd = 1',\n" + // 11
		"]\n" + // 12
		"[limit.roles.vip]\n" + // 13
		"b = 1\n" + // 14
		"[[limit]]\n" + // 15
		"'b' = 1\n" + // 16
		"roles.vip.b = 1\n" + // 17
		"[limit.e]\n" + // 18
		"f = { g = 1, h = [{i = 1}] }" // 19, without a line break
	for _, c := range []struct {
		at   place
		want int
	}{
		{nil, 0},
		{place{"a"}, 2},
		{place{"text"}, 3},
		{place{"limit"}, 7},
		{place{"limit", 0}, 7},
		{place{"limit", 0, "b"}, 8},
		{place{"limit", 0, "c"}, 9},
		{place{"limit", 0, "d"}, 7},
		{place{"limit", 0, "roles", "vip"}, 13},
		{place{"limit", 0, "roles", "vip", "b"}, 14},
		{place{"limit", 1}, 15},
		{place{"limit", 1, "b"}, 16},
		{place{"limit", 1, "roles", "vip", "b"}, 17},
		{place{"limit", 1, "roles", "sub", "b"}, 17},
		{place{"limit", 1, "e"}, 18},
		{place{"limit", 1, "e", "f", "h", 0, "i"}, 19},
		{place{"limit", 2}, 7},
		{place{"none", "b"}, 0},
	} {
		assertEqual(t, fmt.Sprint(c.at), c.at.line([]byte(file)), c.want)
	}
}

func TestPlace_LineInChannelTables(t *testing.T) {
	const file = "[channel.tea]\n" + // 1
		"timezone = 'UTC'\n" + // 2
		"[[channel.tea.limit]]\n" + // 3
		"b = 1\n" + // 4
		"[channel.tea.limit.roles.vip]\n" + // 5
		"b = 1\n" + // 6
		"[[channel.tea.limit]]\n" + // 7
		"[channel]\n" + // 8
		"'#a b'.policy.mode = 1\n" // 9
	tea := place{"channel", "tea"}
	for _, c := range []struct {
		at    place
		want  int
		words string
	}{
		{tea, 1, "channel.tea"},
		{tea.child("timezone"), 2, "channel.tea.timezone"},
		{tea.child("limit").child(0).child("b"), 4, "channel.tea.limit 1: b"},
		{tea.child("limit").child(0).child("roles").child("vip").child("b"), 6, "channel.tea.limit 1: roles.vip.b"},
		{tea.child("limit").child(1), 7, "channel.tea.limit 2"},
		{tea.child("limit").child(1).child("b"), 7, "channel.tea.limit 2: b"},
		{tea.child("policy"), 1, "channel.tea.policy"},
		{place{"channel", "#a b", "policy", "mode"}, 9, `channel."#a b".policy.mode`},
	} {
		assertEqual(t, c.words, c.at.line([]byte(file)), c.want)
		assertEqual(t, c.words, c.at.describe(map[string]any{}), c.words)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"burst", "refill", "messages", "timezone", "reset_at"}
	for text, want := range map[string]string{
		"brust": "burst", "Burst": "burst", "bursts": "burst", "message": "messages", "time_zone": "timezone",
		"resetat": "reset_at", "reffil": "refill", "limit": "", "": "", "x": "",
	} {
		assertEqual(t, text, nearestName(text, names), want)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "abc", 0},
		{"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "abxc", 1}, {"abc", "ac", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3},
	} {
		assertEqual(t, c.a+" → "+c.b, distance(c.a, c.b), c.want)
	}
}
