"""Made-up secrets of every kind that is looked for, put together at run time so that no file holds one."""

from __future__ import annotations

import base64
import json

LETTERS = "".join(chr(ord("a") + number % 26) for number in range(7, 200, 3))
DIGITS = "".join(str(number % 10) for number in range(3, 600, 7))
MIXED = "".join(letter.upper() + digit for letter, digit in zip(LETTERS, DIGITS, strict=False)) + LETTERS + DIGITS


def _token() -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": DIGITS[:10], "name": "somebody"}]
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, MIXED[:43]])


def private_key(kind: str = "RSA ", lines: int = 4) -> str:
    """Return a private key in PEM form."""
    dashes = "-" * 5
    body = "\n".join(MIXED[number : number + 64] for number in range(lines))
    return f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{body}\n{dashes}END {kind}PRIVATE KEY{dashes}"


SECRETS = {
    "AWS Access Key": "AKIA" + MIXED[:16].upper(),
    "Anthropic Token": "sk-" + "ant-api03-" + MIXED[:60],
    "Artifactory Credentials": "token: AKC" + MIXED[:30] + " ",
    "Azure Storage Account access key": "Account" + "Key=" + MIXED[:86] + "==",
    "Basic Auth Credentials": "https:" + "//user:" + LETTERS[:8] + "@host.example",
    "Cloudant Credentials": "cloudant" + "_password = '" + DIGITS[:64] + "'",
    "Discord Bot Token": "M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:27],
    "GitHub Token": "ghp" + "_" + MIXED[:36],
    "GitLab Token": "glpat" + "-" + MIXED[:20],
    "Google API Key": "AI" + "za" + MIXED[:35],
    "IBM COS HMAC Credentials": "secret" + "_access_key = '" + DIGITS[:48] + "'",
    "JSON Web Token": _token(),
    "Mailchimp Access Key": DIGITS[:16] + LETTERS[:16] + "-us12",
    "NPM tokens": "//registry.npmjs.org/:_auth" + "Token=npm_" + MIXED[:36],
    "OpenAI Token": "sk" + "-" + MIXED[:20] + "T3Blbk" + "FJ" + MIXED[:20],
    "Private Key": private_key(),
    "PyPI Token": "pypi" + "-AgEIcHlwaS5vcmc" + MIXED[:80],
    "SendGrid API Key": "SG" + "." + MIXED[:22] + "." + MIXED[:43],
    "Slack Token": "xox" + "b-" + DIGITS[:12] + "-" + MIXED[:24],
    "SoftLayer Credentials": "softlayer" + "_api_key = '" + DIGITS[:64] + "'",
    "Square OAuth Secret": "sq0" + "csp-" + MIXED[:43],
    "Stripe Access Key": "sk_" + "live_" + MIXED[:24],
    "Telegram Bot Token": DIGITS[:10] + ":AA" + MIXED[:33],
    "Twilio API Key": "SK" + DIGITS[:16] + LETTERS[:16],
}
"""A made-up secret by its kind."""

OTHER_FORMS = {
    "AWS Access Key": "aws" + "_secret_key = '" + MIXED[:40] + "'",
    "GitHub Token": "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59],
    "OpenAI Token": "sk-" + "proj-" + MIXED[:48],
    "Private Key": private_key("ENCRYPTED "),
    "Slack Token": "https://hooks.slack" + ".com/services/T" + DIGITS[:8] + "/B" + DIGITS[:8] + "/" + MIXED[:24],
    "Stripe Access Key": "rk_" + "live_" + MIXED[:24],
}
"""Some of them in another form."""
