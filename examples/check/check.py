"""Asks chatguard about each line of standard input, as a chat server would.

python3 check.py ROOM USER < lines
"""
import http.client, json, math, os, sys, time
from urllib.parse import urlsplit

if len(sys.argv) != 3 or "CHATGUARD_TOKEN" not in os.environ:
    sys.exit("usage: CHATGUARD_TOKEN=… python3 check.py ROOM USER < lines")
url = os.environ.get("CHATGUARD_URL", "http://127.0.0.1:8080")
address = urlsplit(url)
Connection = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
chatguard = Connection(address.netloc, timeout=2)  # one connection for all messages
headers = {"Authorization": "Bearer " + os.environ["CHATGUARD_TOKEN"], "Content-Type": "application/json"}
asked = 0.0


def check(message):
    global asked
    if time.monotonic() - asked > 60:
        chatguard.close()  # chatguard may have closed the connection; the next request opens it again
    asked = time.monotonic()
    try:
        chatguard.request("POST", address.path.rstrip("/") + "/api/v1/check", json.dumps(message), headers)
        body = json.loads(chatguard.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        chatguard.close()
        body = {"detail": f"{url} doesn't answer as chatguard does: {error}"}
    if isinstance(body, dict) and isinstance(body.get("allowed"), bool):
        return body
    print("unchecked:", isinstance(body, dict) and body.get("detail") or "no verdict", file=sys.stderr)
    return {"allowed": True}  # chat goes on without chatguard


sys.stdin.reconfigure(errors="replace")  # a byte that isn't text must not end the chat
for line in sys.stdin:
    verdict = check({"channel": sys.argv[1], "user_id": sys.argv[2], "text": line.strip()[:2000]})  # chatguard needs no more
    if verdict["allowed"]:
        print("shown", flush=True)
    elif verdict.get("retry_after_ms") is None:
        print("dropped: waiting doesn't help", flush=True)
    else:
        print(f"dropped: wait {math.ceil(verdict['retry_after_ms'] / 1000)} s", flush=True)
