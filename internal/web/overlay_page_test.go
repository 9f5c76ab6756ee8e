//go:build browser

package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

// overlaidNames are display names of several scripts, and some that are meant to do harm.
var overlaidNames = []string{
	"Anna",
	"<img src=x onerror=alert(1)>",
	"\u202eyadot rettiwt\u2066\u2067 mirrored",
	"שלום עולם",
	"مرحبا بالعالم",
	"日本語の名前",
	"ไทยที่นี่",
	"Z" + strings.Repeat("\u0335\u0489\u035d\u0313", 20) + "a" + strings.Repeat("\u0316\u0359", 30) + "lgo",
	strings.Repeat("WideName", 63),
	"😀👩‍👩‍👧‍👦🏳️‍🌈 emoji",
}

// throttleHostile throttles a user of each hostile name, the first one last.
func (d *dashboard) throttleHostile() {
	d.Helper()
	for i := range overlaidNames {
		n := len(overlaidNames) - 1 - i
		d.sayAt(chatguard.User{ID: fmt.Sprint(100 + n), Login: fmt.Sprint("user", n), DisplayName: overlaidNames[n]}, d.now().Add(time.Duration(i)*time.Millisecond))
		d.say(chatguard.User{ID: fmt.Sprint(100 + n), Login: fmt.Sprint("user", n), DisplayName: overlaidNames[n]}, 3)
	}
}

// openOverlay opens the overlay in a window of the size of a stream.
func (d *dashboard) openOverlay(query string) *browsertest.Window {
	d.Helper()
	w := browsertest.Open(d.TB, 1920, 1080)
	w.Transparent()
	w.Must(chromedp.Navigate("http://" + d.address + "/overlay" + query + "#token=" + d.newToken(auth.Overlay) + "&channel=" + channelID))
	w.See(`document.querySelector(".overlay, .overlay-notes")`)
	return w
}

// overPicture returns the overlay's picture, and the same over a picture with bright, dark and
// colourful parts, as a stream shows it.
func overPicture(t *testing.T, w *browsertest.Window) (alone, over image.Image, behind *image.RGBA) {
	t.Helper()
	alone, err := png.Decode(bytes.NewReader(w.Picture()))
	if err != nil {
		t.Fatal(err)
	}
	behind = testPicture(alone.Bounds())
	mixed := image.NewRGBA(alone.Bounds())
	draw.Draw(mixed, mixed.Rect, behind, image.Point{}, draw.Src)
	draw.Draw(mixed, mixed.Rect, alone, image.Point{}, draw.Over)
	return alone, mixed, behind
}

// testPicture returns a checkerboard of white, black and colours.
func testPicture(size image.Rectangle) *image.RGBA {
	p := image.NewRGBA(size)
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			c := color.RGBA{uint8(255 * x / size.Max.X), uint8(255 * y / size.Max.Y), 128, 255}
			switch (x/60 + y/60) % 4 {
			case 0:
				c = color.RGBA{255, 255, 255, 255}
			case 2:
				c = color.RGBA{0, 0, 0, 255}
			}
			p.SetRGBA(x, y, c)
		}
	}
	return p
}

// boxOf returns the place of the overlay's box.
func boxOf(w *browsertest.Window) image.Rectangle {
	w.Helper()
	b := browsertest.Eval[[4]int](w, `(({ left, top, right, bottom }) => [Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom)])(document.querySelector(".overlay-box").getBoundingClientRect())`)
	return image.Rect(b[0], b[1], b[2], b[3])
}

// The overlay leaves the picture behind it as it is, and can be read on any part of it: each letter
// is white, and has black around it.
func TestOverlayPage_OverPicture(t *testing.T) {
	d := dash(t)
	d.throttleHostile()
	d.do("POST", "/api/v1/channels/7/raid", nil, asOwner)
	w := d.openOverlay("?size=40&names=10")
	w.See(`document.querySelectorAll(".overlay-names li").length === 10 && document.querySelector(".overlay-raid")`)
	alone, over, behind := overPicture(t, w)
	box := boxOf(w)
	if size := alone.Bounds().Size(); size != image.Pt(1920, 1080) {
		t.Fatalf("the picture is %v", size)
	}
	clear, white, black := 0, 0, 0
	for y := range 1080 {
		for x := range 1920 {
			at := image.Pt(x, y)
			_, _, _, alpha := alone.At(x, y).RGBA()
			if alpha != 0 && !at.In(box) {
				t.Fatalf("something is drawn at %v, outside of %v", at, box)
			}
			if alpha == 0 && over.At(x, y) != color.Color(behind.RGBAAt(x, y)) {
				t.Fatalf("the picture is changed at %v", at)
			}
			switch r, g, b, _ := over.At(x, y).RGBA(); {
			case !at.In(box):
			case alpha == 0:
				clear++
			case alpha == 0xffff && r == 0xffff && g == 0xffff && b == 0xffff:
				white++
			case r|g|b == 0:
				black++
			}
		}
	}
	if clear < 50_000 || white < 10_000 || black < 5_000 {
		t.Errorf("%d pixels are clear, %d white and %d black", clear, white, black)
	}
}

// visibleLines is a list of the lines in sight. A line that doesn't fit is out of sight as a whole.
const visibleLines = `[...document.querySelectorAll(".overlay-line")].filter((line) => {
	const { left, right } = line.getBoundingClientRect(), list = line.parentElement.getBoundingClientRect();
	return left < list.right - 0.5 && right > list.left + 0.5;
})`

