package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
)

const (
	benchViewers     = 10_000
	viewerRate       = 2000 // requests per second of all viewers together
	viewerConnection = 64   // connections of the proxy in front
)

// benchLookers is the environment variable that makes a test process act as the viewers of a
// benchmark, behind a proxy. Their cost is therefore not measured.
const benchLookers = "CHATGUARD_TEST_LOOK_AS_VIEWERS"

// viewersToBe is the first value that the process reads: an address, the name of the cookie, and its
// value for each viewer.
type viewersToBe struct {
	Address string
	Name    string
	Cookies []string
}

// lookAsViewers is the main function of the process with benchLookers. Its standard input has JSON:
// the viewersToBe, and then a value for each turn, in which it sends viewerRate requests per second
// for benchLasts. After each turn, it writes how many were answered.
func lookAsViewers() {
	var as viewersToBe
	input := json.NewDecoder(os.Stdin)
	if err := input.Decode(&as); err != nil {
		panic(err)
	}
	for turn := 0; input.Decode(&turn) == nil; {
		fmt.Println(as.look())
	}
}

// look sends requests for benchLasts, and returns the number of answers.
func (as *viewersToBe) look() (answered int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: viewerConnection}}
	defer client.CloseIdleConnections()
	total := int(benchLasts.Seconds() * viewerRate)
	due := make(chan int, total)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for range viewerConnection {
		asking.Go(func() {
			for i := range due {
				if err := as.ask(client, i*7919%len(as.Cookies)); err != nil {
					panic(err)
				}
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	const perTurn = viewerRate / 200
	began := time.Now()
	for i := range total {
		if i%perTurn == 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / viewerRate)))
		}
		due <- i
	}
	close(due)
	asking.Wait()
	return answered
}

// ask asks for a viewer's standing.
func (as *viewersToBe) ask(client *http.Client, viewer int) error {
	r, err := http.NewRequest("GET", "http://"+as.Address+"/api/v1/viewer", nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.1", viewer/200, viewer%200))
	r.AddCookie(&http.Cookie{Name: as.Name, Value: as.Cookies[viewer]})
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("viewer %d: %s", viewer, answer.Status)
	}
	return err
}

// openViewers starts the process of n viewers, some of whom write. look lets them look for
// benchLasts, and returns the number of answers.
func (d *dashboard) openViewers(n int) (look func() int, stop func()) {
	d.Helper()
	as := viewersToBe{Address: d.address}
	for i := range n {
		user := chatguard.User{ID: fmt.Sprint(100_000 + i), Login: fmt.Sprint("user", 100_000+i)}
		c := d.viewerCookie(auth.Viewer{ID: user.ID, Login: user.Login})
		as.Name, as.Cookies = c.Name, append(as.Cookies, c.Value)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), benchLookers+"=yes")
	process.Stderr = os.Stderr
	in, inErr := process.StdinPipe()
	out, outErr := process.StdoutPipe()
	if inErr != nil || outErr != nil {
		d.Fatal(inErr, outErr)
	}
	if err := process.Start(); err != nil {
		d.Fatal(err)
	}
	to, lines := json.NewEncoder(in), bufio.NewScanner(out)
	if err := to.Encode(as); err != nil {
		d.Fatal(err)
	}
	look = func() int {
		if err := to.Encode(1); err != nil || !lines.Scan() {
			d.Errorf("the viewers don't answer: %v", err)
			return 0
		}
		answered, err := strconv.Atoi(lines.Text())
		if err != nil {
			d.Error(err)
		}
		return answered
	}
	return look, func() {
		in.Close()
		if err := process.Wait(); err != nil {
			d.Error(err)
		}
	}
}
