#!/bin/sh
# Asks chatguard about each line of standard input: sh check.sh ROOM USER < lines
# Room and user go into the JSON as they are, so they may have no quotes and no backslashes; the line's text isn't sent.
address=${CHATGUARD_URL:-http://127.0.0.1:8080}/api/v1/check

while read -r _; do
	verdict=$(printf '{"channel":"%s","user_id":"%s"}' "$1" "$2" | curl --silent --show-error --max-time 2 --data-binary @- \
		--header "Authorization: Bearer $CHATGUARD_TOKEN" --header "Content-Type: application/json" "$address")
	wait=$(echo "$verdict" | sed -n 's/.*"retry_after_ms":\([0-9]*\).*/\1/p')
	case $verdict in
	*'"allowed":true'*) echo shown ;;
	*'"never":true'*) echo "dropped: waiting doesn't help" ;;
	*'"allowed":false'*) echo "dropped: wait $(((wait + 999) / 1000)) s" ;;
	*) echo "unchecked: $verdict" >&2 && echo shown ;; # chat goes on without chatguard
	esac
done
