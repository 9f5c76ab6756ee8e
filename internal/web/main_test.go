package web

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// stopBrowser ends the browser that tests have started. Only the browser build has one.
var stopBrowser = func() {}

func TestMain(m *testing.M) {
	if feeds := os.Getenv(benchReaders); feeds != "" {
		readFeeds(feeds)
		return
	}
	if os.Getenv(benchLookers) != "" {
		lookAsViewers()
		return
	}
	code := m.Run()
	stopBrowser()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
