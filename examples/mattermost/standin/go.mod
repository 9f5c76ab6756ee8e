module github.com/mattermost/mattermost/server/public

go 1.26.0
