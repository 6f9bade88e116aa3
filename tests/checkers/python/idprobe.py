"""mcp-idprobe: two clients that number their requests alike must each get their own answers.

Its program sends the secret in an argument `text`; the tool here that repeats what it was sent calls it `handoff`, so
that the argument is renamed on the way. It can send no token.
"""

import json

from mcp_idprobe import prober

from house import House

ROUNDS = 20


class Client(prober.StreamableHttpClient):
    def call_tool(self, name, arguments, req_id):
        return super().call_tool(name, {"handoff": arguments["text"]}, req_id)


def main():
    prober.StreamableHttpClient = Client
    house = House("idprobe")
    with house.served("--auth", "none") as address:
        found = prober.run_probe(
            f"{address}/mcp/ledger", rounds=ROUNDS, settle_time=0.1, tool_name="continuity_context"
        )
    evidence = found["evidence"]
    delivered = len(evidence["correctly_delivered"])
    is_right = found["verdict"] == "PASS" and delivered == 2 * ROUNDS and not evidence["missing_responses"]
    if not is_right or found["send_errors"]:
        raise SystemExit(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
