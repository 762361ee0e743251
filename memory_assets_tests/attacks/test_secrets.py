"""The rules of masking against forms that nobody prepared for.

Secrets of maintained rule sets and of everyday writing are masked, wherever they stand and however they are wrapped; a third of
the forms was held back until masking was finished. What looks like them and is none stays.
"""

import json
from collections.abc import Callable
from random import Random

import pytest

from memory_assets.text.masking.redact import find, mask, mask_text
from memory_assets_tests.attacks import secret_forms, secret_rule_sets
from memory_assets_tests.attacks.secret_rule_sets import is_held_back
from memory_assets_tests.once import SEED, TEST_ALL, sampled

EACH = 6 if TEST_ALL else 1
LEAST = 0.9
"""Share of the forms of each set, and of the third that was held back, that must be masked."""

Draw = Callable[[str, Random], tuple[str, str]]
SETS: dict[str, tuple[list[str], Draw]] = {
    "rule sets": (secret_rule_sets.rules(), secret_rule_sets.draw_example),
    "everyday writing": (list(secret_forms.forms()), secret_forms.draw_form),
    "families": (list(secret_forms.of_families()), secret_forms.draw_form),
}


def is_readable(secret: str, text: str) -> bool:
    """Returns whether the middle or the end of the secret can still be read."""
    middle = len(secret) // 2
    return secret[-8:] in text or secret[middle - 4 : middle + 4] in text


def readable(forms: list[str], draw: Draw, mask_one: Callable[[str], str]) -> list[str]:
    """Returns the names of forms whose secret is still readable after masking."""
    drawn = [
        (form, *draw(form, Random(f"{SEED} {form} {number}")))
        for form in forms
        for number in range(EACH)
    ]
    return [form for form, text, secret in drawn if is_readable(secret, mask_one(text))]


def in_transcript(text: str) -> str:
    """Returns what a text of a transcript reads after its line was masked."""
    line = json.dumps(
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    ).encode()
    masked, _ = mask(line)
    assert len(masked) == len(line)
    return json.loads(masked)["message"]["content"][0]["text"]


@pytest.mark.parametrize("group", SETS)
@pytest.mark.parametrize("held_back", [False, True])
def test_secrets_of_every_set_are_masked_and_so_is_the_third_that_was_held_back(
    group: str, held_back: bool
) -> None:
    names, draw = SETS[group]
    forms = [form for form in names if is_held_back(form) == held_back]
    missed = readable(forms, draw, lambda text: mask_text(text)[0])
    assert 1 - len(missed) / (EACH * len(forms)) >= LEAST, (SEED, missed)


@pytest.mark.parametrize("group", SETS)
def test_secrets_are_masked_in_the_lines_of_transcripts_too(group: str) -> None:
    names, draw = SETS[group]
    forms = sampled(names, 120)
    missed = readable(forms, draw, in_transcript)
    assert 1 - len(missed) / (EACH * len(forms)) >= LEAST, (SEED, missed)


@pytest.mark.parametrize("family", secret_forms.FAMILIES)
def test_most_forms_of_each_family_are_masked(family: str) -> None:
    forms = [form for form in secret_forms.of_families() if form.startswith(f"{family}: ")]
    missed = readable(forms, secret_forms.draw_form, lambda text: mask_text(text)[0])
    assert len(missed) <= 0.3 * EACH * len(forms), (SEED, missed)


def as_metadata(text: str) -> str:
    """Returns what the branch, the folder, the title and the argument of a tool read after masking."""
    value = json.loads(text) if text.startswith("[") else text
    record = {"gitBranch": text, "cwd": text, "title": text, "input": {"args": value}}
    masked, _ = mask(json.dumps(record).encode())
    return "\n".join(json.dumps(part) for part in json.loads(masked).values())


def test_secrets_in_the_metadata_of_a_transcript_are_masked() -> None:
    forms = [form for form in secret_forms.of_families() if form.startswith("metadata: ")]
    missed = readable(forms, secret_forms.draw_form, as_metadata)
    assert len(missed) <= 0.3 * EACH * len(forms), (SEED, missed)


