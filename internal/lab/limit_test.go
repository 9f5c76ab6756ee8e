package lab

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]chatguard.Limit{
		"token-bucket burst=3 refill=4s":      chatguard.TokenBucketLimit("token-bucket", 3, 4*time.Second),
		"leaky-bucket every=1ms queue=999":    chatguard.LeakyBucketLimit("leaky-bucket", time.Millisecond, 999),
		"leaky-bucket every=1ms":              chatguard.LeakyBucketLimit("leaky-bucket", time.Millisecond, 0),
		"sliding-window messages=50 every=1m": chatguard.SlidingWindowLimit("sliding-window", 50, time.Minute),
		"fixed-window messages=5 every=1d count_throttled=true per=channel": {
			Name: "fixed-window", Algorithm: chatguard.FixedWindow, Messages: 5, Every: 24 * time.Hour, CountThrottled: true, Per: chatguard.PerChannel},
		"daily-window messages=300 timezone=Europe/Berlin reset_at=02:30": {
			Name: "daily-window", Algorithm: chatguard.DailyWindow, Messages: 300, Timezone: "Europe/Berlin", ResetAt: "02:30"},
		"token-bucket burst=10 refill=1s reserve=4": {
			Name: "token-bucket", Algorithm: chatguard.TokenBucket, Burst: 10, Refill: time.Second, Reserve: 4},
	} {
		got, err := ParseLimit(text, "")
		if err != nil || !sameLimit(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		again, err := ParseLimit(Text(got), "")
		if err != nil || !sameLimit(again, want) {
			t.Errorf("%s became %s: %v", text, Text(got), err)
		}
	}
	if got, err := ParseLimit("messages=50 every=60s", chatguard.SlidingWindow); err != nil || Text(got) != "sliding-window messages=50 every=1m" {
		t.Errorf("the usual algorithm: %s, %v", Text(got), err)
	}
	if got, err := ParseLimit("name=x token-bucket burst=1 refill=1s", ""); err != nil || got.Name != "x" || Text(got) != "token-bucket burst=1 refill=1s" {
		t.Errorf("with a name: %+v, %v", got, err)
	}
}

// sameLimit compares limits without roles.
func sameLimit(a, b chatguard.Limit) bool { return Text(a) == Text(b) && a.Name == b.Name }

func TestParseLimit_Refused(t *testing.T) {
	const known = "want one of token-bucket, leaky-bucket, fixed-window, daily-window, user-window, sliding-window, sliding-log, cascade"
	for text, want := range map[string]string{
		"":                                "it has no algorithm: " + known + `, as in "token-bucket burst=3 refill=4s"`,
		"bucket burst=3":                  `unknown algorithm "bucket": ` + known,
		"token-bucket brust=3 refill=4s":  `unknown key "brust" (token-bucket takes burst, refill, reserve, per, count_throttled, similar, from_length, count_emotes, strikes)`,
		"token-bucket burst=3 refill=4":   `refill is "4": want a duration such as 4s, 30m, 24h or 30d`,
		"token-bucket burst=x refill=4s":  `burst is "x": want a whole number from 1 to 2147483647`,
		"token-bucket burst=0 refill=4s":  `burst is "0": want a whole number from 1 to 2147483647`,
		"token-bucket burst=3 burst=4":    "it has burst twice: remove one",
		"token-bucket burst=3 leaky":      "it has algorithm twice: remove one",
		"token-bucket burst=3":            "refill is 0s, want more than 0s",
		"token-bucket burst=3 messages=3": `token-bucket has no "messages" (it takes burst, refill)`,
		"sliding-log messages=1 every=30s per=text from_length=0":     `from_length is "0": want a whole number from 1 to 500`,
		"sliding-log messages=1 every=30s per=text from_length=1.5":   `from_length is "1.5": want a whole number from 1 to 500`,
		"sliding-log messages=1 every=30s per=text from_length=501":   "from_length is 501, want 1 to 500: no text has more characters, so the limit would never count",
		"sliding-log messages=1 every=30s per=text similar=yes":       `similar is "yes": want true or false`,
		"sliding-log messages=1 every=30s per=text count_emotes=1":    `count_emotes is "1": want true or false`,
		"sliding-log messages=1 every=30s per=user-text strikes=true": `strikes is only for limits with per = "text": a limit per user gives strikes anyway, and no other shared limit can`,
		"token-bucket burst=3 refill=4s similar=true":                 `"similar" is only for limits on repeated text: set per to user-text or text, or leave it out`,
		"leaky-bucket every=1s per=texts":                             `unknown scope "texts" (known: user, user-everywhere, channel, everywhere, user-text, text) (leaky-bucket takes every, queue, reserve, per, count_throttled)`,
		"token-bucket burst=3 refill=4s per=7":                        `per has the wrong kind of value (number) (token-bucket takes burst, refill, reserve, per, count_throttled, similar, from_length, count_emotes, strikes)`,
	} {
		if _, err := ParseLimit(text, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
