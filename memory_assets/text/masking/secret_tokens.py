"""Tokens that a vendor gives a recognisable shape: their patterns, finders, and anchors for the
prefilter.

Most begin with a fixed prefix. `SHAPES` begin with any letter or digit, so each has an anchor on
its rare part. Secrets without a shape of their own are in `secret_patterns`.
"""

import re
from collections.abc import Callable, Iterator

from memory_assets.text.masking.secret_values import is_vendor_token
from memory_assets.text.masking.unwrap import Span

Finder = Callable[[bytes], Iterator[Span]]

_BOUND = r"\b"
"""At the beginning of a prefix: no letter or digit before it (`_` is allowed, as in a variable's
name).
"""

_CLASSES = {
    "alnum": "[A-Za-z0-9]", "name": "[A-Za-z0-9_]", "word": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9_.-]", "hex": "[0-9a-f]",
    "upper": "[A-Z0-9]", "lower": "[a-z0-9]", "base64": "[A-Za-z0-9+/]",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}  # fmt: skip
"""Characters of tokens: `<hex>` in the tables below; other characters are listed, as in
`<0-9a-fA-F>`.
"""


def _read_table(table: str) -> tuple[tuple[str, str], ...]:
    """Returns prefix and rest of each `vendor=prefix<characters>{length}` in the table, as regular
    expressions.
    """
    splits = (word.partition("=")[2].partition("<") for word in table.split())
    classes = re.compile("<([^<>]+)>")
    return tuple(
        (prefix, classes.sub(lambda name: _CLASSES.get(name[1], f"[{name[1]}]"), "<" + token))
        for prefix, _, token in splits
    )