@pytest.mark.parametrize("form", secret_forms.configuration())
def test_secrets_of_configuration_files_are_masked_in_texts_and_in_transcripts(form: str) -> None:
    assert readable([form], secret_forms.draw_form, lambda text: mask_text(text)[0]) == []
    assert readable([form], secret_forms.draw_form, in_transcript) == []


ORDINARY = """
The password field is required before LoginForm2 renders.
Pass `GIT_PROTOCOL=version=2` for v2 calls.
--- PASS: TestZZDump2 (0.02s)
Tokens: 5tb1snh2zvk9y0_r0000gn/T/go-link-397723721/000121.o
Set GOCACHE=$(pwd)/.gocache GOOS=windows GOARCH=amd64 go test
also run under `LC_ALL=fr_FR.UTF-8` with the password prompt
The token is refreshed in README.md:138-142 and AuthProvider2.refresh
Reset the password with ResetPassword2Controller or reset_password_v2
The secret for the build lives in vault/prod-eu-west-1.
Das Passwort wird in UserService2.java geprüft, Zeile 118.
Le mot de passe est vérifié par CheckPassword2 ligne 12.
La contraseña se guarda en la tabla USERS2026 cifrada.
密码在 UserTable2 里加密保存。
パスワードは UserModel2 で検証されます。
Пароль хранится в таблице USERS2026.
sudo systemctl restart nginx-2026 | tee Log2026.txt
echo Building2026Release | tee -a build.log
curl -u $USER:$PASSWORD https://api.acme.dev
7z a -pack2026 archive.7z
docker login -u ann --password-stdin registry.acme.dev
zip -r Release-2026.zip dist/ && unzip Release-2026.zip
gpg --verify Release2026.sig
openssl x509 -in Cert2026.pem -noout -text
ssh-keygen -t ed25519 -C ann@acme.dev -N "" -f id_2026
switch req.Command { case "ls-refs": s.handleUploadPackV2LSRefs(w, req, body) }
the class ext_window2.manager.accessor_handler is deprecated
commit 6da1abe63407c83573c6ec7fd1bb06ba4bf8d7ab fixed the token refresh
the API key header is X-Api-Key, see RFC7235 section 4.2
| name | token | count |\\n| --- | --- | --- |\\n| a | NUMBER | 12 |\\n| b | STRING | 7 |
name,secret,kind\\nshop,projects/p1/secrets/db-2026,path
set session=SessionFactory2.create(); Path=/usr/local
Cookie: theme=dark; lang=en-GB; seen=2026-08-01
the passphrase has 12 words, e.g. Diceware2
log in as Admin2 with your own password
{"message": "Invalid authentication credentials"}, "request_id": "req_011Ca22moueotAja6uwop4cY"}
v4.local.invalid is a host, v4.public.example too
password      string    required, at least 12 characters
PrivateKey    Ed25519PrivateKey `json:"key"`\\nClientSecret  Base64String      `json:"secret"`
shop-token-x7k2p    kubernetes.io/service-account-token    3    14d
db-credentials      Opaque    2    2026-08-01T09:00:00Z
DB_PASSWORD_FILE    /run/secrets/Shop2026
API_TOKEN_LIMIT     Unlimited2026
dbPassword = readSecret2(ctx)
pw := NewPipeWriter2()
creds = credentials.NewTLS2(config)
creds, err := google.FindDefaultCredentials2(ctx)
proxy_set_header X-Api-Key $http_x_api_key2;
proxy_set_header Authorization $http_authorization;
fastcgi_param SCRIPT_FILENAME $document_root2$fastcgi_script_name;
RequestHeader set X-Auth-Token "%{SHOP_TOKEN2}e"
SetEnv SHOP_KEY_FILE /etc/shop/Key2026.pem
requirepass ${REDIS_PASSWORD2026}
masterauth <your-password-2026>
user ann password <your-password>
<password>${env.MAVEN_PASSWORD2026}</password>
sqlcmd -S db -U sa -P $SA_PASSWORD2026 -i Schema2026.sql
Server=db;User Id=sa;Password={0};Database=Shop2026;
WWW-Authenticate: Digest realm="acme", qop="auth", algorithm=SHA-256
.acme.dev\tTRUE\t/\tTRUE\t1790000000\tlanguage\ten-GB
curl -sSu $USER:$PASSWORD https://api.acme.dev
printf 'protocol=https\\nhost=acme.dev\\n\\n' | git credential fill
client = ApiClient("https://api.acme.dev/v2", "eu-west-1", timeout=30)
response.set_cookie("language", "en-GB", max_age=3600)
totp = pyotp.TOTP(user.totp_secret)
$env:DB_PASSWORD = $Credentials.Password2026
kind: ConfigMap\ndata:\n  region: EuWest2026\n
echo "::add-mask::$TOKEN2026"
WIFI:S:Home;T:nopass;;
const path = "src/Release2026" + "/assets/Image2026";
Backup codes: 10 are left, ask for new ones
the recovery phrase is shown once and never again after the wallet was created for you
In other words, please check that these tests never run twice when someone pushes code into main
keywords = ["select", "where", "group", "order", "having", "limit", "offset", "join", "left", "inner", "outer", "union", "into"]
reserved words are: class def return import from while break continue pass raise yield lambda global
client("GET", "/api/V2/Items?page=2")
button.connect("clicked", "On-Click1")
signal.connect("notify::Visible2", "on-Visible2")
new PDO("mysql:host=localhost;dbname=Shop2026")
set_cookie("theme", "Dark-Mode2")
login("/users/sign_in_v2", "next=/Home2")
client("mem_0f3a5c1e", "now")
StorageClient("eu-west-1", "Bucket-2026a")
echo "release-2026-11-29" > tokens/version
echo "Version-2026.11" | tee vault/README
echo "MyModule2.Class3" | grep -v token
echo "Release-2026.11" | tee docs/password-policy.md
cat > tests/test_tokens.py <<'EOF'\nclass_Token2V\nMy-Class2026\nEOF
cat <<EOF > token-guide.md\nRelease-2026\nEOF
echo "AccessToken2V" | pbcopy; echo done > secret
zip -rp archive2026.zip dist/
mysqldump -Nsp shop2026
rar a -rp Archive2026A.rar
7z x -pN Archive2026A
2FA CODE MUST WORK WITH BOTH APPS
setup key: HOLD BOTH KEYS DOWN OVER NOON
the key ABCD EFGH IJKL MNOP QRS2
kind: Secret\\ndata:\\n  region: EuWest2026\\n
pass, "Section2026"
-----END PUBLIC KEY-----
La clave primaria es UserId2, no el nombre.
パスワードは UserModel2 で検証されます。
"""


