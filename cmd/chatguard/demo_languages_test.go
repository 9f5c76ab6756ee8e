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

// cutChoices returns the choices of the list's filters and order that don't fit, and the states in
// the header that don't.
const cutChoices = `import("/text/text.js").then(({ t }) => {
	const pen = document.createElement("canvas").getContext("2d");
	const choices = [...document.querySelectorAll(".list-bar option")].filter(({ text, parentElement: select }) => {
		const { fontWeight, fontSize, fontFamily } = getComputedStyle(select);
		pen.font = [fontWeight, fontSize, fontFamily].join(" ");
		return pen.measureText(text).width > select.clientWidth - 24; // the padding and the arrow
	});
	const shown = document.querySelector(".status .word"), word = shown.cloneNode();
	shown.replaceWith(word);
	const states = ["good", "paused", "raid", "raid-signs", "observing", "connecting", "disconnected", "store-check", "store-away-short", "store-refuses-short"];
	const words = states.map((state) => (word.textContent = t("shell." + state))).filter((text) => {
		word.textContent = text;
		return word.scrollHeight > word.clientHeight + 1 || word.scrollWidth > word.clientWidth + 1;
	});
	word.replaceWith(shown);
	return [...choices.map(({ text }) => text), ...words];
})`

// TestDemo_Languages shows every page of the demo on a small phone. Nothing may be wider than the
// window, and no text may be cut. The languages take turns. The flag -pages makes pictures.
func TestDemo_Languages(t *testing.T) {
	d := openDemo(t)
	for _, tag := range turntest.Choose(t, t.Name(), language.All) {
		t.Run(tag, func(t *testing.T) {
			d.inLanguage(tag)
			d.Must(chromedp.EmulateViewport(360, 740, chromedp.EmulateTouch))
			d.See(`innerWidth === 360 && matchMedia("(pointer: coarse)").matches`)
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
				if s.name == "now" {
					if cut := browsertest.Await[[]string](d.Window, cutChoices); len(cut) > 0 {
						t.Errorf("cut: %q", cut)
					}
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