# Where the prefix is short or a common ending of words, the character before it must not belong to
# a word.
_TOKENS = _read_table(r"""
    aws-access-key=(?:AKIA|ASIA|ABIA|ACCA)<upper>{16}(?!<alnum>)
    aws-bedrock=ABSK<base64>{100,}={0,2} github=gh[pousr]_<alnum>{30,255}
    github=github_pat_<name>{22,255}
    gitlab=(?:gl(?:pat|dt|rtr?|cbt|ptt|ft|ffct|soat|imt|agent|oas|wt)-|GR1348941)<dotted>{16,300}
    slack=xox[a-z](?:[.]xox[a-z])?-<A-Za-z0-9->{10,400} slack=xapp-<0-9>-<A-Za-z0-9->{20,200}
    anthropic=sk-ant-<word>{20,300} openai=\bsk-<word>{20,300} google-api-key=AIza<word>{35}
    google-api-key=\bAQ[.]Ab<word>{30,} google-oauth=\bya29[.]<dotted>{20,}
    google-oauth=GOCSPX-<word>{20,} google-oauth=\b1//0<word>{40,}
    stripe=\b(?:sk|rk)_(?:live|test)_<alnum>{16,250} stripe=\bwhsec_<base64>{20,100}={0,2}
    twilio=\bSK<hex>{32}(?!<alnum>) sendgrid=\bSG[.]<word>{16,64}[.]<word>{16,64}
    mailgun=\bkey-<hex>{32}(?!<alnum>) brevo=x(?:key|smtp)sib-<hex>{64}-<alnum>{16}
    mailersend=\bmlsn[.]<hex>{64} npm=\bnpm_<alnum>{30,} pypi=\bpypi-<word>{40,}
    docker=dckr_(?:pat|oat)_<word>{20,} memory-assets=\bmemtok_<word>{40,}
    hugging-face=\bhf_<alnum>{30,} hugging-face=api_org_<alnum>{30,}
    digitalocean=do[opr]_v1_<hex>{40,} heroku=HRKU-<word>{30,}
    jwt=eyJ[A-Za-z0-9_-]{8,}[.]eyJ<word>{8,}(?:[.]<word>{16,}|[.]?(?!<dotted>))
    jwe=eyJ[A-Za-z0-9_-]{8,}[.]<word>{16,}(?:[.]<word>{8,}){3} linear=lin_(?:api|oauth)_<alnum>{32,}
    notion=\b(?:ntn|secret)_<alnum>{40,} figma=\bfig[dou]r?_<word>{40,}
    shopify=\bshp(?:at|ca|pa|ss)_<0-9a-fA-F>{32} square=\bsq0(?:atp|csp|idp)-<word>{22,60}
    square=\bEAAA<word>{60}(?!<A-Za-z0-9+/_=->) facebook=\bEAA<alnum>{90,}(?!<A-Za-z0-9+/_=->)
    databricks=\bdapi<hex>{32} nuget=\boy2<lower>{43}(?!<alnum>) crates=\bcio<alnum>{32}(?!<alnum>)
    vault=\bhv[sbr][.]<word>{24,} pulumi=\bpul-<hex>{40}
    doppler=\bdp[.](?:pt|st|ct|sa|scim|audit)[.]<dotted>{40,}
    grafana=\bglsa_<alnum>{32}_<0-9a-fA-F>{8} grafana=\bglc_<base64>{32,}={0,2}
    new-relic=\bNRAK-<upper>{27} sentry=\bsntry[su]_<A-Za-z0-9+/=_->{40,}
    postman=\bPMAK-<hex>{24}-<hex>{34} airtable=\bpat[A-Za-z0-9]{14}[.]<hex>{64}
    atlassian=\bAT(?:ATT3|CTT3|BB)<A-Za-z0-9_=->{30,} supabase=\bsb(?:p|_secret)_<word>{30,}
    planetscale=\bpscale_(?:tkn|pw|oauth)_<A-Za-z0-9_=.->{32,}
    fly=\bfm[12][ar]?_<A-Za-z0-9+/=_>{80,} netlify=\bnfp_<alnum>{36} replicate=\br8_<alnum>{30,}
    groq=\bgsk_<alnum>{40,} xai=\bxai-<alnum>{60,} perplexity=\bpplx-<alnum>{40,}
    together=\btgp_v1_<word>{40,} fireworks=\bfw_<alnum>{22,}(?!<name>) cerebras=\bcsk-<lower>{48}
    nvidia=\bnvapi-<word>{60,} voyage=\bpa-<word>{43}(?!<word>) jina=\bjina_<alnum>{50,}
    elevenlabs=\bsk_<hex>{48}(?!<hex>) wandb=\bwandb_v[0-9]_<name>{40,}
    pinecone=\bpcsk_<alnum>{4,8}_<alnum>{50,} firecrawl=\bfc-<hex>{32}(?!<hex>)
    browserbase=\bbb_(?:live|test)_<word>{20,} e2b=\be2b_<hex>{40} runpod=\brpa_<alnum>{40,}
    cursor=\b(?:crsr|key)_<hex>{64} composio=\bu?ak_<word>{20,24}(?!<word>)
    modal=\ba[ks]-<alnum>{22}(?!<alnum>) cloudflare=\bcf(?:k|ut|at)_<word>{40,}
    cloudflare=\bv1[.]0-<hex>{24}-<hex>{100,} vercel=\bvc[acikpr]_<alnum>{24,}
    vercel=vercel_blob_rw_<alnum>{12,20}_<alnum>{24,} render=\brnd_<alnum>{28,32}(?!<name>)
    neon=\bnapi_<lower>{40,} neon=\bnpg_<alnum>{12,16}(?!<name>) mongodb-atlas=mdb_sa_sk_<word>{36,}
    yandex=\bAQVN<word>{35,38}(?!<word>) tencent=\bAKID<alnum>{32}(?!<alnum>) aiven=AVNS_<word>{15,}
    infisical=\bst[.]<uuid>[.]<hex>{32}[.]<hex>{32}
    one-password=\bA3-<upper>{6}-<upper>{6}-?<upper>{5}(?:-<upper>{5}){3}
    one-password=\bops_eyJ<A-Za-z0-9+/_->{80,}={0,2} posthog=\bph[xs]_<alnum>{40,}
    honeycomb=\bhc[a-z]i[ck]_<lower>{50,} launchdarkly=\b(?:sdk|api)-<uuid>(?!<0-9a-f->)
    statsig=\bsecret-<alnum>{40,44}(?!<alnum>) stytch=\bsecret-(?:live|test)-<word>{30,}={0,2}
    sonar=\bsq[apu]_<hex>{40} prefect=\bpn[ub]_<alnum>{36} clickup=\bpk_[0-9]{6,10}_<upper>{30,34}
    hubspot=\bpat-(?:na|eu)[0-9]-<uuid> typeform=\btfp_<dotted>{40,} readme=\brdme_<lower>{60,}
    frame-io=\bfio-u-<word>{50,} scalingo=\btk-us-<word>{40,}
    braintree=access_token[$](?:production|sandbox)[$]<lower>{16}[$]<hex>{32}
    paypal=\bA21AA<word>{80,} plaid=\baccess-(?:production|sandbox|development)-<uuid>
    flutterwave=\bFLWSECK(?:_TEST)?-<alnum>{30,}(?:-X)? shippo=\bshippo_(?:live|test)_<hex>{40}
    easypost=\bEZ[AT]K<alnum>{54}(?!<alnum>) duffel=\bduffel_(?:live|test)_<word>{40,}
    adyen=\bAQE<base64>{40,}[.]<alnum>{8,} tailscale=\btskey-[a-z]+-<A-Za-z0-9->{20,}
    rubygems=\brubygems_<hex>{48} dropbox=\bsl[.]<word>{100,} contentful=\bCFPAT-<word>{40,}
    age=AGE-SECRET-KEY-1<upper>{50,} artifactory=\bAKCp<alnum>{60,} buildkite=\bbk[ua]a_<hex>{40}
    circleci=\bCCIP[A-Z]{2,3}_<name>{30,} dynatrace=\bdt0[a-z][0-9]{2}[.]<upper>{24}[.]<upper>{60,}
    langsmith=\blsv2_(?:pt|sk)_<hex>{32}_<hex>{10} tavily=\btvly-<word>{30,}
    resend=\bre_<alnum>{8}_<alnum>{20,} alibaba=\bLTAI<alnum>{16,24}(?!<alnum>)
    adobe=\bp8e-<lower>{32}(?!<alnum>) artifactory=\bcmVmd<alnum>{59}(?!<alnum>)
    aws-access-key=\bA3T<upper>{17}(?!<alnum>) aws-bedrock=\bbedrock-api-key-<base64>{40,}={0,2}
    clickhouse=\b4b1d<alnum>{38}(?!<alnum>) clojars=CLOJARS_<lower>{60}
    defined-networking=\bdnkey-<word>{26}-<word>{52} fly=\bfo1_<word>{43}(?!<word>)
    grafana=\beyJrIjoi<alnum>{70,400}={0,3} flutterwave=FLWSECK_TEST-<0-9a-h>{12}(?!<alnum>)
    gitlab-session=_gitlab_session=<lower>{32}(?!<alnum>)
    harness=\b[ps]at[.]<word>{22}[.]<alnum>{24}[.]<alnum>{20}(?!<alnum>)
    infracost=\bico-<alnum>{32}(?!<alnum>) intra42=\bs-s4t2(?:ud|af)-<hex>{64}
    lob=\b(?:live|test)_<hex>{35}(?!<alnum>) new-relic=\bNRJS-<hex>{19}(?!<alnum>)
    new-relic=\bNRII-<word>{32}(?!<word>) octopus=\bAPI-<upper>{26}(?!<alnum>)
    openshift=\bsha256~<word>{43}(?!<word>) settlemint=\bsm_[aps]at_<alnum>{16}(?!<alnum>)
    sourcegraph=\bsgp_(?:[a-fA-F0-9]{16}_|local_)?<a-fA-F0-9>{40}(?!<alnum>)
    stripe=\b[sr]k_prod_<alnum>{10,99} yandex=\bt1[.]<A-Za-z0-9_=->{8,}[.]<word>{86}={0,2}
    jwt=\bZXlK<A-Za-z0-9+/_->{60,}={0,2} gocardless=\blive_<word>{40}(?!<word>)
    paseto=\bv[1-4][.](?:local|public)[.]<word>{40,}(?:[.]<word>+)?
    macaroon=\bMDA[0-9A-Za-z]{2}bG9jYXRpb24g<A-Za-z0-9+/_->{40,}={0,2}
    macaroon=\bMDAxY2xvY2F0aW9u<A-Za-z0-9+/_->{40,}={0,2}
    razorpay=\brzp_(?:live|test)_<alnum>{14}(?!<alnum>)
    mollie=\b(?:live|test)_<alnum>{30}(?!<alnum>)
    paddle=\bpdl_(?:live|sdbx)_apikey_<lower>{26}_<alnum>{22}_<alnum>{3}
    polar=\bpolar_(?:oat|pat|at)_<word>{30,} ory=\bory_(?:pat|at|rt|wak)_<word>{30,}
    clerk=\bak_<alnum>{30,} mapbox=\bsk[.]eyJ<word>{20,}[.]<word>{20,}
    snyk=\bsnyk_(?:sat|uat)[.]<hex>{8}[.]<dotted>{30,} wakatime=\bwaka_<uuid>
    xata=\bxau_<alnum>{30,} fauna=\bfnA[A-Za-z]<word>{36,}(?!<word>) anyscale=\besecret_<lower>{24,}
    lambda-labs=\bsecret_[a-z0-9-]{2,30}_<hex>{32}[.]<alnum>{32} unkey=\bunkey_<alnum>{20,}
    axiom=\bxa[ap]t-<uuid> trello=\bATTA<hex>{60,} atlassian=\bATSTT3<A-Za-z0-9_=->{30,}
    buildkite=\bbk(?:aj|ct|pt|rt|st)_<alnum>{30,} percy=\bweb_<hex>{64}
    chromatic=\bchpt_<hex>{12,}(?!<alnum>) intercom=\bdG9rO<A-Za-z0-9+/>{50,}={0,2}
    backblaze=\bK00[0-9]<word>{27}(?!<word>) mercury=secret-token:mercury_<a-z0-9_>{20,}
    expo=\bexpo_<alnum>{30,} zuplo=\bzpka_<hex>{32}_<hex>{8} ramp=\bramp_(?:id|sec)_<alnum>{30,}
    samsara=\bsamsara_api_<alnum>{28,} rootly=\brootly_<hex>{64} val-town=\bvtwn_<alnum>{25,}
    highnote=\b[sr]k_live_<base64>{40,}
    onfido=\bapi_(?:live|sandbox)(?:_[a-z]{2})?[.]<word>{11}[.]<word>{32}
    siemens=\bcode_(?:pat|dt)_<word>{20,} openvsx=\bovsxat_<word>{30,}
    sentry=\bsntrys_eyJ<A-Za-z0-9+/_=->{60,} clickhouse=\bchc_<alnum>{40,}
    password-hash=[$](?:1|2[abxy]|5|6|y|apr1|argon2id?|argon2i|scrypt)[$]<./A-Za-z0-9$=,+>{20,}
""")

