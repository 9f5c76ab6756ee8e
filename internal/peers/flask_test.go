package peers

import (
	"net/http"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// flask has the facts in test_flask_ext.py, test_decorators.py and test_regressions.py of
// flask-limiter 4.1.1. Its fixed windows begin with the first request, as a user window does. A
// decorator of a route is a policy of that channel, and a limiter of its own is an httpguard.Limit
// around another one. Its logs, its stores and its callbacks are left out.
func flask(f *facts) {
	f.group("routes", flaskRoutes)
	f.group("costs", flaskCosts)
	f.group("what counts", flaskCounts)
	f.group("exempt", flaskExempt)
	f.group("headers", flaskHeaders)
	f.group("several limiters", flaskSeveral)
	f.group("first breach", flaskBreach)
	f.lacks(31, "a limit on the number of refused requests: a policy's penalties are for people in a chat")
	f.lacks(5, "a Retry-After of the handler's that stays, and other names for headers: a func in LimitOptions.Headers writes any")
}

// byMethod counts each method of a path on its own.
func byMethod(r *http.Request) string { return r.Method + r.URL.Path }

func flaskRoutes(f *facts) {
	a := f.flask(flaskLimiter{limits: "1 hour, 10 day", routes: map[string]string{"/t1": "100 hour, 10 minute"}})
	a.get("/t1", 200)
	a.get("/t2", 200, 429)
	a = f.flask(flaskLimiter{limits: "1 hour", options: httpguard.LimitOptions{Channel: byMethod}})
	a.get("/t1", 200, 429)
	a.get("POST /t1", 200, 429)
	a = f.flask(flaskLimiter{limits: "100 minute"})
	a.repeats(100, "/t1", 200)
	a.get("/t1", 429)
	a = f.flask(flaskLimiter{limits: "1 minute", observes: true})
	a.get("/t1", 200, 200)
	a.get("/t2", 200, 200)
	a = f.flask(flaskLimiter{limits: "app 2 minute"})
	a.get("/t1", 200)
	a.get("/t2", 200)
	a.get("/t1", 429)

	a = f.flask(flaskLimiter{limits: "app 2 minute"})
	for _, method := range []string{"GET", "POST"} {
		a.user = method + " 127.0.0.1"
		a.get(method+" /t1", 200)
		a.get(method+" /t2", 200)
		a.get(method+" /t1", 429)
		a.get(method+" /t2", 429)
	}
	a = f.flask(flaskLimiter{limits: "2 minute", suspects: chatguard.Override{Messages: 1}})
	a.get("/t1", 200, 200, 429)
	a.role = "suspect"
	a.get("/t2", 200, 429)
	a = f.flask(flaskLimiter{limits: "app 2 minute", suspects: chatguard.Override{Messages: 1}})
	a.get("/t1", 200, 200)
	a.get("/t2", 429)
	a.role = "suspect"
	a.differs("status of a suspect", a.ask("/t1").Code, 200, 429,
		"another number begins another count there; a user's usage stays under a role's other numbers here, so that nobody gains by a change; chatguard is right")
	a.get("/t2", 429)

	a = f.flask(flaskLimiter{limits: "50 minute, all 100 minute"})
	a.user = "127.0.0.2"
	a.repeats(50, "/t1", 200)
	a.repeats(50, "/t1", 429)
	a.user = "127.0.0.1"
	a.repeats(50, "/t1", 200)
	a.get("/t1", 429)
	a.user = "127.0.0.3"
	a.get("/t1", 429)
	a = f.flask(flaskLimiter{limits: "1 second"})
	a.get("/t/1", 200, 429)
	a.get("/t/2", 200, 429)
	flaskWindows(f)
}

func flaskWindows(f *facts) {
	a := f.flask(flaskLimiter{limits: "2 minute, 1 second"})
	a.get("/", 200, 429)
	for _, c := range [][2]int{{60, 200}, {1, 200}, {1, 429}} {
		a.forward(c[0])
		a.get("/", c[1])
	}
	a = f.flask(flaskLimiter{limits: "2 minute", routes: map[string]string{"GET/": "2 minute, 1 second"}, options: httpguard.LimitOptions{Channel: byMethod}})
	a.get("/", 200, 429)
	a.get("PUT /", 200, 200, 429)
	for _, c := range [][2]int{{60, 200}, {1, 200}, {1, 429}} {
		a.forward(c[0])
		a.get("/", c[1])
		a.get("PUT /", c[1])
	}
	a = f.flask(flaskLimiter{limits: "1 second, 2 minute"})
	a.get("/t1", 200, 429)
	a.forward(2)
	a.get("/t1", 200, 429)
	a = f.flask(flaskLimiter{limits: "1 second", options: httpguard.LimitOptions{Channel: byMethod}})
	a.get("/", 200, 429)
	a.get("POST /", 200, 429)
	a = f.flask(flaskLimiter{limits: "2 second", routes: map[string]string{"GET/": "1 second"}, options: httpguard.LimitOptions{Channel: byMethod}})
	a.get("/", 200, 429)
	a.get("POST /", 200, 200, 429)

	shared := func(r *http.Request) string {
		return map[string]string{"/t1": "a", "/t2": "a", "/t3": "b"}[r.URL.Path]
	}
	for _, more := range []bool{false, true} { // a named one and a dynamic one
		a = f.flask(flaskLimiter{limits: "1 minute", options: httpguard.LimitOptions{Channel: shared}})
		a.get("/t1", 200)
		a.get("/t3", 200)
		a.get("/t2", 429)
		if more {
			a.get("/t3", 429)
		}
	}
}

func flaskCosts(f *facts) {
	for range 2 { // a number and a func
		two := httpguard.LimitOptions{Cost: func(*http.Request) int { return 2 }}
		f.flask(flaskLimiter{limits: "4 second", options: two}).get("/root", 200, 200, 429)
		two.Channel = func(*http.Request) string { return "a" }
		a := f.flask(flaskLimiter{limits: "4 minute", options: two})
		a.get("/t1", 200)
		a.get("/t2", 200, 429)
	}
	var a *flaskApp
	a = f.flask(flaskLimiter{limits: "app 10 day, 2 hour", options: httpguard.LimitOptions{Cost: func(*http.Request) int {
		if a.role == "suspect" {
			return 2
		}
		return 1
	}}})
	a.get("/t1", 200, 200, 429)
	a.forward(3600)
	a.role = "suspect"
	a.get("/t1", 200, 429)
	a.get("/t2", 200)
	for _, want := range []int{200, 200, 429} {
		a.forward(3600)
		a.get("/t2", want)
	}
	f.flask(flaskLimiter{limits: "20 minute", options: httpguard.LimitOptions{
		Cost: func(*http.Request) int { return 15 }, Counts: func(status int) bool { return status == 200 },
	}}).get("/", 200, 429)
}

func flaskCounts(f *facts) {
	failed, good := func(status int) bool { return status == 400 }, func(status int) bool { return status == 200 }
	one := func(*http.Request) string { return "one" }
	a := f.flask(flaskLimiter{limits: "1 hour", options: httpguard.LimitOptions{Channel: one, Counts: func(status int) bool { return status != 200 }}})
	a.get("/t1/1", 200, 200)
	a.get("/t1/bad", 400)
	a.get("/t1/1", 429)
	a.get("/t1/bad", 429)
	a.forward(3600)
	a.get("/t1/1", 200)
	a.get("/t1/bad", 400)

	a = f.flask(flaskLimiter{limits: "app 2 minute", options: httpguard.LimitOptions{Counts: failed}})
	for range 2 {
		a.get("/t1", 200)
		a.get("/bad", 400)
	}
	a.get("/t1", 429)
	a.get("/bad", 429)

	a = f.flask(flaskLimiter{limits: "1 second", options: httpguard.LimitOptions{Channel: one, Counts: good}},
		flaskLimiter{limits: "1 minute", options: httpguard.LimitOptions{Channel: one, Counts: failed}})
	a.get("/t/1", 200, 429)
	a.forward(1)
	a.get("/t/bad", 400)
	a.forward(1)
	a.get("/t/1", 429)
	a.get("/t/bad", 429)
	a.forward(60)
	a.get("/t/1", 200)

	a = f.flask(flaskLimiter{limits: "2 minute", options: httpguard.LimitOptions{Channel: one, Counts: failed}})
	a.get("/bp/1", 200, 200)
	a.get("/1", 200)
	a.get("/bp/bad", 400)
	a.get("/bad", 400)
	a.get("/bp/bad", 429)
	a.get("/bp/1", 429)
	a.get("/1", 429)
	a.get("/bad", 429)
	a.forward(60)
	a.get("/bp/1", 200)
	a.get("/1", 200)
}
