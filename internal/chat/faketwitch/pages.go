package faketwitch

import (
	"net/http"
	"strings"
)

// showApplication shows the page on which people register an application.
func (s *Server) showApplication(w http.ResponseWriter, _ *http.Request) {
	showPage(w, pageContent{Title: "Your application is registered", Says: []string{"Its client ID is:"}, Code: s.opts.ClientID})
}

// showActivate asks whether the person authorizes a login by device code.
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

// showChat shows the page on which people write in a channel as its owner.
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
