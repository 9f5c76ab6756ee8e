module github.com/chatguard/chatguard/examples/mattermost

go 1.26.0

replace (
	github.com/chatguard/chatguard => ../..
	github.com/mattermost/mattermost/server/public => ./standin
)

require (
	github.com/chatguard/chatguard v0.0.0
	github.com/mattermost/mattermost/server/public v0.0.0
)
