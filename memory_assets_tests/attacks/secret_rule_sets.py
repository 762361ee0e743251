"""Secrets as the maintained rule sets of secret scanners describe them: name, alphabet and length, drawn at random.

`SHAPED` have a shape of their own and stand anywhere; `NAMED` are recognised by the vendor's name before them, in the ways in
which configuration files and programming languages assign a value (`ASSIGNMENTS`). The facts are those of gitleaks' rules and
of the vendors' documents. Nothing here is shared with the detector.

`is_held_back` names a third of the forms by the hash of their names: they were first scored when masking was
finished. Whoever wrote the rules knew the formats, so the third is no independent sample.
"""

import hashlib
from random import Random

from memory_assets_tests.stages.capture.vendor_formats import draw_template

SHAPED = """
1password secret|A3-<upper:6>-<upper:6>-<upper:5>-<upper:5>-<upper:5>-<upper:5>
1password service account|ops_eyJ<b64:250>=
adobe client secret|p8e-<lower:32>
age|AGE-SECRET-KEY-1<bech:58>
alibaba id|LTAI<lower:20>
anthropic|sk-ant-api03-<url:93>AA
artifactory key|AKCp<alnum:69>
artifactory reference|cmVmd<alnum:59>
atlassian|ATATT3<url:186>
authress|sc_<lower:20>.<lower:5>.acc_<lower:20>.<b64:60>
aws id of old|A3T<upper:1><base32:16>
aws bedrock long|ABSKQmVkcm9ja0FQSUtleS<b64:110>
aws bedrock short|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t<b64:60>
azure client secret|<alnum:3>8Q~<url:33>
clickhouse cloud|4b1d<alnum:38>
clojars|CLOJARS_<lower:60>
cloudflare origin|v1.0-<hex:24>-<hex:146>
databricks|dapi<hex:32>
defined networking|dnkey-<url:26>-<url:52>
digitalocean refresh|dor_v1_<hex:64>
doppler|dp.pt.<alnum:43>
dropbox short|sl.<url:135>
duffel|duffel_test_<url:43>
dynatrace|dt0c01.<upper:24>.<upper:64>
easypost test|EZTK<alnum:54>
facebook app|<digit:16>|«<url:27>»
facebook page|EAAM<alnum:120>
flutterwave encryption|FLWSECK_TEST-<hex:12>
fly one|fo1_<url:43>
fly two|fm2_<b64:120>
frame io|fio-u-<url:64>
freemius|'secret_key' => '«sk_<alnum:29>»'
gcp|AIza<url:35>
github fine grained|github_pat_<alnum:82>
gitlab deploy|gldt-<url:20>
gitlab feature flag|glffct-<url:20>
gitlab kubernetes|glagent-<url:50>
gitlab mail|glimt-<url:25>
gitlab session|_gitlab_session=«<lower:32>»
gocardless|live_<url:40>
grafana old|eyJrIjoi<alnum:90>
grafana cloud|glc_<b64:60>
grafana account|glsa_<alnum:32>_<hex:8>
harness|pat.<url:22>.<alnum:24>.<alnum:20>
heroku|HRKU-AA<url:58>
hugging face organisation|api_org_<alpha:34>
infracost|ico-<alnum:32>
intra42|s-s4t2ud-<hex:64>
linear|lin_api_<lower:40>
lob|live_<hex:35>
looker|looker client_secret: "«<lower:24>»"
mailgun|key-<hex:32>
mapbox secret|sk.eyJ1Ijoi<alnum:60>.<alnum:22>
maxmind|<alnum:6>_<alnum:29>_mmk
new relic browser|NRJS-<hex:19>
new relic insert|NRII-<url:32>
new relic user|NRAK-<upper:27>
notion|ntn_<digit:11><alnum:35>
npm|npm_<alnum:36>
octopus|API-<upper:26>
openai|sk-proj-<url:74>T3BlbkFJ<url:74>
openshift|sha256~<url:43>
perplexity|pplx-<alnum:48>
pulumi|pul-<hex:40>
pypi|pypi-AgEIcHlwaS5vcmc<url:80>
readme|rdme_<lower:70>
rubygems|rubygems_<hex:48>
scalingo|tk-us-<url:48>
sendgrid|SG.<url:22>.<url:43>
sendinblue|xkeysib-<hex:64>-<lower:16>
sentry organisation|sntrys_eyJpYXQiO<alnum:60>LCJyZWdpb25fdXJs<alnum:40>_<b64:43>
settlemint application|sm_aat_<alnum:16>
settlemint personal|sm_pat_<alnum:16>
shippo|shippo_test_<hex:40>
shopify shared|shpss_<hex:32>
sidekiq url|https://<hex:8>:«<hex:8>»@gems.contribsys.com/
slack configuration|xoxe.xoxp-1-<upper:164>
slack refresh|xoxe-1-<upper:146>
slack workspace|xoxa-2-<alnum:40>
sonar|squ_<hex:40>
sourcegraph|sgp_<hex:16>_<hex:40>
square|sq0atp-<url:22>
stripe production|sk_prod_<alnum:30>
twilio|SK<hex:32>
vault batch|hvb.<url:150>
vault service|hvs.<url:95>
vault of old|s.<alnum:24>
yandex iam|t1.<url:20>.<url:86>
yandex storage|YC<url:38>
terraform cloud|<alnum:14>.atlasv1.<url:66>
teams webhook|https://acme.webhook.office.com/webhookb2/«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>@<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>/IncomingWebhook/<hex:32>/<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
jwt in base64|ZXlKaGJHY2lPaUpJVXpJMU5pSXNJblI1Y0NJNklrcFhWQ0o5LmV5SnpkV0lpT2lJeE1qTTBOVFkzT0Rrd0lp<alnum:60>
private key|-----BEGIN PRIVATE KEY-----\\n«<b64:64>\\n<b64:64>\\n<b64:40>»\\n-----END PRIVATE KEY-----
curl header|curl -H "X-Api-Key: «<lower:28>»" https://api.acme.dev/v2
curl basic|curl -H 'Authorization: Basic «<b64:32>»' https://api.acme.dev/v2
curl user|curl -u "bob:«<alnum:14>»" https://api.acme.dev/v2
kubernetes secret|apiVersion: v1\\nkind: Secret\\ndata:\\n  password: «<b64:24>»\\n
nuget password|<add key="ClearTextPassword" value="«<alnum:16>»" />
"""
"""Rule and example; where only a part of it is secret, that part stands between `«` and `»`."""

