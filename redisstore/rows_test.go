package redisstore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chatguard/chatguard/shared"
)

func TestKeys_ParseRow(t *testing.T) {
	ids := []string{"", "7", "check:lobby", "u:1}:c:2", "{a}", "%", "ä", "cg1"}
	for _, placement := range []Placement{PlaceByUser, PlaceByChannel, PlaceTogether} {
		k := keys{namespace: "cg1", placement: placement}
		for _, user := range ids {
			for _, channel := range ids {
				want := shared.Row{ChannelID: channel, UserID: user}
				key := k.row(&want)
				if got, ok := k.parseRow(key); !ok || got.UserID != user || got.ChannelID != channel {
					t.Errorf("%s is %+v, want %+v", key, got, want)
				}
			}
		}
		for _, key := range []string{"", "cg1:{", "cg1:{}", "cg1:{u:}", "cg1:{x:1}", "cg1:{u:1}x", "cg1:{u:1}:u:2", "cg1:{u:%}", "cg1:epoch", "cg2:{u:1}"} {
			if row, ok := k.parseRow(key); ok {
				t.Errorf("%s is the row %+v", key, row)
			}
		}
	}
}

// TestRows lists more rows than one reply has, and deletes those of one user, for which other nodes
// get notices.
func TestRows(t *testing.T) {
	ctx := context.Background()
	server := startRedis(t)
	server.must("SET", "other", "1")
	s := open(t, server.URL(), Options{})
	var swaps []*shared.Swap
	want := map[string]bool{}
	for i := range 2500 {
		row := shared.Row{ChannelID: fmt.Sprint("c", i%2), UserID: fmt.Sprint("user ", i/2), Is: fmt.Append(nil, "row ", i)}
		swaps = append(swaps, &shared.Swap{Rows: []shared.Row{row}})
		want[row.ChannelID+"/"+row.UserID+"/"+string(row.Is)] = true
	}
	for some := range slices.Chunk(swaps, 100) {
		if s.Swap(ctx, some); some[0].Err != nil {
			t.Fatal(some[0].Err)
		}
	}
	for row, err := range s.Rows(ctx, "") {
		must(t, err)
		name := row.ChannelID + "/" + row.UserID + "/" + string(row.Now)
		if !want[name] {
			t.Errorf("unexpected or twice: %s", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%d rows are missing", len(want))
	}
	guard := new(fakeGuard)
	run(t, open(t, server.URL(), Options{Node: "other"}), guard)
	eventually(t, "the other node is told", func() bool {
		server.must("SET", "cg1:{u:user%207}:c:c0", "again")
		deleted, err := s.Delete(ctx, "user 7")
		must(t, err)
		return deleted > 0 && guard.count("c0/user 7") > 0
	})
	for row, err := range s.Rows(ctx, "user 7") {
		t.Errorf("%+v is still there, %v", row, err)
	}
	if deleted, err := s.Delete(ctx, "nobody"); deleted != 0 || err != nil {
		t.Errorf("%d, %v", deleted, err)
	}
}
