//go:build browser

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/turntest"
)

// inLanguage loads the page again in a language.
func (d *dashboard) inLanguage(tag string) {
	d.Helper()
	d.Must(
		chromedp.Evaluate[chromedp.Void]("document.cookie = `"+language.Cookie+"="+tag+"; path=/; SameSite=Lax`"),
		chromedp.Reload(),
	)
	d.See(`document.documentElement.lang === "` + tag + `" && document.querySelector("main h1")`)
}

// cutTexts returns the texts that don't fit: elements beyond the right edge of the window, unless a
// container of theirs scrolls or shortens its text, and texts that are cut without an ellipsis.
const cutTexts = `[...document.querySelectorAll("body *")].filter((e) => {
	const box = e.getBoundingClientRect(), style = getComputedStyle(e);
	if (box.width === 0 || box.height <= 1 || style.visibility === "hidden" || e.closest("svg, canvas, .uplot")) return false;
	const isUnseen = (of) => of && (of.getBoundingClientRect().width <= 1 || isUnseen(of.parentElement)); // only for screen readers
	if (isUnseen(e)) return false;
	const scrolls = (of) => of && of !== document.body && (/auto|scroll/.test(getComputedStyle(of).overflowX) || scrolls(of.parentElement));
	if (scrolls(e)) return false;
	const shortens = (of) => of && (getComputedStyle(of).textOverflow === "ellipsis" || shortens(of.parentElement));
	const isText = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
	const isCut = isText && e.scrollWidth > e.clientWidth + 1 && style.overflowX !== "visible" && style.textOverflow !== "ellipsis";
	return (box.right > innerWidth + 1 && !shortens(e.parentElement)) || isCut;
}).map((e) => e.tagName.toLowerCase() + "." + e.className + ": " + e.innerText?.slice(0, 60))`

// TestDemo_Languages shows every page of the demo on a phone. Nothing may be wider than the window,
// and no text may be cut. The languages take turns. The flag -pages makes pictures.
func TestDemo_Languages(t *testing.T) {
	d := openDemo(t)
	for _, tag := range turntest.Choose(t, t.Name(), language.All) {
		t.Run(tag, func(t *testing.T) {
			d.inLanguage(tag)
			d.resize(phone)
			d.prefer("light")
			for _, s := range pageStates {
				s.show(d)
				if browsertest.Eval[string](d.Window, "document.documentElement.lang") != tag { // on a host of its own
					d.inLanguage(tag)
					s.show(d)
				}
				d.drawn()
				if s.name == "overlay" {
					continue // it is for streams, not for phones, and shortens long names
				}
				if cut := browsertest.Eval[[]string](d.Window, cutTexts); len(cut) > 0 {
					t.Errorf("%s: doesn't fit:\n%s", s.name, strings.Join(cut, "\n"))
				}
				if *pages != "" {
					d.save(filepath.Join(*pages, tag+"-"+s.name+".png"), d.Picture())
				}
			}
			d.showPage("limits", ".discard")
			d.Click(".discard") // the draft would hold the page
			d.See(`document.querySelector("#burst-0").value === "3"`)
		})
	}
}
