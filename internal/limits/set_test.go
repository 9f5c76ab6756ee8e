package limits

import "testing"

func TestCompile_InvalidLimits(t *testing.T) {
	for want, limits := range map[string][]Limit{
		`limit "burst": burst is 0, want 1 or more`:                                                         {bucket(0, 1)},
		`limit "burst": burst is 2147483648, want 2147483647 or less`:                                       {bucket(1<<31, 1)},
		`limit "burst": refill is 0s, want more than 0s`:                                                    {bucket(1, 0)},
		`limit "burst": burst × refill is too long (2 × 640511h56m49.213693952s), want less than 146 years`: {bucket(2, 1<<61)},
		`limit "daily": messages is -1, want 1 or more`:                                                     {dailyLimit(-1, "", "")},
		`limit "daily": unknown timezone "Mars/Olympus" (want an IANA name such as Europe/Berlin)`:          {dailyLimit(1, "Mars/Olympus", "")},
		`limit "daily": unknown timezone "Local" (want an IANA name such as Europe/Berlin)`:                 {dailyLimit(1, "Local", "")},
		`limit "daily": reset_at "24:00" is not a time of day (want HH:MM, from 00:00 to 23:59)`:            {dailyLimit(1, "", "24:00")},
		`limit "daily": reset_at "6:00" is not a time of day (want HH:MM, from 00:00 to 23:59)`:             {dailyLimit(1, "", "6:00")},
		`limit "burst": another limit has this name`:                                                        {bucket(1, 1), bucket(2, 2)},
		`limit "a.b": a name is up to 64 letters, digits, - and _`:                                          {{Params: Params{Name: "a.b"}}},
		`limit 1 has no name`: {{Params: Params{Algorithm: "token-bucket", Burst: 1, Refill: 1}}},
		`limit "x": unknown algorithm "dice" (known: token-bucket, leaky-bucket, fixed-window, daily-window, user-window, sliding-window, sliding-log, cascade)`: {{Params: Params{Name: "x", Algorithm: "dice"}}},
		`limit "x": token-bucket has no "messages" (it takes burst, refill)`:                                                                                     {{Params: Params{Name: "x", Algorithm: "token-bucket", Burst: 1, Refill: 1, Messages: 1}}},
	} {
		if _, err := newTestSet(limits, Strikes{}); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}
