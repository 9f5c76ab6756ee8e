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
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
)

const (
	openDashboards = 100
	messageRate    = 1000 // per second
	benchLasts     = 5 * time.Second
)

// benchReaders is the environment variable that makes a test process act as the open dashboards of
// a benchmark. Their cost is therefore not measured. The value contains the dashboard's address and
// the cookie.
const benchReaders = "CHATGUARD_TEST_READ_FEEDS"

// feedsToRead is the content of benchReaders: an address, and a cookie for each open dashboard.
type feedsToRead struct {
	Address string
	Cookies []string
}

// readFeeds is the main function of the process with benchReaders. It runs until its standard input
// ends.
func readFeeds(text string) {
	var from feedsToRead
	if err := json.Unmarshal([]byte(text), &from); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	for _, cookie := range from.Cookies {
		conn, _, err := websocket.Dial(ctx, "ws://"+from.Address+"/api/v1/live?channel="+channelID,
			&websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {cookie}}})
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

// openFeeds opens a dashboard for each cookie, in another process, until closeAll is called.
func (d *dashboard) openFeeds(cookies []string) (closeAll func()) {
	d.Helper()
	from, err := json.Marshal(feedsToRead{d.address, cookies})
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

// runChat lets users write messageRate messages per second, most of them throttled. It returns the
// duration of each Check, sorted.
func (d *dashboard) runChat() []time.Duration {
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