_PARAMETERS = _read_table(r"""
    slack-webhook=hooks[.]slack[.]com/(?:services|workflows|triggers)/<A-Za-z0-9+/_->{20,200}
    discord-webhook=discord(?:app)?[.]com/api/webhooks/<0-9>{15,}/<word>{40,}
    zapier-webhook=hooks[.]zapier[.]com/hooks/catch/<A-Za-z0-9/>{14,}
    aws-signature=Signature=<hex>{64}
    teams-webhook=webhook[.]office[.]com/webhookb2/<A-Za-z0-9@/->{60,}
    azure-key=(?:AccountKey|SharedAccessKey|SharedSecretKey)=<base64>{30,}={0,2}
    signed-url=X-(?:Amz|Goog)-Signature=<hex>{64,512} azure-sas=[?&;]sig=<A-Za-z0-9+/%_->{40,}={0,2}
""")
"""Secrets in addresses and connection strings: the prefix is not secret and stays."""

_AZURE = r"(?:APIM|ACDb|AIoT|Az(?:Se|Fu|Ca)|[+](?:ABa|AMC|AS[tb]|AEh|ARm|ACR))[A-Za-z0-9+/]{5,6}"

# Tokens that begin with any letter or digit: name, beginning, rest, and the anchor.
SHAPES: tuple[tuple[str, str, str, str], ...] = (
    (
        "azure-client-secret",
        r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~",
        r"[A-Za-z0-9_~.-]{31,34}",
        r"[0-9]Q~[A-Za-z0-9_~.-]{12}",
    ),
    ("mailchimp", r"\b", r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])", r"[0-9a-f]{32}-us[0-9]"),
    (
        "telegram",
        r"\b[0-9]{8,10}:AA",
        r"[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])",
        r"[0-9]:AA[A-Za-z0-9_-]{30}",
    ),
    (
        "discord",
        r"\b[MNO][A-Za-z0-9_-]{22,28}[.]",
        r"[A-Za-z0-9_-]{6,7}[.][A-Za-z0-9_-]{27,40}",
        r"[.][A-Za-z0-9_-]{6}[A-Za-z0-9_-]?[.][A-Za-z0-9_-]{27}",
    ),
    (
        "azure-devops",
        r"\b",
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])",
        r"[A-Za-z0-9]{4}AZDO[A-Za-z0-9]{4}",
    ),
    (
        "azure-openai",
        r"\b",
        r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{20,30}(?![A-Za-z0-9])",
        r"JQQJ9[A-Za-z0-9]{12}",
    ),
    (
        "azure",
        r"\b",
        rf"[A-Za-z0-9+/]{{32,76}}{_AZURE}={{0,2}}(?![A-Za-z0-9+/=])",
        rf"{_AZURE}(?:=|[^A-Za-z0-9+/])",
    ),
    (
        "rapidapi",
        r"\b",
        r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}",
        r"msh[0-9a-f]{15}p1",
    ),
    (
        "asana",
        r"\b[0-2]/[0-9]{13,18}(?:/[0-9]{13,18})?:",
        r"[0-9a-f]{32}",
        r"/[0-9]{13,18}:[0-9a-f]{32}",
    ),
    (
        "twitter",
        r"\bA{19,24}",
        r"[A-Za-z0-9]{8,60}(?:%2[BF][A-Za-z0-9]*)*(?:%3D|=)[A-Za-z0-9%]{40,}",
        r"A{19}[A-Za-z0-9]{8}",
    ),
    (
        "facebook-app",
        r"\b[0-9]{15,16}[|]",
        r"[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
        r"[0-9]{15}[|][A-Za-z0-9_-]{27}",
    ),
    (
        "dropbox",
        r"\b[a-z0-9]{11}A{10}",
        r"[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
        r"A{10}[A-Za-z0-9_-]{43}",
    ),
    (
        "authress",
        r"\b(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}[.][a-z0-9]{4,6}[.]",
        r"acc[_-][a-z0-9-]{10,32}[.][A-Za-z0-9+/_=-]{30,120}",
        r"[.]acc[_-][a-z0-9-]{10}",
    ),
    (
        "maxmind",
        r"\b[A-Za-z0-9]{6}_",
        r"[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])",
        r"[A-Za-z0-9]{12}_mmk",
    ),
    (
        "ably",
        r"\b[A-Za-z0-9_-]{6}[.][A-Za-z0-9_-]{6}:",
        r"[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
        r"[.][A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}",
    ),
    (
        "terraform",
        r"\b[A-Za-z0-9]{14}[.]atlasv1[.]",
        r"[A-Za-z0-9_=-]{60,}",
        r"[.]atlasv1[.][A-Za-z0-9_=-]{12}",
    ),
)


