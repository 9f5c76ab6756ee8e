package live

import "testing"

func TestFeedSlots_Total(t *testing.T) {
	var s feedSlots
	for i := range maxFeeds {
		if reason := s.take(string(rune('a' + i/MaxFeedsOfOne))); reason != "" {
			t.Fatal(reason)
		}
	}
	if reason := s.take("one more"); reason != "500 live feeds are open" {
		t.Errorf("%q", reason)
	}
	s.leave("a")
	if reason := s.take("one more"); reason != "" {
		t.Error(reason)
	}
}
