package redisstore

import (
	"strings"
	"testing"
)

// TestSentinel_Password checks Sentinels and servers with different passwords, and that a wrong one
// is named, without the password.
func TestSentinel_Password(t *testing.T) {
	t.Parallel()
	primary := startRedis(t, "--requirepass", "s3rver")
	watcher := startSentinel(t, primary, `requirepass "s3ntinel"`, "sentinel auth-pass main s3rver")
	url := "redis+sentinel://" + watcher.Addr() + "/main"
	s := open(t, url, Options{Password: "s3rver", SentinelPassword: "s3ntinel"})
	check(t, s, one("a", "", "1"), true)
	for name, test := range map[string]struct {
		opts Options
		want string
	}{
		"no password for the Sentinel":    {Options{Password: "s3rver"}, "Options.SentinelPassword"},
		"wrong password for the Sentinel": {Options{Password: "s3rver", SentinelPassword: "wr0ng"}, "Options.SentinelPassword"},
		"no password for the server":      {Options{SentinelPassword: "s3ntinel"}, "Options.Password"},
		"wrong password for the server":   {Options{SentinelPassword: "s3ntinel", Password: "wr0ng"}, "the user name or password is wrong"},
	} {
		if text := openRefused(t, url, test.opts).Error(); !strings.Contains(text, test.want) || strings.Contains(text, "s3rver") || strings.Contains(text, "s3ntinel") || strings.Contains(text, "wr0ng") {
			t.Errorf("%s: %s\nwant %s", name, text, test.want)
		}
	}
}
