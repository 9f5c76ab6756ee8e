#!/bin/sh
# Asks chatguard about each line of standard input: sh check.sh ROOM USER < lines
# Room and user go into the JSON as they are, so they must not contain quotes or backslashes. The
# line's text isn't sent, so limits on repeated text don't count it. The token goes through curl's
# standard input, because other users of the machine can read a command's arguments.
: "${2:?usage: CHATGUARD_TOKEN=… sh check.sh ROOM USER < lines}" "${CHATGUARD_TOKEN:?make one: chatguard token make NAME --role check}"
while read -r line || [ -n "$line" ]; do
	verdict=$(
		curl --silent --show-error --max-time 2 --config - <<-END
			url = "${CHATGUARD_URL:-http://127.0.0.1:8080}/api/v1/check"
			header = "Authorization: Bearer $CHATGUARD_TOKEN"
			header = "Content-Type: application/json"
			data = "{\"channel\": \"$1\", \"user_id\": \"$2\"}"
		END
	)
	wait=$(echo "$verdict" | sed -n 's/.*"retry_after_ms":\([0-9]*\).*/\1/p')
	case $verdict in
	*'"allowed":true'*) echo shown ;;
	*'"allowed":false'*'"retry_after_ms":null'*) echo "dropped: waiting doesn't help" ;;
	*'"allowed":false'*) echo "dropped: wait $(((wait + 999) / 1000)) s" ;;
	*) echo "unchecked: ${verdict:-no answer}" >&2 && echo shown ;; # chat goes on without chatguard
	esac
done