// outside lists what is drawn outside of the page or the box, or isn't one line.
const outside = `(() => {
	const box = document.querySelector(".overlay-box").getBoundingClientRect();
	const isIn = ({ left, top, right, bottom }, [l, t, r, b]) => left >= l - 0.5 && top >= t - 0.5 && right <= r + 0.5 && bottom <= b + 0.5;
	const size = parseFloat(getComputedStyle(document.querySelector(".overlay")).fontSize);
	const wrong = ` + visibleLines + `.filter((line) => {
		const place = line.getBoundingClientRect();
		return !isIn(place, [box.left, box.top, box.right, box.bottom]) || Math.abs(place.height - 1.4 * size) > 1 || getComputedStyle(line).overflow !== "hidden";
	}).map((line) => line.textContent.slice(0, 20) + JSON.stringify(line.getBoundingClientRect()));
	if (!isIn(box, [0, 0, innerWidth, innerHeight])) wrong.push("box " + JSON.stringify(box));
	if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight) wrong.push("the page scrolls");
	return wrong;
})()`

func TestOverlayPage_Fits(t *testing.T) {
	d := dash(t)
	d.throttleHostile()
	d.do("POST", "/api/v1/channels/7/raid", nil, asOwner)
	w := browsertest.Open(t, 1920, 1080)
	for _, look := range []struct {
		size     int
		position string
	}{{16, "bottom-right"}, {40, "top-left"}, {77, "middle-center"}, {120, "bottom-right"}, {120, "top-left"}} {
		w.Must(chromedp.Navigate(fmt.Sprintf("http://%s/overlay?size=%d&position=%s&names=10#token=%s", d.address, look.size, look.position, token)))
		w.See(`document.querySelectorAll(".overlay-names li").length === 10`)
		if wrong := browsertest.Eval[[]string](w, outside); len(wrong) > 0 {
			t.Errorf("%v: %q", look, wrong)
		}
		if n, want := browsertest.Eval[int](w, visibleLines+".length"), min(12, int((1080-2*32-0.55*float64(look.size))/(1.4*float64(look.size)))); n != want {
			t.Errorf("%v: %d lines are visible, want %d", look, n, want)
		}
	}
}

func TestOverlayPage_Looks(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	w := d.openOverlay("?size=60&color=ff0000&background=00ff0080&show=names&position=bottom-right")
	w.See(isSpammer)
	alone, _, _ := overPicture(t, w)
	box := boxOf(w)
	if box.Max != image.Pt(1920-32, 1080-32) {
		t.Errorf("the box is at %v", box)
	}
	if at := (image.Point{box.Min.X + 30, box.Min.Y + 3}); alone.At(at.X, at.Y) != color.Color(color.NRGBA{0, 255, 0, 128}) {
		t.Errorf("the background is %v", alone.At(at.X, at.Y))
	}
}

// isSpammer is true if the overlay names one user.
const isSpammer = `document.querySelector(".overlay-names")?.innerText === "Spammer" && !document.querySelector(".overlay-dot")`

// While chatguard is away, nothing is shown, later a dot. Then it goes on by itself, until its token
// is revoked. Then the page asks again once a minute only.
func TestOverlayPage_Away(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	w := d.openOverlay("")
	w.See(isSpammer)
	d.stop()
	w.See(`!document.querySelector(".overlay-box") && !document.querySelector(".overlay-dot")`)
	w.See(`document.querySelector(".overlay-dot") && document.body.innerText === ""`)
	d.start(d.opts)
	d.say(spammer, 1)
	w.See(isSpammer)
	if _, err := d.store.Tokens.Revoke(t.Context(), "may-overlay"); err != nil {
		t.Fatal(err)
	}
	w.See(`document.querySelector(".overlay-notes p") && !document.querySelector(".overlay-box")`)
}

// The card on the page Admin makes the address, with a token and the chosen looks.
func TestOverlayCard(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	w := d.openAs("carla", auth.Own, 1400, 900)
	w.goTo("admin")
	w.See(`document.querySelector(".overlay-preview .overlay-names")?.innerText === "Spammer"`)
	w.Write("#overlay-size", "64")
	w.See(`getComputedStyle(document.querySelector(".overlay-preview .overlay")).fontSize === "64px"`)
	w.Click("#overlay-make")
	w.See(`document.activeElement.className === "new-secret"`)
	w.Accessible()
	address := browsertest.Eval[string](w.Window, `document.querySelector(".overlay-card .new-secret code").innerText`)
	w.Must(chromedp.Navigate(address))
	w.See(`document.querySelector(".overlay-page .overlay-names")?.innerText === "Spammer"`)
	if list, err := d.store.Tokens.Holders(t.Context()); err != nil || !slices.ContainsFunc(list, func(h signin.Holder) bool { return h.Name == "overlay-somechannel" && h.Access == auth.Overlay }) {
		t.Errorf("%+v, %v", list, err)
	}
}

// It also works below a path of another site.
func TestOverlayPage_BelowPath(t *testing.T) {
	d, proxy := runBehindProxy(t, httptest.NewServer)
	d.say(spammer, 4)
	w := browsertest.Open(t, 1920, 1080)
	w.Must(chromedp.Navigate(proxy.URL + "/chat/guard/overlay#token=" + token))
	w.See(isSpammer)
}
