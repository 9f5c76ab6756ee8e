package limits

import (
	"encoding/json"
	"testing"
	"time"
)

// TestDescribeRow checks the text of a row with everything, as `chatguard shared export` prints it,
// and that every shorter row is an error.
func TestDescribeRow(t *testing.T) {
	set := compileSets(t, Strikes{Every: time.Second, Forget: time.Hour}, bucket(3, 4*time.Second), dailyLimit(5, "Europe/Berlin", "04:00"))[PerUser]
	draft := NewDraft(set, nil, nanos(0))
	draft.Spend(Spent{At: nanos(0), N: 2})
	draft.Spend(Spent{At: nanos(0), N: 1})
	setStrikeCount(draft.row, 2)
	draft.row[wordStrikeAt] = uint64(nanos(0))
	if _, err := draft.Grant("daily", 7, nanos(0)); err != nil {
		t.Fatal(err)
	}
	data := draft.Row(Stamp{Seq: 9, Writer: 7}, nanos(0)).Bytes()
	text, err := DescribeRow(data)
	must(t, err)
	at := time.Unix(0, nanos(0)).UTC()
	if text.Seq != 9 || text.Writer != 7 || !text.Last.Equal(at) || !text.Kept.IsZero() || text.Strikes == nil || text.Strikes.Count != 2 || !text.Strikes.At.Equal(at) {
		t.Errorf("%+v", text)
	}
	if len(text.Limits) != 2 || text.Limits[0].Name != "burst" || text.Limits[0].Algorithm != "token-bucket" || text.Limits[0].Capacity != 3 ||
		text.Limits[0].Interval != "4s" || !text.Limits[0].Until.Equal(at.Add(12*time.Second)) {
		t.Errorf("%+v", text.Limits)
	}
	if day := text.Limits[1]; day.Name != "daily" || day.Calendar == "" || day.Capacity != 5 || !day.Until.After(at) {
		t.Errorf("%+v", day)
	}
	if printed, err := json.Marshal(text); err != nil || len(text.Given) == 0 {
		t.Errorf("%s, %v", printed, err)
	}
	for n := range len(data) {
		if text, err := DescribeRow(data[:n]); err == nil {
			t.Errorf("%d bytes: %+v", n, text)
		}
	}
	if _, err := DescribeRow(append([]byte{99}, data[1:]...)); err == nil {
		t.Error("a row of a later version is described")
	}
}

func FuzzDescribeRow(f *testing.F) {
	f.Add([]byte{rowVersion, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := DescribeRow(data); err == nil {
			if _, err := json.Marshal(text); err != nil {
				t.Error(err)
			}
		}
	})
}

// The text says in how many slices the usage was counted.
func TestDescribeRow_Slices(t *testing.T) {
	for _, slices := range []int64{1, 6} {
		draft := NewDraft(mustSet(t, window("sliding-window", 5, time.Minute).withSlices(slices)), nil, nanos(0))
		draft.Spend(Spent{At: nanos(0), N: 2})
		text, err := DescribeRow(draft.Row(Stamp{Seq: 1}, nanos(0)).Bytes())
		if want := map[int64]int{1: 0, 6: 6}[slices]; err != nil || len(text.Limits) != 1 || text.Limits[0].Slices != want || text.Limits[0].Algorithm != "sliding-window" {
			t.Errorf("%d slices: %+v, %v", slices, text, err)
		}
	}
}
