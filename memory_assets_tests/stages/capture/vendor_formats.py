"""Secrets in the forms that vendors' documentation and well-known files give them, drawn at random.

A form is a line of text with slots, `<letters:length>`, in which one stretch between `«` and `»` is the secret; the
rest is what stands around it where such secrets are met. `draw_form` fills the slots. Nothing here is shared with the
detector, and nothing is a regular expression of what to find.
"""

import base64
import json
import re
import string
from random import Random

LETTERS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "alpha": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "salt": string.ascii_letters + string.digits + "!@#%^*()-_[]{}|:;,.?/~+=",
}

TOKENS = """
aws access key|«AKIA<base32:16>»
aws temporary key|«ASIA<base32:16>»
aws bedrock key|«ABSK<b64:128>=»
github classic|«ghp_<alnum:36>»
github oauth|«gho_<alnum:36>»
github app user|«ghu_<alnum:36>»
github app server|«ghs_<alnum:36>»
github refresh|«ghr_<alnum:76>»
github fine grained|«github_pat_<upper:22>_<alnum:59>»
gitlab personal|«glpat-<url:20>»
gitlab routable|«glpat-<url:27>.01.<lower:9>»
gitlab deploy|«gldt-<url:20>»
gitlab runner|«glrt-t1_<url:20>»
gitlab registration|«GR1348941<url:20>»
gitlab pipeline|«glptt-<hex:40>»
gitlab job|«glcbt-64_<url:20>»
bitbucket app password|«ATBB<alnum:24><HEX:8>»
atlassian|«ATATT3xFfGF0<url:171>=<HEX:8>»
slack bot|«xoxb-<digit:12>-<digit:13>-<alnum:24>»
slack user|«xoxp-<digit:12>-<digit:12>-<digit:13>-<hex:32>»
slack app|«xapp-1-A<upper:10>-<digit:13>-<hex:64>»
slack rotating|«xoxe.xoxp-1-<alnum:163>»
slack browser|«xoxc-<digit:12>-<digit:12>-<digit:13>-<hex:64>»
slack webhook|https://hooks.slack.com/services/«T<upper:10>/B<upper:10>/<alnum:24>»
discord bot|«MT<alnum:24>.G<url:5>.<url:38>»
discord webhook|https://discord.com/api/webhooks/«<digit:19>/<url:68>»
telegram bot|«<digit:10>:AA<url:33>»
openai classic|«sk-<alnum:20>T3BlbkFJ<alnum:20>»
openai project|«sk-proj-<url:74>T3BlbkFJ<url:74>»
openai service account|«sk-svcacct-<url:58>T3BlbkFJ<url:58>»
openai admin|«sk-admin-<url:58>T3BlbkFJ<url:58>»
anthropic|«sk-ant-api03-<url:93>AA»
anthropic admin|«sk-ant-admin01-<url:93>AA»
anthropic oauth|«sk-ant-oat01-<url:93>AA»
google api key|«AIzaSy<url:33>»
gemini auth key|«AQ.Ab8RN6<url:44>»
google oauth|«ya29.a0<url:160>»
google refresh|«1//0<alnum:1>C<url:98>»
google client secret|«GOCSPX-<url:28>»
azure client secret|«<alnum:3>8Q~<url:34>»
azure devops|«<alnum:76>AZDO<alnum:4>»
azure storage key|«<b64:76>+ASt<alnum:6>==»
azure openai|«<alnum:52>JQQJ99<alnum:18>ACOG<alnum:4>»
stripe live|«sk_live_51<alnum:97>»
stripe test|«sk_test_<alnum:24>»
stripe restricted|«rk_live_51<alnum:97>»
stripe webhook|«whsec_<alnum:32>»
paypal braintree|«access_token$production$<lower:16>$<hex:32>»
square|«EAAA<url:60>»
square secret|«sq0csp-<url:43>»
plaid|«access-production-<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
flutterwave|«FLWSECK-<hex:32>-X»
shippo|«shippo_live_<hex:40>»
easypost|«EZAK<alnum:54>»
duffel|«duffel_live_<url:43>»
twilio key|«SK<hex:32>»
sendgrid|«SG.<url:22>.<url:43>»
mailgun|«key-<hex:32>»
mailgun private|«<hex:32>-<hex:8>-<hex:8>»
mailchimp|«<hex:32>-us21»
brevo|«xkeysib-<hex:64>-<alnum:16>»
brevo mail|«xsmtpsib-<hex:64>-<alnum:16>»
mailersend|«mlsn.<hex:64>»
resend|«re_<alnum:8>_<alnum:24>»
npm|«npm_<alnum:36>»
pypi|«pypi-AgEIcHlwaS5vcmc<url:150>»
rubygems|«rubygems_<hex:48>»
nuget|«oy2<lower:43>»
crates|«cio<alnum:32>»
clojars|«CLOJARS_<hex:60>»
docker hub|«dckr_pat_<url:27>»
docker organisation|«dckr_oat_<url:32>»
artifactory|«AKCp<alnum:69>»
hugging face|«hf_<alpha:34>»
replicate|«r8_<alnum:37>»
groq|«gsk_<alnum:52>»
xai|«xai-<alnum:80>»
perplexity|«pplx-<alnum:48>»
openrouter|«sk-or-v1-<hex:64>»
deepseek|«sk-<hex:32>»
together|«tgp_v1_<url:43>»
fireworks|«fw_<alnum:24>»
cerebras|«csk-<lower:48>»
nvidia|«nvapi-<url:64>»
voyage|«pa-<url:43>»
jina|«jina_<alnum:60>»
elevenlabs|«sk_<hex:48>»
langsmith|«lsv2_pt_<hex:32>_<hex:10>»
langfuse|«sk-lf-<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
weights and biases|«wandb_v1_<alnum:70>»
pinecone|«pcsk_<alnum:6>_<alnum:63>»
tavily|«tvly-dev-<alnum:32>»
firecrawl|«fc-<hex:32>»
browserbase|«bb_live_<url:27>»
e2b|«e2b_<hex:40>»
runpod|«rpa_<upper:46>»
cursor|«crsr_<hex:64>»
composio|«ak_<url:22>»
modal|MODAL_TOKEN_SECRET=«as-<alnum:22>»
cloudflare user token|«cfut_<alnum:40><hex:8>»
cloudflare account token|«cfat_<alnum:40><hex:8>»
cloudflare origin|«v1.0-<hex:24>-<hex:146>»
vercel|«vcp_<alnum:56>»
vercel blob|«vercel_blob_rw_<alnum:16>_<alnum:30>»
netlify|«nfp_<alnum:36>»
fly|FlyV1 «fm2_<b64:300>»
render|«rnd_<alnum:28>»
heroku|«HRKU-AA<url:58>»
supabase personal|«sbp_<hex:40>»
supabase secret|«sb_secret_<url:22>_<url:8>»
neon|«napi_<lower:64>»
neon password|postgresql://neondb_owner:«npg_<alnum:12>»@ep-cool-sun-a1b2c3.eu-central-1.aws.neon.tech/neondb
planetscale|«pscale_tkn_<url:43>»
mongodb atlas|«mdb_sa_sk_<url:40>»
databricks|«dapi<hex:32>-2»
digitalocean|«dop_v1_<hex:64>»
yandex|«AQVN<url:36>»
alibaba|«LTAI5t<alnum:18>»
tencent|«AKID<alnum:32>»
aiven|«AVNS_<url:19>»
vault service|«hvs.<url:95>»
vault batch|«hvb.<url:140>»
terraform cloud|«<alnum:14>.atlasv1.<url:67>»
pulumi|«pul-<hex:40>»
doppler|«dp.pt.<alnum:43>»
infisical|«st.<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>.<hex:32>.<hex:32>»
age|«AGE-SECRET-KEY-1<upper:58>»
tailscale|«tskey-auth-<alnum:17>-<alnum:32>»
onepassword|«A3-<upper:6>-<upper:6>-<upper:5>-<upper:5>-<upper:5>-<upper:5>»
new relic|«NRAK-<upper:27>»
sentry user|«sntryu_<hex:64>»
grafana account|«glsa_<alnum:32>_<hex:8>»
posthog personal|«phx_<alnum:47>»
honeycomb|«hcaik_01<lower:56>»
dynatrace|«dt0c01.<upper:24>.<upper:64>»
launchdarkly|«sdk-<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
statsig|«secret-<alnum:43>»
sonar|«sqp_<hex:40>»
buildkite|«bkua_<hex:40>»
circleci|«CCIPAT_<alnum:22>_<hex:40>»
prefect|«pnu_<alnum:36>»
notion|«ntn_<digit:11><alnum:35>»
linear|«lin_api_<alnum:40>»
figma|«figd_<url:40>»
airtable|«pat<alnum:14>.<hex:64>»
asana|«2/<digit:16>/<digit:16>:<hex:32>»
clickup|«pk_<digit:8>_<upper:32>»
hubspot|«pat-na1-<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
typeform|«tfp_<url:59>»
dropbox|«sl.<url:135>»
contentful|«CFPAT-<url:43>»
shopify|«shpat_<hex:32>»
postman|«PMAK-<hex:24>-<hex:34>»
rapidapi|«<hex:10>msh<hex:15>p1<hex:5>jsn<hex:12>»
readme|«rdme_<lower:70>»
frame io|«fio-u-<url:64>»
twitter bearer|«AAAAAAAAAAAAAAAAAAAAA<alnum:20>%3D<alnum:50>»
facebook|«EAA<alnum:180>»
scalingo|«tk-us-<url:48>»
okta|Authorization: SSWS «00<url:40>»
opsgenie|Authorization: GenieKey «<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
splunk|Authorization: Splunk «<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
pagerduty|Authorization: Token token=«u+<url:18>»
sealed webhook|https://prod-12.westeurope.logic.azure.com/workflows/a1/triggers/manual/paths/invoke?api-version=1&sv=1.0&sig=«<url:43>»
teams webhook|https://acme.webhook.office.com/webhookb2/«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>@<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>/IncomingWebhook/<hex:32>/<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
"""
"""Tokens that anybody can tell by their form, wherever they stand."""