@pytest.mark.parametrize("text", ORDINARY.strip().replace("\\n", "\n").split("\n"))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert (mask_text(text)[0], find(text)) == (text, [])


@pytest.mark.parametrize(
    "hostile",
    [
        "password " * 20_000,
        "a1B" * 70_000 + " as the password",
        "token|" * 30_000,
        "login x password " * 10_000,
        "; Path=/" * 20_000,
        "\0" * 100_000,
        'x" + "' * 20_000,
        "echo " * 30_000 + "| token",
        "auth(" * 30_000,
        "kind: Secret data: " * 10_000,
        "QUJD\n" * 30_000 + "-----END PRIVATE KEY-----",
        "phrase is " + "olive " * 30_000,
        "password" + "\x7f" * 30_000,
    ],
)
def test_hostile_text_is_masked_in_linear_time(hostile: str) -> None:
    assert mask(json.dumps({"text": hostile}).encode())[1] <= 2


@pytest.mark.parametrize("filling", ["\t", " ", " \t", "é", ",", "a\t"])
def test_a_long_gap_behind_a_name_is_read_in_linear_time(filling: str) -> None:
    text = "the password" + filling * 30_000 + "\nx"
    assert mask_text(text) == (text, 0)


@pytest.mark.parametrize(
    ("secret", "count"),
    [
        ("A" * 60 + "-----END PRIVATE KEY-----", 1_200),
        ("cat > token <<EOF\nAb-cdefg1\n", 3_500),
    ],
)
def test_each_of_many_secrets_is_masked(secret: str, count: int) -> None:
    assert mask(json.dumps({"text": secret * count}).encode())[1] == count