NAMED = """
adafruit|adafruit|<lower:32>
airtable|airtable|<lower:17>
algolia|algolia|<lower:32>
alibaba secret|alibaba|<lower:30>
asana secret|asana|<lower:32>
atlassian old|jira|<lower:20><hex:4>
beamer|beamer|b_<url:44>
bitbucket secret|bitbucket|<url:64>
bittrex|bittrex|<lower:32>
meraki|meraki|<hex:40>
cloudflare|cloudflare|<url:40>
cloudflare global|cloudflare|<hex:37>
codecov|codecov|<lower:32>
cohere|cohere|<alnum:40>
coinbase|coinbase|<url:64>
confluent|confluent|<lower:16>
confluent secret|confluent|<lower:64>
contentful|contentful|<url:43>
datadog|datadog|<lower:40>
discord|discord|<hex:64>
discord client|discord|<url:32>
droneci|droneci|<lower:32>
dropbox|dropbox|<lower:15>
dropbox long|dropbox|<lower:11>AAAAAAAAAA<url:43>
etsy|etsy|<lower:24>
facebook secret|facebook|<hex:32>
fastly|fastly|<url:32>
finicity|finicity|<hex:32>
finicity secret|finicity|<lower:20>
finnhub|finnhub|<lower:20>
flickr|flickr|<lower:32>
freshbooks|freshbooks|<lower:64>
gitter|gitter|<url:40>
heroku old|heroku|<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>
hubspot|hubspot|<HEX:8>-<HEX:4>-<HEX:4>-<HEX:4>-<HEX:12>
intercom|intercom|<url:60>
jfrog|jfrog|<lower:73>
jfrog identity|artifactory|<lower:64>
kraken|kraken|<b64:85>
kucoin|kucoin|<hex:24>
kucoin secret|kucoin|<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>
launchdarkly|launchdarkly|<url:40>
linear secret|linear|<hex:32>
linkedin secret|linkedin|<lower:16>
mailchimp|mailchimp|<hex:32>-us20
mailgun signing|mailgun|<hex:32>-<hex:8>-<hex:8>
mattermost|mattermost|<lower:26>
messagebird|messagebird|<lower:25>
netlify|netlify|<url:43>
new relic user id|newrelic|<lower:64>
nytimes|nytimes|<url:32>
okta|okta|00<url:40>
plaid secret|plaid|<lower:30>
private ai|privateai|<lower:32>
rapidapi|rapidapi|<url:50>
sendbird|sendbird|<hex:40>
sentry old|sentry|<hex:64>
snyk|snyk|<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>
squarespace|squarespace|<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>
sumologic|sumo|<lower:64>
sumologic id|sumo|su<alnum:12>
telegram|telegram|<digit:10>:A<url:34>
travis|travis|<lower:22>
twitch|twitch|<lower:30>
twitter secret|twitter|<lower:45>
twitter token|twitter|<digit:18>-<alnum:30>
twitter key|twitter|<lower:25>
twitter api secret|twitter|<lower:50>
yandex key|yandex|AQVN<url:37>
zendesk|zendesk|<lower:40>
"""
"""Rule, the vendor's name, and the secret."""