_LITERAL = re.compile(r"(?:[A-Za-z0-9_-](?![?*{]))*")
"""The letters that a prefix begins with; looking for them first is ten times faster than the whole
expression.
"""


def finder_of(is_secret: Callable[[bytes], bool], *patterns: re.Pattern[bytes]) -> Finder:
    """Returns what finds the secrets in the first groups of the patterns."""

    def find(text: bytes) -> Iterator[Span]:
        for pattern in patterns:
            yield from (match.span(1) for match in pattern.finditer(text) if is_secret(match[1]))

    return find


def token_finder(prefix: str, token: str, *, keeps_prefix: bool = False) -> Finder:
    """Returns the finder of one vendor's tokens; what follows the prefix decides whether it is a
    real one.
    """
    is_bounded = prefix.startswith(_BOUND)
    pattern = re.compile(f"{prefix.removeprefix(_BOUND)}({token})".encode())
    literal = _LITERAL.match(prefix.removeprefix(_BOUND))[0].encode()  # pyright: ignore[reportOptionalSubscript]

    def find(text: bytes) -> Iterator[Span]:
        for match in pattern.finditer(text) if literal in text else ():
            is_in_word = is_bounded and text[match.start() - 1 : match.start()].isalnum()
            if not is_in_word and is_vendor_token(match[1]):
                yield match.span(1 if keeps_prefix else 0)

    return find


def _token_anchor(prefix: str, token: str) -> str:
    """Returns what the prefilter looks for: the prefix and up to twelve characters of the rest."""
    first = re.match(r"(\[[^\]]+\])\{(\d+)", token)
    begin = f"{first[1]}{{{min(int(first[2]), 12)}}}" if first else token.partition("{")[0]
    return prefix.removeprefix(_BOUND) + begin


_AWS_PAIR = re.compile(
    rb"(?:AKIA"
    rb"|ASIA)[A-Z0-9]{16}[\s\S]{1,240}?(?<![A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_find_aws_secret = finder_of(
    lambda key: is_vendor_token(key) and not re.fullmatch(rb"[0-9a-f]+", key), _AWS_PAIR
)
"""Finds the secret key within a few lines after an access key id, whatever it is called."""

ANCHORS = tuple(_token_anchor(*token) for token in (*_TOKENS, *_PARAMETERS))
FINDERS: tuple[Finder, ...] = (
    *(token_finder(*token) for token in _TOKENS),
    *(token_finder(*token, keeps_prefix=True) for token in _PARAMETERS),
    _find_aws_secret,
)