NAMED = """
aws secret|aws_secret_access_key = «<b64:40>»
aws credentials file|[default]\\naws_access_key_id = AKIA<base32:16>\\naws_secret_access_key = «<b64:40>»
aws session|AWS_SESSION_TOKEN="«IQoJb3JpZ2luX2Vj<b64:340>»"
aws shell|export AWS_SECRET_ACCESS_KEY=«<b64:40>»
azure connection|DefaultEndpointsProtocol=https;AccountName=media;AccountKey=«<b64:86>==»;EndpointSuffix=core.windows.net
azure bus|Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=«<b64:43>=»
azure cosmos|AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=«<b64:86>==»;
azure sas|https://media.blob.core.windows.net/c?sv=2024-11-04&ss=b&srt=co&sp=rl&se=2026-12-31T00:00:00Z&sig=«<alnum:42>%3D»
s3 signed|https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=600&X-Amz-Signature=«<hex:64>»
datadog|DD_API_KEY=«<hex:32>»
datadog header|-H "DD-APPLICATION-KEY: «<hex:40>»"
mistral|MISTRAL_API_KEY=«<alnum:32>»
cohere|export CO_API_KEY='«<alnum:40>»'
cloudflare named|CLOUDFLARE_API_TOKEN=«<url:40>»
vercel named|VERCEL_TOKEN: «<alnum:24>»
algolia|"adminApiKey": "«<hex:32>»"
twilio auth|TWILIO_AUTH_TOKEN=«<hex:32>»
heroku uuid|HEROKU_API_KEY=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
snyk|SNYK_TOKEN=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
ngrok|ngrok config add-authtoken «2<alnum:26>_<alnum:21>»
okta named|"oktaApiToken": "«00<url:40>»"
cloudinary|CLOUDINARY_URL=cloudinary://<digit:15>:«<url:27>»@shop
npmrc|//npm.example.org/:_authToken=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
npmrc password|//npm.acme.dev/:_password="«<b64:24>=»"
pypirc|[pypi]\\nusername = ann\\npassword = «<password>»
netrc|machine api.acme.dev login ann password «<password>»
netrc lines|machine api.acme.dev\\n  login ann\\n  password «<password>»
pgpass|db.internal:5432:shop:ann:«<password>»
psql|PGPASSWORD='«<password>»' psql -h db.internal -U ann shop
my.cnf|[client]\\nuser=ann\\npassword=«<password>»
mysql|mysql -h db -u ann -p«<alnum:14>» shop
redis|redis-cli -h cache -a «<alnum:24>» ping
curl user|curl -s -u ann:«<password>» https://api.acme.dev/v1/me
curl user quoted|curl -s --user 'ann:«<password>»' https://api.acme.dev/v1/me
curl header|curl -H "X-Api-Key: «<alnum:32>»" https://api.acme.dev/v1/me
curl bearer|curl -H 'Authorization: Bearer «<url:48>»' https://api.acme.dev/v1/me
curl form|curl -d 'grant_type=client_credentials&client_id=shop&client_secret=«<alnum:40>»' https://id.acme.dev/token
curl json|curl -X POST https://id.acme.dev/login -d '{"user":"ann","password":"«<password>»"}'
wget|wget --user=ann --password='«<password>»' https://files.acme.dev/a.tgz
sshpass|sshpass -p '«<password>»' ssh ann@host
docker env|docker run -d -e POSTGRES_PASSWORD=«<password>» -p 5432:5432 postgres:17
docker env quoted|docker run --env "API_TOKEN=«<alnum:40>»" acme/app
docker login|docker login -u ann -p «<alnum:20>» registry.acme.dev
dockerfile|FROM node:24\\nENV SESSION_SECRET=«<hex:64>»
compose|environment:\\n  - MODE=prod\\n  - JWT_SECRET=«<alnum:48>»
compose map|environment:\\n  MYSQL_ROOT_PASSWORD: «<password>»
systemd|Environment="SMTP_PASSWORD=«<password>»"
powershell|$env:API_KEY = "«<alnum:40>»"
powershell secure|ConvertTo-SecureString "«<password>»" -AsPlainText -Force
windows|set DB_PASSWORD=«<password>»
fish|set -gx OPENWEATHER_API_KEY «<hex:32>»
postgres url|postgres://shop:«<password>»@db.internal:5432/shop?sslmode=require
mysql url|mysql+pymysql://shop:«<password>»@db/shop
mongo url|mongodb+srv://shop:«<alnum:20>»@cluster0.ab1cd.mongodb.net/shop
redis url|rediss://default:«<alnum:32>»@fly-shop.upstash.io:6379
amqp url|amqps://shop:«<url:32>»@sparrow.rmq.cloudamqp.com/shop
git url|git remote set-url origin https://ann:«<alnum:40>»@git.acme.dev/shop/app.git
token url|git clone https://oauth2:«<url:26>»@gitlab.acme.dev/shop/app.git
smtp url|smtp://ann%40acme.dev:«<alnum:18>»@smtp.acme.dev:587
sentry dsn|SENTRY_AUTH_TOKEN=«<hex:64>»
odbc|Server=tcp:db,1433;Database=shop;Uid=ann;Pwd=«<password>»;Encrypt=yes
jdbc|jdbc:postgresql://db/shop?user=ann&password=«<alnum:16>»&ssl=true
sql user|CREATE USER shop WITH PASSWORD '«<password>»';
sql mysql|CREATE USER 'shop'@'%' IDENTIFIED BY '«<password>»';
yaml|database:\\n  host: db\\n  password: "«<password>»"\\n
helm|helm upgrade shop ./chart --set auth.password=«<password>»
toml|[auth]\\nclient_secret = "«<url:40>»"
ini|[smtp]\\nuser = ann\\npass = «<password>»
properties|spring.datasource.password=«<password>»
hcl|variable "db_password" {\\n  default = "«<password>»"\\n}
tfvars|db_password = "«<password>»"
tfstate|{"type": "random_password", "attributes": {"length": 24, "result": "«<password24>»"}}
python|client = Client(api_key="«<alnum:40>»", timeout=3)
python dict|{'user': 'ann', 'password': '«<password>»'}
javascript|const apiKey = '«<alnum:32>»';
typescript|export const JWT_SECRET: string = "«<alnum:44>»"
go|cfg := Config{Password: "«<password>»"}
java|dataSource.setPassword("«<password>»");
ruby|config.secret_key = '«<hex:128>»'
rails master|RAILS_MASTER_KEY=«<hex:32>»
laravel|APP_KEY=base64:«<b64:43>=»
django|SECRET_KEY = 'django-insecure-«<salt:50>»'
wordpress|define('AUTH_KEY', '«<salt:64>»');
next auth|NEXTAUTH_SECRET=«<b64:43>=»
ethereum|PRIVATE_KEY=0x«<hex:64>»
wireguard|[Interface]\\nPrivateKey = «<b64:43>=»\\nAddress = 10.0.0.2/32
cookie|Cookie: theme=dark; session=«<url:64>»; lang=en
set cookie|Set-Cookie: sid=«<hex:40>»; Path=/; HttpOnly; Secure
django session|Cookie: csrftoken=abc; sessionid=«<lower:32>»
json key|{"region": "eu", "api_key": "«<alnum:32>»", "retries": 3}
json token|{"access_token":"«<url:64>»","token_type":"Bearer","expires_in":3600}
refresh token|{"refresh_token": "«<url:86>»"}
basic header|Authorization: Basic «<basic>»
query|GET /v1/files?limit=3&api_key=«<alnum:32>»&page=2
query token|wss://push.acme.dev/socket?token=«<url:43>»
xml|<add key="ApiSecret" value="«<alnum:32>»" />
xml element|<password xml>«<pw>»</password>
plist|<key>apiToken</key>\\n<string>«<alnum:40>»</string>
docker config|{"auths": {"ghcr.io": {"auth": "«<basic>»"}}}
kubeconfig|users:\\n- name: ann\\n  user:\\n    token: «<url:80>»
k8s secret|apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: db\\ndata:\\n  password: «<password in base64>»
k8s client key|    client-key-data: «<key in base64>»
gh action|gh secret set DEPLOY_KEY --body "«<alnum:40>»"
vault kv|vault kv put secret/shop password=«<password>»
ansible|ansible_become_password: «<password>»
flag|acme deploy --api-token «<alnum:40>» --region eu
flag equals|acme deploy --client-secret=«<alnum:40>»
sentence|the admin password is «<password>» for now
german|Das Passwort lautet: «<password>»
chat|ok here you go, API key: «<alnum:32>»
env quoted|SMTP_PASSWORD='«<password>»'
shadow|ann:«$6$<alnum:16>$<alnum:86>»:20000:0:99999:7:::
htpasswd|ann:«$apr1$<alnum:8>$<alnum:22>»
bcrypt|INSERT INTO users VALUES (1, 'ann', '«$2b$12$<alnum:53>»');
jwt|«<jwt>»
jwt json|{"id_token": "«<jwt>»"}
github server long|«ghs_123456_<jwt>»
onepassword service|«ops_<json part>»
rsa key|-----BEGIN RSA PRIVATE KEY-----\\n«<key lines>»\\n-----END RSA PRIVATE KEY-----
pkcs8 key|-----BEGIN PRIVATE KEY-----\\n«<key lines>»\\n-----END PRIVATE KEY-----
ec key|-----BEGIN EC PRIVATE KEY-----\\n«<key lines>»\\n-----END EC PRIVATE KEY-----
encrypted key|-----BEGIN ENCRYPTED PRIVATE KEY-----\\n«<key lines>»\\n-----END ENCRYPTED PRIVATE KEY-----
openssh key|-----BEGIN OPENSSH PRIVATE KEY-----\\n«b3BlbnNzaC1rZXktdjEAAAAA<key lines>»\\n-----END OPENSSH PRIVATE KEY-----
pgp key|-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\n«<key lines>»\\n=aB3d\\n-----END PGP PRIVATE KEY BLOCK-----
ssh2 key|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\\nComment: "ann"\\n«<key lines>»\\n---- END SSH2 ENCRYPTED PRIVATE KEY ----
putty key|PuTTY-User-Key-File-3: ssh-ed25519\\nPrivate-Lines: 8\\n«<key lines>»\\nPrivate-MAC: <hex:64>
key on one line|PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\\\n«<key escaped>»\\\\n-----END PRIVATE KEY-----\\\\n"
service account|{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\\\n«<key escaped>»\\\\n-----END PRIVATE KEY-----\\\\n"}
jwk|{"kty":"OKP","crv":"Ed25519","d":"«<url:43>»","x":"<url:43>"}
aws in json|{"AccessKeyId": "ASIA<base32:16>", "SecretAccessKey": "«<b64:40>»", "SessionToken": "x"}
"""
"""Secrets that what stands around them gives away."""