ASSIGNMENTS = (
    '{i}Token="{s}"', '{i}Token = "{s}"', "{i}Token={s}", "{i}Token = {s}", '{\n    "{i}_token": "{s}"\n}',
    '\\{\n    \\"{i}_token\\": \\"{s}\\"\n\\}', "<{i}Token>{s}</{i}Token>", "<{i}Token>\n    {s}\n</{i}Token>", "{i}_token: {s}",
    "{i}_token: '{s}'", '{i}_token: "{s}"', "{i}_token: |\n  {s}", "{i}_token: >\n  {s}", 'string {i}Token = "{s}";',
    'var {i}Token string = "{s}"', '{i}Token := "{s}"', "{i}Token := `{s}`", 'String {i}Token = "{s}";', 'var {i}Token = "{s}"',
    '${i}Token .= "{s}"', "{i}Token = '{s}'", "{i}Token,{s},", '  "{i}Token" => "{s}"', '{i}_TOKEN = "{s}"', '{i}_TOKEN := "{s}"',
    '{i}_TOKEN ::= "{s}"', '{i}_TOKEN :::= "{s}"', '{i}_TOKEN ?= "{s}"', '{i}_TOKEN += "{s}"', '{i}_api_token = "{s}"',
)  # fmt: skip
"""How the tests of the rule set assign the secret `{s}` of the vendor `{i}`."""


def shaped() -> dict[str, str]:
    """Returns the templates of the secrets that have a shape of their own, by rule."""
    rows = (line.partition("|") for line in SHAPED.strip().splitlines())
    return {rule: template for rule, _, template in rows}


def named() -> dict[str, tuple[str, str]]:
    """Returns the vendor's name and the template of the secret, by rule."""
    rows = (line.split("|", 2) for line in NAMED.strip().splitlines())
    return {rule: (vendor, secret) for rule, vendor, secret in rows}


def rules() -> list[str]:
    """Returns the names of all rules."""
    return [*shaped(), *named()]


def is_held_back(rule: str) -> bool:
    """Returns whether the rule belongs to the third that masking was first scored on when it was finished."""
    return hashlib.sha256(rule.encode()).digest()[0] % 3 == 0


def draw_example(rule: str, random: Random) -> tuple[str, str]:
    """Returns an example of the rule, and the part of it that nobody may read afterwards."""
    if rule in shaped():
        text, secret = draw_template(shaped()[rule], random)
        return random.choice(("{}", "it printed {} and went on", "value: {}", "KEY={}")).replace(
            "{}", text
        ), secret
    vendor, template = named()[rule]
    secret, _ = draw_template(template, random)
    assignment = random.choice(ASSIGNMENTS)
    shown = vendor.upper() if "_TOKEN" in assignment else vendor
    return assignment.replace("{i}", shown).replace("{s}", secret), secret
