package faketwitch

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

// pageStart is the start of a page of the fake site, for people who try the demo. Its argument is
// the title.
const pageStart = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%[1]s · simulated Twitch</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 12vh auto; padding: 0 1rem; color: #1b1c22; background: #f6f3fb; }
h1 { font-size: 1.3rem } code { background: #e6defa; padding: 2px 6px; border-radius: 4px; font-size: 1.05rem }
input { font: inherit; width: 100%%; padding: 8px; box-sizing: border-box; margin: 4px 0 12px } button { font: inherit; padding: 8px 16px; margin-right: 8px }
.site { color: #5b3aa6; font-weight: 600 }
</style>
<p class="site">Simulated Twitch, on this machine</p>
<h1>%[1]s</h1>
`

// pageContent is what a page shows.
type pageContent struct {
	Title   string
	Says    []string
	Code    string
	Field   *pageField // a form, or nil
	Buttons []string
}

// pageField is the field of a form.
type pageField struct{ Label, Name, Value string }

func showPage(w http.ResponseWriter, c pageContent) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(c.render())) // an error means that the client is gone
}

// render returns the page as HTML. It doesn't use html/template, which makes the binary larger
// (TestBinary_UnusedMethods in cmd/chatguard).
func (c pageContent) render() string {
	var b strings.Builder
	write := func(format string, texts ...string) {
		var escaped []any
		for _, text := range texts {
			escaped = append(escaped, html.EscapeString(text))
		}
		fmt.Fprintf(&b, format, escaped...)
	}
	write(pageStart, c.Title)
	for _, says := range c.Says {
		write("<p>%s</p>", says)
	}
	write("\n")
	if c.Code != "" {
		write(`<p><code id="code">%s</code></p>`, c.Code)
	}
	write("\n")
	if f := c.Field; f != nil {
		write(`<form method="post"><label for="field">%s</label><input id="field" name="%s" value="%s" autocomplete="off">`+"\n", f.Label, f.Name, f.Value)
		for _, button := range c.Buttons {
			write(`<button name="do" id="%[1]s" value="%[1]s">%[1]s</button>`, button)
		}
		write("</form>")
	}
	write("\n</html>\n")
	return b.String()
}