_SLOT = re.compile(
    r"<([a-zA-Z0-9]+):([0-9]+)>|<(password24|password xml|password|pin|pw|basic|jwt|json part|key lines|key escaped|"
    r"password in base64|key in base64)>"
)


def _forms(lines: str) -> dict[str, str]:
    return dict(line.split("|", 1) for line in lines.strip().splitlines())


BARE_FORMS = _forms(TOKENS)
NAMED_FORMS = _forms(NAMED)
FORMS = {**BARE_FORMS, **NAMED_FORMS}


def draw_form(name: str, random: Random) -> tuple[str, str]:
    """Returns a text of the form, and the secret in it."""
    return draw_template(FORMS[name], random)


def draw_template(template: str, random: Random) -> tuple[str, str]:
    """Returns a text of the template, and the secret in it: what stands between `«` and `»`, else the whole text."""
    text = _SLOT.sub(
        lambda slot: _fill(slot, random), template.replace("\\n", "\n").replace("\\\n", "\\n")
    )
    before, opened, rest = text.partition("«")
    if not opened:
        return text, text
    secret, _, after = rest.partition("»")
    return before + secret + after, secret


def _fill(slot: re.Match[str], random: Random) -> str:
    if slot[1]:
        return _word(random, LETTERS[slot[1]], int(slot[2]))
    return {
        "password": lambda: _password(random, random.randint(10, 18)),
        "password24": lambda: _password(random, 24),
        "password xml": lambda: "<password>",
        "pin": lambda: _short_password(random),
        "pw": lambda: _password(random, 12),
        "basic": lambda: _base64(f"ann:{_password(random, 14)}"),
        "jwt": lambda: _jwt(random),
        "json part": lambda: _base64(
            json.dumps({"signInAddress": "acme.dev", "secret": _word(random, LETTERS["hex"], 64)})
        ),
        "key lines": lambda: "\n".join(
            _word(random, LETTERS["b64"], 64) for _ in range(random.randint(3, 24))
        ),
        "key escaped": lambda: "\\n".join(
            _word(random, LETTERS["b64"], 64) for _ in range(random.randint(3, 24))
        ),
        "password in base64": lambda: _base64(_password(random, 16)),
        "key in base64": lambda: _base64(_pem(random)),
    }[slot[3]]()


