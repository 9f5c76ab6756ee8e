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

// pageRoutes adds the pages: where people register an application, authorize a login, and write in
// a channel as its owner.
func (s *Server) pageRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/apps/create", s.showApplication)
	mux.HandleFunc("GET /activate", s.showActivate)
	mux.HandleFunc("POST /activate", s.activate)
	mux.HandleFunc("GET /oauth2/authorize", s.showAuthorize)
	mux.HandleFunc("POST /oauth2/authorize", s.answerAuthorize)
	mux.HandleFunc("GET /popout/{channel}/chat", s.showChat)
	mux.HandleFunc("POST /popout/{channel}/chat", s.writeChat)
}

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

func (s *Server) showApplication(w http.ResponseWriter, _ *http.Request) {
	showPage(w, pageContent{Title: "Your application is registered", Says: []string{"Its client ID is:"}, Code: s.opts.ClientID})
}

func (s *Server) showActivate(w http.ResponseWriter, r *http.Request) {
	showPage(w, pageContent{
		Title: "Authorize chatguard?", Says: []string{"It shows this code:"}, Code: r.URL.Query().Get("device-code"),
		Field: &pageField{"You are signed in as", "account", s.opts.Login}, Buttons: []string{"Authorize", "Deny"},
	})
}

func (s *Server) activate(w http.ResponseWriter, r *http.Request) {
	code, account := r.URL.Query().Get("device-code"), strings.TrimSpace(r.PostFormValue("account"))
	decided := false
	switch {
	case r.PostFormValue("do") == "Deny":
		decided = s.Deny(code)
	case account != "":
		decided = s.ApproveAs(code, account)
	}
	says := "Go back to chatguard."
	if !decided {
		says = "There is no login with this code. Get a new one."
	}
	showPage(w, pageContent{Title: "Done", Says: []string{says}})
}

func (s *Server) showChat(w http.ResponseWriter, r *http.Request) { s.showChatAfter(w, r, "") }

// showChatAfter shows the chat's page with a note about what was written last.
func (s *Server) showChatAfter(w http.ResponseWriter, r *http.Request, note string) {
	channel := r.PathValue("channel")
	c := pageContent{
		Title: "Chat of " + channel, Says: []string{"You are signed in as " + channel + "."},
		Field: &pageField{"Send a message", "text", "/mod " + s.opts.Login}, Buttons: []string{"Chat"},
	}
	if note != "" {
		c.Says = append(c.Says, note)
	}
	showPage(w, c)
}

// writeChat writes a message, or carries out /mod and /unmod.
func (s *Server) writeChat(w http.ResponseWriter, r *http.Request) {
	channel, text := r.PathValue("channel"), strings.TrimSpace(r.PostFormValue("text"))
	command, account, _ := strings.Cut(text, " ")
	switch command {
	case "/mod", "/unmod":
		if account == "" {
			s.showChatAfter(w, r, "Name an account after "+command+".")
			return
		}
		if strings.EqualFold(account, s.opts.Login) {
			s.SetBotModerator(channel, command == "/mod")
		} else {
			s.SetModerator(channel, account, command == "/mod")
		}
		s.showChatAfter(w, r, "Done: "+text)
		return
	}
	if _, err := s.Say(Line{Channel: channel, Login: channel, Badges: "broadcaster/1", Text: text}); err != nil {
		s.showChatAfter(w, r, "Not sent: "+err.Error())
		return
	}
	s.showChatAfter(w, r, "Sent.")
}

// SiteURL returns the base URL of the pages.
func (s *Server) SiteURL() string { return "http://" + s.web.Addr().String() }
