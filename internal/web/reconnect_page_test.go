//go:build browser

package web

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
)

// wire connects a browser to a dashboard and can be cut.
type wire struct {
	address string
	to      string // the dashboard's address, also after a restart

	mu        sync.Mutex
	isCut     bool
	ends      []net.Conn
	snapshots int // sent to the browser
}

// newWire returns a wire to the dashboard.
func newWire(d *dashboard) *wire {
	d.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.Fatal(err)
	}
	w := &wire{address: listener.Addr().String(), to: d.address}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			browser, err := listener.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { w.carry(browser) })
		}
	})
	d.Cleanup(func() {
		listener.Close()
		w.cut(true)
		carrying.Wait()
	})
	return w
}

// carry copies bytes both ways until one end closes.
func (w *wire) carry(browser net.Conn) {
	defer browser.Close()
	server, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer server.Close()
	if !w.hold(browser, server) {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		io.Copy(server, browser)
		server.Close()
	})
	io.Copy(browser, io.TeeReader(server, w))
	browser.Close()
	up.Wait()
}

// hold registers a connection's ends. It returns false if the wire is cut.
func (w *wire) hold(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, ends...)
	return !w.isCut
}

// Write counts the snapshots that the server sends. It relies on each frame starting at the
// beginning of a read.
func (w *wire) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.snapshots += bytes.Count(data, []byte(`"type":"snapshot"`))
	return len(data), nil
}

// cut cuts or restores the wire.
func (w *wire) cut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = cut
	for _, end := range w.ends {
		end.Close()
	}
	w.ends = nil
}

func (w *wire) snapshotsSent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshots
}

// isLost and isBack describe the page without and with a connection.
const (
	isLost = `document.querySelector(".lost")`
	isBack = `!document.querySelector(".lost")`
)

func TestReconnect_MissesNothing(t *testing.T) {
	d := dash(t)
	wire := newWire(d)
	w := d.openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + wire.address + "/#signin=good-code"))
	d.say(chatguard.User{ID: "41", Login: "anna"}, 4)
	w.See(hasRows("anna", 1))
	before := wire.snapshotsSent()
	for _, login := range []string{"berta", "clara"} {
		wire.cut(true)
		w.See(isLost)
		d.say(chatguard.User{ID: "id-of-" + login, Login: login}, 4)
		wire.cut(false)
		w.See(isBack + "&&" + hasRows(login, 1) + "&&" + hasRows("anna", 1))
	}
	wire.cut(true)
	w.See(isLost)
	d.put(burst(9)) // everyone may write
	wire.cut(false)
	w.See(isBack + "&&" + hasText("Nobody is throttled"))
	if n := wire.snapshotsSent() - before; n != 0 {
		t.Errorf("it took %d snapshots", n)
	}

	d.restart() // the new process has other numbers
	w.See(hasText("Nobody is throttled"))
	d.say(chatguard.User{ID: "42", Login: "dora"}, 10)
	w.See(isBack + "&&" + hasText("dora"))
	if n := wire.snapshotsSent() - before; n != 1 {
		t.Errorf("after a restart it took %d snapshots", n)
	}
}
