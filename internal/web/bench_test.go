package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

const (
	openDashboards = 100
	messageRate    = 1000 // a second
	benchLasts     = 5 * time.Second
)

// benchReaders tells a process of the tests that it is the open dashboards of a benchmark, so that what these cost isn't counted: it has the
// dashboard's address and the cookie.
const benchReaders = "CHATGUARD_TEST_READ_FEEDS"

// feedsToRead is what benchReaders has.
type feedsToRead struct{ Address, Cookie string }

// readFeeds is what that process does until its standard input ends.
func readFeeds(text string) {
	var from feedsToRead
	if err := json.Unmarshal([]byte(text), &from); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	for range openDashboards {
		conn, _, err := websocket.Dial(ctx, "ws://"+from.Address+"/api/v1/live?channel="+channelID,
			&websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {from.Cookie}}})
		if err != nil {
			panic(err)
		}
		conn.SetReadLimit(-1)
		reading.Go(func() {
			for err == nil {
				var frame io.Reader
				if _, frame, err = conn.Reader(ctx); err == nil {
					_, err = io.Copy(io.Discard, frame)
				}
			}
			if ctx.Err() == nil {
				panic(err)
			}
		})
	}
	fmt.Println("reading")
	io.Copy(io.Discard, os.Stdin)
	cancel()
	reading.Wait()
}

// openFeeds opens the dashboards in another process, until what it returns is called.
func (d *dashboard) openFeeds(cookie string) (closeAll func()) {
	d.Helper()
	from, err := json.Marshal(feedsToRead{d.address, cookie})
	if err != nil {
		d.Fatal(err)
	}
	readers := exec.Command(os.Args[0])
	readers.Env = append(os.Environ(), benchReaders+"="+string(from))
	readers.Stderr = os.Stderr
	in, err := readers.StdinPipe()
	if err != nil {
		d.Fatal(err)
	}
	out, err := readers.StdoutPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := readers.Start(); err != nil {
		d.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		d.Fatalf("the dashboards don't open: %v", readers.Wait())
	}
	return func() {
		in.Close()
		if err := readers.Wait(); err != nil {
			d.Error(err)
		}
	}
}

// busyChat lets users write messageRate messages a second, most of which are throttled, and returns how long each Check took, in order.
func (d *dashboard) busyChat() []time.Duration {
	d.Helper()
	took := make([]time.Duration, 0, int(benchLasts.Seconds()*messageRate))
	began := time.Now()
	for len(took) < cap(took) {
		time.Sleep(time.Until(began.Add(time.Duration(len(took)) * time.Second / messageRate)))
		id := fmt.Sprint(100_000 + len(took)*7919%500)
		m := chatguard.Message{ID: "m", ChannelID: channelID, User: chatguard.User{ID: id, Login: "user" + id}, Text: "hello everyone", SentAt: d.now()}
		start := time.Now()
		if _, err := d.guard.Check(context.Background(), m); err != nil {
			d.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took
}

// BenchmarkVerdictOnAScreen is how long it takes from a Check until the page in a browser has drawn the user's row, while 1,000 other verdicts a second
// are told, most of them throttled.
func BenchmarkVerdictOnAScreen(b *testing.B) {
	d := dash(b)
	w := d.open(1400, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		window.drawn = {};
		new MutationObserver(() => {
			for (const { dataset } of document.querySelectorAll(".row[data-user]")) window.drawn[dataset.user] ??= Date.now();
		}).observe(document.body, { childList: true, subtree: true });
	}`))
	var busy sync.WaitGroup
	busy.Go(func() { d.busyChat() })
	w.See(`document.querySelector(".figures dd").textContent === "500"`) // nobody else comes any more, and goes before
	var took []time.Duration
	for i := range 20 {
		user := chatguard.User{ID: fmt.Sprint(i + 1), Login: "anna"}
		d.say(user, 3)
		start := time.Now()
		d.say(user, 1)
		w.See(fmt.Sprintf("window.drawn[%q]", user.ID))
		drawn := time.UnixMilli(int64(browsertest.Eval[float64](w.Window, fmt.Sprintf("window.drawn[%q]", user.ID))))
		took = append(took, drawn.Sub(start))
	}
	busy.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "most-ms")
	b.ReportMetric(0, "ns/op") // says nothing
}
