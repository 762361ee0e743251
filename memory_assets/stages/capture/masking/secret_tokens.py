"""The tokens that vendors give a shape of their own: how each looks, a finder, and an anchor for the prefilter.

`TOKENS` begin with something fixed; `SHAPES` begin with any letter or digit, so each brings an anchor that begins at what is
rare in it. Secrets without a shape of their own stand in `secret_patterns`.
"""

import re
from collections.abc import Callable, Iterator

from memory_assets.stages.capture.masking.secret_values import is_vendor_token

Found = tuple[str, int, int]
"""Kind, start and end."""
Finder = Callable[[bytes], Iterator[Found]]

BOUND = r"\b"
"""At the beginning of a head: no letter or digit before it (`_` may be there, as in a variable's name)."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# Vendors' tokens: the kind, the fixed beginning, the rest. Where the beginning is short or a common ending of words, the
# character before it must not belong to a word.
TOKENS: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-bedrock", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    ("github", "gh[pousr]_", r"[A-Za-z0-9]{30,255}"),
    ("github", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    ("gitlab", "(?:gl(?:pat|dt|rtr?|cbt|ptt|ft|ffct|soat|imt|agent|oas|wt)-|GR1348941)", r"[A-Za-z0-9_.-]{16,300}"),
    ("slack", "xox[a-z](?:[.]xox[a-z])?-", r"[A-Za-z0-9-]{10,400}"),
    ("slack", "xapp-", r"[0-9]-[A-Za-z0-9-]{20,200}"),
    ("slack-webhook", "hooks[.]slack[.]com/(?:services|workflows|triggers)/", r"[A-Za-z0-9+/_-]{20,200}"),
    ("discord-webhook", "discord(?:app)?[.]com/api/webhooks/", r"[0-9]{15,}/[A-Za-z0-9_-]{40,}"),
    ("teams-webhook", "webhook[.]office[.]com/webhookb2/", r"[A-Za-z0-9@/-]{60,}"),
    ("anthropic", "sk-ant-", r"[A-Za-z0-9_-]{20,300}"),
    ("openai", r"\bsk-", r"[A-Za-z0-9_-]{20,300}"),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-api-key", r"\bAQ[.]Ab", r"[A-Za-z0-9_-]{30,}"),
    ("google-oauth", r"\bya29[.]", r"[A-Za-z0-9_.-]{20,}"),
    ("google-oauth", "GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    ("google-oauth", r"\b1//0", r"[A-Za-z0-9_-]{40,}"),
    ("stripe", r"\b(?:sk|rk)_(?:live|test)_", r"[A-Za-z0-9]{16,250}"),
    ("stripe", r"\bwhsec_", r"[A-Za-z0-9+/]{20,100}={0,2}"),
    ("twilio", r"\bSK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("sendgrid", r"\bSG[.]", r"[A-Za-z0-9_-]{16,64}[.][A-Za-z0-9_-]{16,64}"),
    ("mailgun", r"\bkey-", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("brevo", "x(?:key|smtp)sib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("mailersend", r"\bmlsn[.]", r"[0-9a-f]{64}"),
    ("npm", r"\bnpm_", r"[A-Za-z0-9]{30,}"),
    ("pypi", r"\bpypi-", r"[A-Za-z0-9_-]{40,}"),
    ("docker", "dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{20,}"),
    ("hugging-face", r"\bhf_", r"[A-Za-z0-9]{30,}"),
    ("hugging-face", "api_org_", r"[A-Za-z0-9]{30,}"),
    ("digitalocean", "do[opr]_v1_", r"[0-9a-f]{40,}"),
    ("heroku", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}[.]eyJ", r"[A-Za-z0-9_-]{8,}(?:[.][A-Za-z0-9_-]{16,}|[.]?(?![A-Za-z0-9_.-]))"),
    ("jwe", r"eyJ[A-Za-z0-9_-]{8,}[.]", r"[A-Za-z0-9_-]{16,}(?:[.][A-Za-z0-9_-]{8,}){3}"),
    ("linear", "lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,}"),
    ("notion", r"\b(?:ntn|secret)_", r"[A-Za-z0-9]{40,}"),
    ("figma", r"\bfig[dou]r?_", r"[A-Za-z0-9_-]{40,}"),
    ("shopify", r"\bshp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ("square", r"\bsq0(?:atp|csp|idp)-", r"[A-Za-z0-9_-]{22,60}"),
    ("square", r"\bEAAA", r"[A-Za-z0-9_-]{60}(?![A-Za-z0-9+/_=-])"),
    ("facebook", r"\bEAA", r"[A-Za-z0-9]{90,}(?![A-Za-z0-9+/_=-])"),
    ("databricks", r"\bdapi", r"[0-9a-f]{32}"),
    ("nuget", r"\boy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("crates", r"\bcio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("clojars", "CLOJARS_", r"[0-9a-f]{60}"),
    ("vault", r"\bhv[sbr][.]", r"[A-Za-z0-9_-]{24,}"),
    ("pulumi", r"\bpul-", r"[0-9a-f]{40}"),
    ("doppler", r"\bdp[.](?:pt|st|ct|sa|scim|audit)[.]", r"[A-Za-z0-9_.-]{40,}"),
    ("grafana", r"\bglsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana", r"\bglc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    ("new-relic", r"\bNRAK-", r"[A-Z0-9]{27}"),
    ("sentry", r"\bsntry[su]_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("postman", r"\bPMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("airtable", r"\bpat[A-Za-z0-9]{14}[.]", r"[0-9a-f]{64}"),
    ("atlassian", r"\bAT(?:ATT3|CTT3|BB)", r"[A-Za-z0-9_=-]{30,}"),
    ("supabase", r"\bsb(?:p|_secret)_", r"[A-Za-z0-9_-]{30,}"),
    ("planetscale", r"\bpscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_=.-]{32,}"),
    ("fly", r"\bfm[12][ar]?_", r"[A-Za-z0-9+/=_]{80,}"),
    ("netlify", r"\bnfp_", r"[A-Za-z0-9]{36}"),
    ("replicate", r"\br8_", r"[A-Za-z0-9]{30,}"),
    ("groq", r"\bgsk_", r"[A-Za-z0-9]{40,}"),
    ("xai", r"\bxai-", r"[A-Za-z0-9]{60,}"),
    ("perplexity", r"\bpplx-", r"[A-Za-z0-9]{40,}"),
    ("together", r"\btgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    ("fireworks", r"\bfw_", r"[A-Za-z0-9]{22,}(?![A-Za-z0-9_])"),
    ("cerebras", r"\bcsk-", r"[a-z0-9]{48}"),
    ("nvidia", r"\bnvapi-", r"[A-Za-z0-9_-]{60,}"),
    ("voyage", r"\bpa-", r"[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    ("jina", r"\bjina_", r"[A-Za-z0-9]{50,}"),
    ("elevenlabs", r"\bsk_", r"[0-9a-f]{48}(?![0-9a-f])"),
    ("wandb", r"\bwandb_v[0-9]_", r"[A-Za-z0-9_]{40,}"),
    ("pinecone", r"\bpcsk_", r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}"),
    ("firecrawl", r"\bfc-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("browserbase", r"\bbb_(?:live|test)_", r"[A-Za-z0-9_-]{20,}"),
    ("e2b", r"\be2b_", r"[0-9a-f]{40}"),
    ("runpod", r"\brpa_", r"[A-Za-z0-9]{40,}"),
    ("cursor", r"\b(?:crsr|key)_", r"[0-9a-f]{64}"),
    ("composio", r"\bu?ak_", r"[A-Za-z0-9_-]{20,24}(?![A-Za-z0-9_-])"),
    ("modal", r"\ba[ks]-", r"[A-Za-z0-9]{22}(?![A-Za-z0-9])"),
    ("cloudflare", r"\bcf(?:k|ut|at)_", r"[A-Za-z0-9_-]{40,}"),
    ("cloudflare", r"\bv1[.]0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("vercel", r"\bvc[acikpr]_", r"[A-Za-z0-9]{24,}"),
    ("vercel", "vercel_blob_rw_", r"[A-Za-z0-9]{12,20}_[A-Za-z0-9]{24,}"),
    ("render", r"\brnd_", r"[A-Za-z0-9]{28,32}(?![A-Za-z0-9_])"),
    ("neon", r"\bnapi_", r"[a-z0-9]{40,}"),
    ("neon", r"\bnpg_", r"[A-Za-z0-9]{12,16}(?![A-Za-z0-9_])"),
    ("mongodb-atlas", "mdb_sa_sk_", r"[A-Za-z0-9_-]{36,}"),
    ("yandex", r"\bAQVN", r"[A-Za-z0-9_-]{35,38}(?![A-Za-z0-9_-])"),
    ("tencent", r"\bAKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("aiven", "AVNS_", r"[A-Za-z0-9_-]{15,}"),
    ("infisical", r"\bst[.]", rf"{_UUID}[.][0-9a-f]{{32}}[.][0-9a-f]{{32}}"),
    ("one-password", r"\bA3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    ("one-password", r"\bops_eyJ", r"[A-Za-z0-9+/_-]{80,}={0,2}"),
    ("posthog", r"\bph[xs]_", r"[A-Za-z0-9]{40,}"),
    ("honeycomb", r"\bhc[a-z]i[ck]_", r"[a-z0-9]{50,}"),
    ("launchdarkly", r"\b(?:sdk|api)-", rf"{_UUID}(?![0-9a-f-])"),
    ("statsig", r"\bsecret-", r"[A-Za-z0-9]{40,44}(?![A-Za-z0-9])"),
    ("stytch", r"\bsecret-(?:live|test)-", r"[A-Za-z0-9_-]{30,}={0,2}"),
    ("sonar", r"\bsq[apu]_", r"[0-9a-f]{40}"),
    ("prefect", r"\bpn[ub]_", r"[A-Za-z0-9]{36}"),
    ("asana", r"\b[0-2]/[0-9]{13,18}(?:/[0-9]{13,18})?:", r"[0-9a-f]{32}"),
    ("clickup", r"\bpk_[0-9]{6,10}_", r"[A-Z0-9]{30,34}"),
    ("hubspot", r"\bpat-(?:na|eu)[0-9]-", _UUID),
    ("typeform", r"\btfp_", r"[A-Za-z0-9_.-]{40,}"),
    ("readme", r"\brdme_", r"[a-z0-9]{60,}"),
    ("frame-io", r"\bfio-u-", r"[A-Za-z0-9_-]{50,}"),
    ("scalingo", r"\btk-us-", r"[A-Za-z0-9_-]{40,}"),
    ("twitter", r"\bA{19,24}", r"[A-Za-z0-9]{8,60}(?:%2[BF][A-Za-z0-9]*)*(?:%3D|=)[A-Za-z0-9%]{40,}"),
    ("braintree", r"access_token[$](?:production|sandbox)[$]", r"[0-9a-z]{16}[$][0-9a-f]{32}"),
    ("paypal", r"\bA21AA", r"[A-Za-z0-9_-]{80,}"),
    ("plaid", r"\baccess-(?:production|sandbox|development)-", _UUID),
    ("flutterwave", r"\bFLWSECK(?:_TEST)?-", r"[0-9a-zA-Z]{30,}(?:-X)?"),
    ("shippo", r"\bshippo_(?:live|test)_", r"[0-9a-f]{40}"),
    ("easypost", r"\bEZ[AT]K", r"[A-Za-z0-9]{54}(?![A-Za-z0-9])"),
    ("duffel", r"\bduffel_(?:live|test)_", r"[A-Za-z0-9_-]{40,}"),
    ("adyen", r"\bAQE", r"[A-Za-z0-9+/]{40,}[.][A-Za-z0-9]{8,}"),
    ("tailscale", r"\btskey-[a-z]+-", r"[A-Za-z0-9-]{20,}"),
    ("rubygems", r"\brubygems_", r"[0-9a-f]{48}"),
    ("dropbox", r"\bsl[.]", r"[A-Za-z0-9_-]{100,}"),
    ("contentful", r"\bCFPAT-", r"[A-Za-z0-9_-]{40,}"),
    ("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    ("artifactory", r"\bAKCp", r"[A-Za-z0-9]{60,}"),
    ("buildkite", r"\bbk[ua]a_", r"[0-9a-f]{40}"),
    ("circleci", r"\bCCIP[A-Z]{2,3}_", r"[A-Za-z0-9_]{30,}"),
    ("dynatrace", r"\bdt0[a-z][0-9]{2}[.]", r"[A-Z0-9]{24}[.][A-Z0-9]{60,}"),
    ("langsmith", r"\blsv2_(?:pt|sk)_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("tavily", r"\btvly-", r"[A-Za-z0-9_-]{30,}"),
    ("resend", r"\bre_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("alibaba", r"\bLTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    ("password-hash", r"[$](?:1|2[abxy]|5|6|y|apr1|argon2id?|argon2i|scrypt)[$]", r"[./A-Za-z0-9$=,+]{20,}"),
    ("azure-key", "(?:AccountKey|SharedAccessKey|SharedSecretKey)=", r"[A-Za-z0-9+/]{30,}={0,2}"),
    ("signed-url", "X-(?:Amz|Goog)-Signature=", r"[0-9a-f]{64,512}"),
    ("azure-sas", "[?&;]sig=", r"[A-Za-z0-9+/%_-]{40,}={0,2}"),
)


# Tokens that begin with any letter or digit; each with an anchor that begins at what is rare in it.
SHAPES: tuple[tuple[str, str, str, str], ...] = (
    ("azure-client-secret", r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~", r"[A-Za-z0-9_~.-]{31,34}", r"[0-9]Q~[A-Za-z0-9_~.-]{12}"),
    ("mailchimp", r"\b", r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])", r"[0-9a-f]{32}-us[0-9]"),
    ("telegram", r"\b[0-9]{8,10}:AA", r"[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", r"[0-9]:AA[A-Za-z0-9_-]{30}"),
    (
        "discord",
        r"\b[MNO][A-Za-z0-9_-]{22,28}[.]",
        r"[A-Za-z0-9_-]{6,7}[.][A-Za-z0-9_-]{27,40}",
        r"[.][A-Za-z0-9_-]{6}[A-Za-z0-9_-]?[.][A-Za-z0-9_-]{27}",
    ),
    ("azure-devops", r"\b", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])", r"[A-Za-z0-9]{4}AZDO[A-Za-z0-9]{4}"),
    ("azure-openai", r"\b", r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{20,30}(?![A-Za-z0-9])", r"JQQJ9[A-Za-z0-9]{12}"),
    (
        "azure",
        r"\b",
        r"[A-Za-z0-9+/]{32,76}(?:APIM|ACDb|AIoT|Az(?:Se|Fu|Ca)|[+](?:ABa|AMC|AS[tb]|AEh|ARm|ACR))[A-Za-z0-9+/]{5,6}={0,2}"
        r"(?![A-Za-z0-9+/=])",
        r"(?:APIM|ACDb|AIoT|Az(?:Se|Fu|Ca)|[+](?:ABa|AMC|AS[tb]|AEh|ARm|ACR))[A-Za-z0-9+/]{5,6}(?:=|[^A-Za-z0-9+/])",
    ),
    ("rapidapi", r"\b", r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}", r"msh[0-9a-f]{15}p1"),
    ("terraform", r"\b[A-Za-z0-9]{14}[.]atlasv1[.]", r"[A-Za-z0-9_=-]{60,}", r"[.]atlasv1[.][A-Za-z0-9_=-]{12}"),
)


def token_finder(kind: str, head: str, tail: str) -> Finder:
    """Returns the finder of one vendor's tokens; `\\b` in the head forbids a letter or digit before it, `_` may be there."""
    bounded = head.startswith(r"\b")
    pattern = re.compile(f"({head.removeprefix(BOUND)})({tail})".encode())
    is_url = kind.endswith(("webhook", "azure-key", "azure-sas", "signed-url"))

    def find(text: bytes) -> Iterator[Found]:
        for match in pattern.finditer(text):
            if bounded and text[match.start() - 1 : match.start()].isalnum():
                continue
            if is_vendor_token(match[2]):
                yield kind, match.start(2 if is_url else 1), match.end()

    return find


def token_anchor(head: str, tail: str) -> str:
    """Returns what the prefilter looks for: the head and up to twelve characters of the rest."""
    first = re.match(r"(\[[^\]]+\])\{(\d+)", tail)
    rest = f"{first[1]}{{{min(int(first[2]), 12)}}}" if first else re.match(r"[^{]*", tail)[0]  # type: ignore[index]
    return head.removeprefix(BOUND) + rest


_AWS_PAIR = re.compile(rb"(?:AKIA|ASIA)[A-Z0-9]{16}[\s\S]{1,240}?(?<![A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


def find_aws_secret(text: bytes) -> Iterator[Found]:
    """Yields the secret key that stands within a few lines after an access key id, whatever it is called."""
    for match in _AWS_PAIR.finditer(text):
        if is_vendor_token(match[1]) and not re.fullmatch(rb"[0-9a-f]+", match[1]):
            yield "aws-secret-key", match.start(1), match.end(1)
