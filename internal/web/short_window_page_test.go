//go:build browser

package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/roles"
)

// covered are the fields of a page that something covers in part, or that are out of sight, once
// they have the focus. A field may be taller than the window.
const covered = `[...document.querySelectorAll("main :is(input, select, textarea):enabled, main :is(.row a, .row button, summary)")].filter((e) => e.checkVisibility() && e.type !== "hidden").map((field) => {
	field.focus();
	const { x, y, width, height } = field.getBoundingClientRect();
	const shown = Math.min(height, innerHeight);
	const isHit = (hit) => field.contains(hit) || hit?.closest("label")?.control === field;
	const hit = [4, shown / 2, shown - 4].map((down) => document.elementFromPoint(x + width / 2, y + down)).find((hit) => !isHit(hit));
	const isSeen = hit === undefined;
	return isSeen && y >= 0 && y + Math.min(height, innerHeight) <= innerHeight ? "" : field.id + " behind " + (hit?.outerHTML.slice(0, 80) ?? "nothing");
}).filter(Boolean).join("\n")`

// kept are the elements that stay in sight while the page scrolls.
const kept = `[...document.querySelectorAll("header, nav, .finish, .head, .controls")].filter((e) => /sticky|fixed/.test(getComputedStyle(e).position)).map((e) => e.className || e.localName).join()`

// At 400 % zoom, a window of 1,280 × 1,024 has 320 × 256 CSS pixels; at 200 %, 640 × 512 or less.
func TestShortWindow_FieldsAreSeen(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...))
	d.throttleUsers(3)
	w := d.open(640, 900)
	for _, size := range [][2]int64{{640, 400}, {320, 256}, {320, 700}, {640, 700}} {
		w.Must(chromedp.EmulateViewport(size[0], size[1]))
		w.See(fmt.Sprintf("innerWidth === %d && innerHeight === %d", size[0], size[1]))
		for _, page := range []string{"now", "people", "journal", "audit", "admin", "limits"} {
			w.goTo(page)
			if page == "limits" {
				w.See(`document.querySelector("#burst-0") && document.querySelector("#notice-text")`)
				w.Write("#burst-0", "two") // what is wrong makes the bar higher
				w.See(`document.querySelector("#save")`)
			}
			if got := browsertest.Eval[string](w.Window, covered); got != "" {
				t.Errorf("%s at %v:\n%s", page, size, got)
			}
			if got := browsertest.Eval[string](w.Window, kept); size[1] < 500 && strings.Trim(got, ",") != "" {
				t.Errorf("%s at %v: %s", page, size, got)
			}
			w.wantNoOverflow()
			if page == "limits" {
				w.Press(".discard")
			}
		}
	}
}

// TestRaidSigns_CoverNoFocus checks that the proposal of raid mode covers no control that has the
// focus, not even at the end of the page.
func TestRaidSigns_CoverNoFocus(t *testing.T) {
	d := dash(t)
	w := d.open(640, 900)
	d.throttleUsers(12)
	for i := range 40 {
		d.say(chatguard.User{ID: strconv.Itoa(1000 + i), Roles: chatguard.Roles{roles.FirstTimer}}, 1)
	}
	w.See(`document.querySelector(".raid-signs") && document.querySelectorAll(".row").length === 12`)
	for _, width := range []int64{360, 1280} {
		w.Must(chromedp.EmulateViewport(width, 740))
		w.See(fmt.Sprintf(`innerWidth === %d && (document.querySelector(".now > .figures") === null) === (innerWidth < 980)`, width))
		if got := browsertest.Eval[string](w.Window, covered); got != "" {
			t.Errorf("%d pixels:\n%s", width, got)
		}
	}
}
