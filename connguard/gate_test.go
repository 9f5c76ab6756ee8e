package connguard

import (
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestDoor_MemoryBounded(t *testing.T) {
	g, err := newGate("Connects", chatguard.Limit{}, connectsOfUser, 2, newGuard(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300_000 {
		if err := g.connect(t.Context(), chatguard.User{ID: strconv.Itoa(i)}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if m := g.connects.Memory(); m.Evicted == 0 {
		t.Errorf("%+v: invented users fill the memory", m)
	}
}

func TestNew_Invalid(t *testing.T) {
	if _, err := New(nil, nil); err == nil {
		t.Error("without a Guard")
	}
	leaky := chatguard.LeakyBucketLimit("connects", time.Second, 2)
	for want, opts := range map[string]Options{
		"connguard: Options.Connects: a leaky-bucket would delay connections, which isn't possible: use a token-bucket":                           {Connects: leaky},
		"connguard: Options.ConnectsPerAddress: a leaky-bucket would delay connections, which isn't possible: use a token-bucket":                 {ConnectsPerAddress: leaky},
		`connguard: Options.Connects: chatguard: limit "connects": burst is 0, want 1 or more`:                                                    {Connects: chatguard.Limit{Algorithm: chatguard.TokenBucket, Refill: time.Second}},
		`connguard: Options.ConnectsPerAddress: chatguard: limit "a": burst is 2147483648, want 2147483647 or less`:                               {ConnectsPerAddress: chatguard.TokenBucketLimit("a", math.MaxInt32+1, time.Second)},
		`connguard: Options.ConnectsPerAddress: chatguard: limit "a": burst is -1, want 1 or more`:                                                {ConnectsPerAddress: chatguard.TokenBucketLimit("a", -1, time.Second)},
		`connguard: Options.ConnectsPerAddress: chatguard: limit "a": refill is 2ns, want 1µs or more: is the unit missing, as in 2*time.Second?`: {ConnectsPerAddress: chatguard.TokenBucketLimit("a", 1, 2)},
	} {
		if _, err := New(newGuard(t, nil), &opts); err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}

// The most that an address may do is valid for a block, too, and not less there.
func TestNew_LargestLimits(t *testing.T) {
	for _, limit := range []chatguard.Limit{
		chatguard.TokenBucketLimit("a", math.MaxInt32, time.Microsecond),
		chatguard.CascadeLimit("a", math.MaxInt32/2, time.Microsecond, math.MaxInt32/2, time.Microsecond),
		chatguard.SlidingLogLimit("a", 1024, time.Minute),
		chatguard.SlidingWindowLimit("a", math.MaxInt32, time.Minute),
		NoLimit(),
	} {
		d, err := New(newGuard(t, nil), &Options{ConnectsPerAddress: limit, MaxConnectionsPerAddress: math.MaxInt})
		if err != nil {
			t.Error(err)
		} else if d.blocks.most < math.MaxInt/blockFactor {
			t.Errorf("a block may have %d connections", d.blocks.most)
		}
	}
}

// A block of addresses has eight times the limit of one address, in both buckets of a cascade.
func TestBlockLimit(t *testing.T) {
	for _, test := range []struct{ one, want chatguard.Limit }{
		{chatguard.TokenBucketLimit("a", 5, 8*time.Second), chatguard.TokenBucketLimit("a", 40, time.Second)},
		{chatguard.CascadeLimit("a", 5, 8*time.Second, 2, 80*time.Second), chatguard.CascadeLimit("a", 40, time.Second, 16, 10*time.Second)},
		{chatguard.SlidingLogLimit("a", 200, time.Minute), chatguard.SlidingLogLimit("a", 1024, time.Minute)},
		{chatguard.Limit{}, chatguard.Limit{}},
	} {
		if got := blockLimit(test.one); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v, want %+v", got, test.want)
		}
	}
}
