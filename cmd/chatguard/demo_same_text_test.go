//go:build browser

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/demo"
)

// TestDemo_SameText tries the presets, adds both limits on repeated messages, and checks that they
// throttle a person who repeats a message, and the raiders who paste the same ones, and that the
// pages say so. With the flags of TestDemo_Pages, it makes pictures.
func TestDemo_SameText(t *testing.T) {
	d := openDemo(t)
	d.showPage("limits", "#choose-preset")
	d.Click("#choose-preset")
	d.See(`document.querySelector("#preset-no-repeats")`)
	chosen := func(want string) {
		t.Helper()
		d.See(`[...document.querySelectorAll(".presets [aria-pressed=true]")].map(({ id }) => id).join() === "` + want + `"`)
	}
	d.Click("#preset-no-repeats")
	d.Click("#preset-raid-proof")
	d.See(`document.querySelector("#messages-2").value === "300"`)
	d.Click("#preset-copy-paste")
	chosen("preset-raid-proof,preset-no-repeats,preset-copy-paste")
	d.Click("#undo-preset")
	d.Click("#undo-preset")
	chosen("preset-no-repeats")
	d.Click("#preset-no-repeats") // removes it
	chosen("")
	d.Click("#preset-copy-paste")
	d.See(`[...document.querySelectorAll(".limit .rule")].at(-1).textContent === "The same message 3 times in any 30 seconds"`)
	d.Click("#preset-no-repeats")
	d.See(`[...document.querySelectorAll(".limit .rule")].at(-1).textContent === "The same message once in any 30 seconds"`)
	d.See(`document.querySelectorAll('.preview[aria-busy="false"] th[scope="col"]').length >= 4`)
	d.Must(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".limit")].at(-2).scrollIntoView()`))
	d.picture("same-text-limits")
	d.Accessible()
	d.resize(sizes[0])
	// A label that begins a line has its dot outside, where it is clipped. None ends with a dot.
	d.See(`[...document.querySelectorAll(".limit .labels")].some((labels) => labels.children[1].offsetTop < labels.lastElementChild.offsetTop)`)
	d.See(`[...document.querySelectorAll(".limit .labels > *")].every((label) => getComputedStyle(label, "::after").content === "none" && getComputedStyle(label.parentElement).overflowX === "clip")`)
	d.resize(laptop)
	d.Write(`.limit:last-of-type [id^="every-"]`, "5m") // longer than the rest of the test
	d.Click("#save")
	d.See(`document.querySelector(".note.good")`)

	for i, login := range []string{"anna", "berta", "copyist", "copyist", "copyist"} {
		text := []string{"who wants to see my drawing?", "Who wants to see my DRAWING!!! 2"}[i%2]
		if _, err := d.twitch.Say(faketwitch.Line{Channel: demo.First, Login: login, DisplayName: strings.ToUpper(login[:1]) + login[1:], Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	copyist := d.twitch.UserID("copyist")
	row := fmt.Sprintf(`.row[data-user="%s"]`, copyist)
	d.showPage("now?limit=no-repeats", row)
	d.See(`document.querySelector('` + row + ` .left').textContent.startsWith("same in")`)
	d.Accessible()

	d.showPage("people?user="+copyist, ".same-text")
	d.See(`document.querySelector(".same-text").textContent.includes("The same message 3 times in any 30 seconds, by everyone together, similar ones, too")`)
	d.See(`/^Copyist may write now.* The same message passes again in [34] min .*\(limit “no-repeats”\). They wrote it 3 times in 5 minutes; 3 people did in 10 minutes.$/.test(document.querySelector(".why").textContent)`)
	d.See(`document.querySelector(".entry .limit").textContent === "no-repeats" && document.querySelector(".entry .repeated").textContent === "3×, 3 people"`)
	d.picture("same-text-card")
	d.Accessible()
	d.Click("#amend-reset")
	d.Click(".amend .primary")
	d.See(`/^Reset: usage and strikes are cleared. The same message still has to wait [34] min/.test(document.querySelector(".amends .note")?.textContent.trim())`)
	d.showPage("now?limit=no-repeats", row)
	d.See(`document.querySelector('` + row + ` .left').textContent.startsWith("same in")`)

	d.crowd.Raid()
	d.showPage("now?limit=copy-paste", "main")
	d.See(`document.querySelectorAll("main .row").length >= 5`)
	d.picture("same-text-raid")
}

// picture makes the pictures of a state that the flags request.
func (d *dashboard) picture(state string) {
	d.Helper()
	d.photograph(state, sizes)
	d.resize(laptop)
	d.prefer("light")
}
