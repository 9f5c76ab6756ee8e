"""Asks chatguard about each line of standard input, as a chat server would: python3 check.py ROOM USER < lines"""
import http.client, json, math, os, sys
from urllib.parse import urlsplit

address = urlsplit(os.environ.get("CHATGUARD_URL", "http://127.0.0.1:8080"))
Connection = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
chatguard = Connection(address.netloc, timeout=2)  # one for all messages
headers = {"Authorization": "Bearer " + os.environ["CHATGUARD_TOKEN"], "Content-Type": "application/json"}


def check(message):
    try:
        chatguard.request("POST", address.path.rstrip("/") + "/api/v1/check", json.dumps(message), headers)
        answer = chatguard.getresponse()
        body = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        chatguard.close()  # the next message opens it again
        return {"allowed": True, "problem": str(error)}  # chat goes on without chatguard
    return body if "allowed" in body else {"allowed": True, "problem": body["detail"]}


for line in sys.stdin:
    verdict = check({"channel": sys.argv[1], "user_id": sys.argv[2], "text": line.strip()})
    if "problem" in verdict:
        print("unchecked:", verdict["problem"], file=sys.stderr)
    if verdict["allowed"]:
        print("shown", flush=True)
    elif verdict["never"]:
        print("dropped: waiting doesn't help", flush=True)
    else:
        print(f"dropped: wait {math.ceil(verdict['retry_after_ms'] / 1000)} s", flush=True)
