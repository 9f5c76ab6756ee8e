module github.com/chatguard/chatguard/examples/echo

go 1.26.0

replace github.com/chatguard/chatguard => ../..

require (
	github.com/chatguard/chatguard v0.0.0
	github.com/coder/websocket v1.8.15
	github.com/labstack/echo/v5 v5.4.5
	go.uber.org/goleak v1.3.0
)