def _word(random: Random, letters: str, length: int) -> str:
    return "".join(random.choices(letters, k=length))


def _password(random: Random, length: int) -> str:
    """Returns what a password manager makes: every kind of character at least once, safe in quotes and URLs.

    Three dots or stars in a row are drawn again: that is how people write what they left out.
    """
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_.!*+~")
    letters = [random.choice(kind) for kind in kinds] + random.choices("".join(kinds), k=length - 6)
    random.shuffle(letters)
    drawn = (
        random.choice(string.ascii_letters) + "".join(letters) + random.choice(string.ascii_letters)
    )
    return _password(random, length) if "..." in drawn or "***" in drawn else drawn


def _short_password(random: Random) -> str:
    """Returns what people make up: a word that is none, a few digits and perhaps a sign, of eight to ten characters."""
    word = "".join(
        random.choice(letters)
        for letters in ("BCDFGKLMNPRSTVWZ", "aeiou", "bcdfgklmnprstvwz", "aeiou", "klmnrst")
    )
    return (
        word
        + _word(random, string.digits, random.randint(3, 4))
        + random.choice(("", "!", "#", "?"))
    )


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _pem(random: Random) -> str:
    body = "\n".join(_word(random, LETTERS["b64"], 64) for _ in range(20))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"


def _jwt(random: Random) -> str:
    head = {
        "alg": random.choice(["HS256", "RS256", "ES256"]),
        "typ": "JWT",
        "kid": _word(random, LETTERS["hex"], 8),
    }
    claims = {
        "sub": _word(random, LETTERS["hex"], 12),
        "iss": "https://id.acme.dev",
        "exp": random.randrange(10**9, 2 * 10**9),
    }
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (head, claims)
    ]
    return ".".join([*parts, _word(random, LETTERS["url"], random.choice([43, 86, 342]))])
