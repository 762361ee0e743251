"""Secrets as people and programs write them: sentences in many languages, commands, files, cookies, tokens of vendors.

Each line is a name and a text with one secret between `«` and `»`, drawn at random. Nothing here is shared with the detector.
`secret_rule_sets.is_held_back` names the third of the forms in `GROUPS` that was first scored when masking was finished.
The rules were written with the forms of `CONFIGURATION` at hand.
"""

from random import Random

from memory_assets_tests.stages.capture.vendor_formats import draw_template

PROSE = """
english is|The database password is «<password>», please rotate it next week.
english use|Use the password «<password>» when it asks.
english log in|You can log in as admin with «<password>» as the password.
english pw|staging pw: «<password>»
english pass|user: admin, pass: «<password>»
english set to|I set the root password to «<password>» yesterday.
english changed to|We changed the passphrase to «<password>» after the incident.
english credentials|Credentials: admin / «<password>»
english quoted|My password's "«<password>»" btw
english here|Here's the api key: «<alnum:32>»
english token for|the token for staging is «<alnum:40>»
english secret equals|the client secret should be «<alnum:32>» in both places
english parenthesis|log in (password «<password>») and restart it
english dash|password - «<password>»
english arrow|password -> «<password>»
english bold|**Password:** «<password>»
english code|The password is `«<password>»` for now.
english table|\\| Password \\| «<password>» \\|
english login line|login: ann password: «<password>»
english would be|the admin password would be «<password>»
english try|try password «<password>» first
german ist|Das Passwort ist «<password>» und läuft morgen ab.
german lautet|Das Kennwort lautet «<password>».
german colon|Kennwort: «<password>»
german zugang|Zugangsdaten: admin / «<password>»
german mit|Melde dich mit dem Passwort «<password>» an.
german geaendert|Ich habe das Passwort auf «<password>» geändert.
german token|Der API-Schlüssel ist «<alnum:32>»
french est|Le mot de passe est «<password>» pour la base.
french colon|Mot de passe : «<password>»
french avec|Connecte-toi avec le mot de passe «<password>» stp
french cle|La clé API est «<alnum:32>»
french mdp|mdp: «<password>»
french identifiants|Identifiants : admin / «<password>»
spanish es|La contraseña es «<password>» para producción.
spanish colon|Contraseña: «<password>»
spanish con|Entra con la contraseña «<password>» y reinicia.
spanish clave|La clave es «<password>»
spanish clave api|Clave de API: «<alnum:32>»
spanish cambiado|He cambiado la contraseña a «<password>»
italian e|La password è «<password>» per il database.
italian parola|Parola d'ordine: «<password>»
italian chiave|La chiave API è «<alnum:32>»
italian con|Entra con la password «<password>» e riavvia
portuguese e|A senha é «<password>» no servidor.
portuguese colon|Senha: «<password>»
portuguese palavra|A palavra-passe é «<password>»
portuguese com|Entre com a senha «<password>» por favor
portuguese chave|A chave da API é «<alnum:32>»
dutch is|Het wachtwoord is «<password>» voor de server.
dutch colon|Wachtwoord: «<password>»
dutch met|Log in met wachtwoord «<password>»
polish to|Hasło to «<password>» do bazy.
polish colon|Hasło: «<password>»
russian colon|Пароль: «<password>»
russian ot|Пароль от базы «<password>»
russian dash|пароль — «<password>»
russian klyuch|Ключ API: «<alnum:32>»
chinese shi|密码是«<password>»，请不要外传。
chinese colon|密码：«<password>»
chinese koling|口令为 «<password>»
chinese key|密钥：«<alnum:32>»
japanese ha|パスワードは«<password>»です。
japanese colon|パスワード：«<password>»
japanese anshou|暗証番号は «<password>» です
korean neun|비밀번호는 «<password>» 입니다
korean colon|비밀번호: «<password>»
turkish is|Şifre: «<password>»
turkish parola|Parolamız «<password>» olarak değişti
swedish is|Lösenordet är «<password>» på servern
czech is|Heslo je «<password>»
ukrainian colon|Пароль: «<password>» (не передавай)
"""

COMMANDS = """
aws configure|$ aws configure\\nAWS Access Key ID [None]: AKIA<base32:16>\\nAWS Secret Access Key [None]: «<b64:40>»\\nDefault region name [None]: eu-west-1
aws configure again|AWS Secret Access Key [****************WXYZ]: «<b64:40>»
curl u short|curl -u admin:«<pin>» http://10.0.0.3/status
curl u glued|curl -uadmin:«<pin>» http://10.0.0.3/status
http ie|http -a ann:«<password>» GET https://api.acme.dev/me
wget http password|wget --http-user=ann --http-password=«<password>» https://files.acme.dev/a
7z|7z a -p«<pin>» backup.7z data/
7z separate|7z x backup.7z -p"«<password>»" -oout
zip|zip -r -P «<pin>» out.zip folder
unzip|unzip -P '«<password>»' out.zip
unrar|unrar x -p«<password>» old.rar
sudo|echo «<pin>» | sudo -S apt-get update
sudo quoted|echo '«<password>»' | sudo -S -u postgres psql
sudo here string|sudo -S systemctl restart nginx <<< '«<password>»'
sudo printf|printf '%s\\\\n' '«<password>»' | sudo -S true
chpasswd|echo "deploy:«<password>»" | chpasswd
passwd stdin|echo «<password>» | passwd --stdin deploy
openssl pass|openssl enc -aes-256-cbc -pass pass:«<password>» -in a -out b
openssl passin|openssl rsa -in key.pem -passin pass:«<password>»
openssl k|openssl enc -d -aes-256-cbc -k «<password>» -in a
gpg|gpg --batch --passphrase «<password>» -d secrets.gpg
gpg quoted|gpg --batch --yes --passphrase '«<password>»' -c a.txt
ssh keygen|ssh-keygen -t ed25519 -N '«<password>»' -f id
smbclient|smbclient //nas/share -U ann%«<password>»
mount|mount -t cifs //nas/s /mnt -o username=ann,password=«<pin>»
net use|net use Z: \\\\\\\\nas\\\\share /user:ann «<password>»
ldapsearch|ldapsearch -x -D cn=admin,dc=acme -w «<password>» -b dc=acme
htpasswd|htpasswd -b .htpasswd ann «<password>»
mysqladmin|mysqladmin -u root password '«<password>»'
mysql long|mysqldump --user=root --password=«<pin>» shop
psql env|PGPASSWORD=«<pin>» psql -h db shop
mongosh|mongosh --username root --password «<pin>» --host db
sqlcmd|sqlcmd -S db -U sa -P '«<password>»' -Q 'select 1'
sqlplus|sqlplus scott/«<password>»@db:1521/shop
cqlsh|cqlsh -u cassandra -p «<password>» db
redis auth|redis-cli\\n127.0.0.1:6379> AUTH «<password>»
redis user|redis-cli -u redis://:«<password>»@cache:6379
rabbit|rabbitmqctl add_user shop «<password>»
rabbit change|rabbitmqctl change_password shop '«<password>»'
mosquitto|mosquitto_pub -h mq -u dev -P «<password>» -t a -m b
keytool|keytool -genkey -alias a -storepass «<pin>» -keystore k.jks
keytool keypass|keytool -importkeystore -srcstorepass «<password>» -deststorepass changeit
jarsigner|jarsigner -storepass '«<password>»' app.jar key
svn|svn co --username ann --password «<password>» https://svn.acme.dev/t
nmcli|nmcli dev wifi connect Home password «<password>»
wpa|wpa_passphrase Home «<password>»
wpa file|network={\\n  ssid="Home"\\n  psk="«<password>»"\\n}
lftp|lftp -u ann,«<password>» ftp.acme.dev
ipmi|ipmitool -I lanplus -H bmc -U root -P «<password>» power on
rdp|xfreerdp /u:ann /p:'«<password>»' /v:win
vault|vault login «s.<alnum:24>»
az login|az login --service-principal -u app -p «<alnum:34>» --tenant acme
docker p|docker login -u ann -p «<pin>» registry.acme.dev
helm repo|helm repo add acme https://charts.acme.dev --username ann --password «<password>»
kubectl secret|kubectl create secret generic db --from-literal=password=«<password>»
kubectl docker|kubectl create secret docker-registry r --docker-username=ann --docker-password=«<password>»
gh here|gh auth login --with-token <<< «ghp_<alnum:36>»
gh secret|echo «<alnum:40>» | gh secret set DEPLOY_KEY
heroku config|heroku config:set SECRET_KEY_BASE=«<hex:64>»
fly secrets|fly secrets set DATABASE_PASSWORD=«<password>»
vercel env|echo -n '«<password>»' | vercel env add DB_PASSWORD production
npm auth|npm config set //registry.acme.dev/:_authToken «<alnum:36>»
pip index|pip install -i https://ann:«<password>»@pypi.acme.dev/simple shop
poetry|poetry config http-basic.acme ann «<password>»
poetry token|poetry config pypi-token.acme «pypi-AgEIcHlwaS5vcmc<url:80>»
composer|composer config http-basic.repo.acme.dev ann «<password>»
bundle|bundle config set --global gems.acme.dev ann:«<alnum:32>»
nuget|nuget sources add -Name acme -Source https://n.acme.dev -Username ann -Password «<password>»
twine|twine upload -u __token__ -p «pypi-AgEIcHlwaS5vcmc<url:80>» dist/*
cargo|cargo login «cio<alnum:32>»
ansible extra|ansible-playbook site.yml -e "ansible_become_pass=«<password>»"
ansible e|ansible-playbook site.yml --extra-vars 'db_password=«<password>»'
expect|expect "assword:"\\nsend "«<password>»\\\\r"
ssh prompt|ann@host's password: «<password>»
sudo prompt|[sudo] password for ann: «<password>»
postgres alter|ALTER USER shop PASSWORD '«<password>»';
postgres role|CREATE ROLE shop LOGIN ENCRYPTED PASSWORD '«<password>»';
mysql set|SET PASSWORD FOR 'shop'@'%' = PASSWORD('«<password>»');
mysql grant|GRANT ALL ON shop.* TO 'ann'@'%' IDENTIFIED BY '«<pin>»';
mongo user|db.createUser({user: "shop", pwd: "«<password>»", roles: []})
sql server|CREATE LOGIN shop WITH PASSWORD = N'«<password>»';
powershell param|Connect-Thing -User ann -Password '«<password>»'
powershell credential|New-Object PSCredential("ann", (ConvertTo-SecureString '«<password>»' -AsPlainText -Force))
cmdkey|cmdkey /add:srv /user:ann /pass:«<password>»
schtasks|schtasks /create /tn a /tr b /ru ann /rp «<password>»
useradd|net user deploy «<password>» /add
restic|RESTIC_PASSWORD=«<pin>» restic backup ~/
rclone|rclone config create acme webdav user ann pass «<password>»
borg|BORG_PASSPHRASE='«<password>»' borg create ::a ~/
cryptsetup|echo -n '«<password>»' | cryptsetup open /dev/sdb1 data -
terraform var|terraform apply -var 'db_password=«<password>»'
pulumi|pulumi config set --secret dbPassword «<password>»
snow|snowsql -a acme -u ann -p '«<password>»'
influx|influx -username admin -password «<pin>»
nc auth|AUTH PLAIN «<basic>»
telnet|PASS «<password>»\\nUSER ann
docker run short|docker run -e MYSQL_ROOT_PASSWORD=«<pin>» mysql
java property|java -Djavax.net.ssl.trustStorePassword=«<pin>» -jar a.jar
java spring|java -jar a.jar --spring.datasource.password=«<pin>»
"""

FILES = """
env aligned|DB_HOST          = db.internal\\nDB_PASSWORD      = «<password>»\\nDB_NAME          = shop
env columns|DB_HOST        db.internal\\nDB_PASSWORD    «<password>»\\nDB_NAME        shop
env tab|API_SECRET\\t=\\t«<alnum:32>»
env short|REDIS_PASSWORD=«<pin>»
env pass|SMTP_PASS=«<pin>»
env pw|DB_PW=«<password>»
env pwd|MYSQL_PWD=«<pin>»
env comment|STRIPE_KEY=«<alnum:32>» # live
env export columns|export   ADMIN_PASS   =   "«<password>»"
env creds|SERVICE_CREDS=«<alnum:32>»
env encryption|ENCRYPTION_KEY=«<b64:43>=»
env salt|APP_SALT=«<alnum:32>»
env signing|COOKIE_SIGNING_SECRET=«<alnum:32>»
yaml aligned|user:      shop\\npassword:  «<password>»\\nhost:      db
yaml block|password: |\\n  «<password>»\\nuser: shop
yaml folded|api_token: >-\\n  «<alnum:40>»\\nregion: eu
yaml list|- name: API_TOKEN\\n  value: «<alnum:40>»
yaml camel|dbPassword: «<password>»
yaml secret key|secretKeyBase: «<hex:64>»
toml inline|db = { user = "shop", password = "«<password>»" }
ini pwd|[mail]\\npwd = «<password>»
ini short|[client]\\npassword = «<pin>»
ini passphrase|passphrase=«<password>»
json short|{"username": "root", "password": "«<pin>»"}
json pass|{"user": "root", "pass": "«<password>»"}
json pwd|{"pwd":"«<password>»"}
json secret|{"clientSecret":"«<alnum:40>»"}
json auth|{"auth":{"username":"ann","password":"«<pin>»"}}
xml attribute|<user name="ann" password="«<password>»"/>
xml connection|<add name="Db" connectionString="Server=db;User Id=sa;Password=«<pin>»;" />
maven|<server><id>acme</id><username>ann</username><password>«<pin>»</password></server>
gradle|systemProp.nexusPassword=«<password>»
gradle signing|signing.password=«<pin>»
netrc short|machine api.acme.dev login ann password «<pin>»
git credentials|https://ann:«<pin>»@git.acme.dev
pgpass short|db:5432:shop:ann:«<pin>»
fstab|//nas/s /mnt cifs username=ann,password=«<pin>» 0 0
smb credentials|username=ann\\npassword=«<pin>»\\ndomain=ACME
nginx|proxy_set_header X-Api-Key «<alnum:32>»;
nginx authorization|proxy_set_header Authorization "Basic «<basic>»";
haproxy|user ann insecure-password «<password>»
apache|AuthLDAPBindPassword "«<password>»"
openvpn|<auth-user-pass>\\nann\\n«<password>»\\n</auth-user-pass>
rsync|RSYNC_PASSWORD=«<pin>» rsync -a a b
csv|name,username,password\\nshop,ann,«<password>»
markdown table|\\| service \\| user \\| password \\|\\n\\| --- \\| --- \\| --- \\|\\n\\| db \\| ann \\| «<password>» \\|
php define|define("SMTP_PASSWORD", "«<pin>»");
php array|'password' => '«<pin>»',
python kwargs|connect(host="db", user="ann", password="«<pin>»")
python positional|session.login("ann@acme.dev", "«<password>»")
python dict short|{'pwd': '«<password>»'}
javascript object|const conn = { user: 'ann', password: '«<pin>»' };
go struct|Password: "«<pin>»",
ruby hash|password: '«<pin>»',
java constant|private static final String PASSWORD = "«<pin>»";
csharp|var pwd = "«<password>»";
kotlin typed|val apiSecret: String = "«<alnum:32>»"
swift|let apiKey: String = "«<alnum:32>»"
rust|let api_key: &str = "«<alnum:32>»";
dart|final String apiKey = '«<alnum:32>»';
elixir|password: "«<pin>»",
make|ADMIN_TOKEN ?= «<alnum:32>»
docker arg|ARG NPM_TOKEN=«<alnum:36>»
systemd short|Environment=DB_PASSWORD=«<pin>»
otp url|otpauth://totp/acme:ann?secret=«<base32:32>»&issuer=acme
kube token|    token: «<url:60>»
sealed|sops_age_key: «AGE-SECRET-KEY-1<bech:58>»
wireguard psk|PresharedKey = «<b64:43>=»
"""

HEADERS = """
cookie short|Cookie: sid=«<hex:24>»
cookie several|Cookie: lang=en; PHPSESSID=«<lower:26>»; theme=dark
cookie jwt|Cookie: access_token=«<jwt>»
cookie laravel|Set-Cookie: laravel_session=«<b64:60>»; expires=Mon; path=/; httponly
cookie asp|Cookie: .AspNetCore.Cookies=«<url:80>»
cookie auth js|AuthSession=«<url:43>»; Version=1; Path=/; HttpOnly
cookie next|Cookie: next-auth.session-token=«<url:64>»
cookie github|Cookie: user_session=«<url:48>»; logged_in=yes
cookie rails|Cookie: _shop_session=«<b64:90>»
cookie java|Cookie: JSESSIONID=«<HEX:32>»
cookie jar|.acme.dev\\tTRUE\\t/\\tTRUE\\t1790000000\\tsessionid\\t«<lower:32>»
cookie jar hidden|#HttpOnly_.acme.dev\\tTRUE\\t/\\tTRUE\\t1790000000\\tauth_token\\t«<hex:40>»
cookie json|{"name": "sessionid", "value": "«<lower:32>»", "domain": ".acme.dev"}
cookie document|document.cookie = "session=«<url:43>»; path=/"
cookie requests|requests.get(url, cookies={"session": "«<url:43>»"})
cookie flag|curl --cookie "auth=«<url:43>»" https://acme.dev
bearer short|Authorization: Bearer «<alnum:20>»
bearer python|headers = {"Authorization": "Bearer «<url:40>»"}
bearer template|headers={"Authorization": f"token «<alnum:40>»"}
basic python|headers = {"Authorization": "Basic «<basic>»"}
api key header|x-api-key: «<alnum:24>»
auth token header|X-Auth-Token: «<hex:32>»
gitlab header|PRIVATE-TOKEN: «<alnum:20>»
csrf|X-CSRF-Token: «<b64:86>==»
digest|Authorization: Digest username="ann", response="«<hex:32>»"
aws header|Authorization: AWS4-HMAC-SHA256 Credential=AKIA<base32:16>/20260801/eu/s3/aws4_request, Signature=«<hex:64>»
azure sas|https://acme.servicebus.windows.net/q?sig=«<alnum:43>%3D»&se=1
url token|https://app.acme.dev/reset?token=«<url:32>»
url magic|https://app.acme.dev/login?magic=«<url:43>»&auth_key=1
url code|https://app.acme.dev/cb?code=«<url:43>»&state=xyz
url password|https://app.acme.dev/?user=ann&password=«<pin>»
url webhook|https://hooks.zapier.com/hooks/catch/«<digit:8>/<lower:7>»/
url discord|https://discordapp.com/api/webhooks/«<digit:18>/<url:68>»
paseto local|v4.local.«<url:180>»
paseto public|v4.public.«<url:180>».<url:30>
paseto old|token=v2.local.«<url:120>»
macaroon|«MDAxY2xvY2F0aW9uIGh0dHA6Ly9hY21lLmRldgowMDI<b64:90>»
branca|X-Token: «<alnum:62>»
"""

VENDORS = """
razorpay|«rzp_live_<alnum:14>»
paystack|«sk_live_<lower:40>»
mollie|«live_<alnum:30>»
paddle|«pdl_live_apikey_01<lower:24>_<alnum:22>_<alnum:3>»
polar|«polar_oat_<alnum:43>»
clerk|«sk_live_<alnum:42>»
workos|WORKOS_API_KEY=«sk_<alnum:64>»
ory|«ory_pat_<alnum:32>»
logto|LOGTO_SECRET=«<alnum:32>»
mapbox|«sk.eyJ1IjoiYWNtZSIsImEiOi<alnum:30>.<url:22>»
mux|MUX_TOKEN_SECRET=«<b64:75>»
sanity|SANITY_TOKEN=«sk<alnum:80>»
storyblok|STORYBLOK_TOKEN=«<alnum:22>tt»
prismic|PRISMIC_ACCESS_TOKEN=«<url:60>»
expo|EXPO_TOKEN=«<url:40>»
codacy|CODACY_API_TOKEN=«<alnum:20>»
coveralls|COVERALLS_REPO_TOKEN=«<alnum:33>»
snyk service|«snyk_sat.<hex:8>.<url:60>»
wakatime|«waka_<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
xata|«xau_<alnum:36>»
turso|TURSO_AUTH_TOKEN=«<jwt>»
upstash|UPSTASH_REDIS_REST_TOKEN=«<b64:58>==»
fauna|«fnAE<url:40>»
convex|CONVEX_DEPLOY_KEY=prod:acme\\|«<b64:60>==»
deepgram|DEEPGRAM_API_KEY=«<hex:40>»
assemblyai|ASSEMBLYAI_API_KEY=«<hex:32>»
replit|REPLIT_DB_URL=https://kv.replit.com/v0/«<jwt>»
stability|STABILITY_API_KEY=«sk-<alnum:48>»
anyscale|«esecret_<lower:26>»
lambda labs|«secret_acme_<hex:32>.<alnum:32>»
baseten|BASETEN_API_KEY=«<alnum:8>.<alnum:32>»
scale|SCALE_API_KEY=«live_<hex:32>»
unkey|«unkey_<alnum:24>»
axiom|«xaat-<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
logtail|LOGTAIL_SOURCE_TOKEN=«<alnum:24>»
betterstack|BETTERSTACK_TOKEN=«<alnum:24>»
pagerduty|PAGERDUTY_TOKEN=«u+<url:18>»
bugsnag|BUGSNAG_API_KEY=«<hex:32>»
rollbar|ROLLBAR_ACCESS_TOKEN=«<hex:32>»
sentry dsn old|https://<hex:32>:«<hex:32>»@sentry.acme.dev/2
mixpanel|MIXPANEL_SECRET=«<hex:32>»
amplitude|AMPLITUDE_SECRET_KEY=«<hex:32>»
segment|SEGMENT_WRITE_KEY=«<alnum:32>»
intercom|INTERCOM_TOKEN=«dG9rO<b64:55>=»
zendesk|ZENDESK_API_TOKEN=«<alnum:40>»
trello|TRELLO_TOKEN=«ATTA<hex:72>»
atlassian scoped|«ATSTT3xFfGF0<url:180>»
bitbucket repo|«ATCTT3xFfGN0<url:180>=<HEX:8>»
gitea|GITEA_TOKEN=«<hex:40>»
forgejo|FORGEJO_TOKEN: «<hex:40>»
drone|DRONE_RPC_SECRET=«<hex:32>»
semaphore|SEMAPHORE_API_TOKEN=«<url:40>»
travis|TRAVIS_TOKEN=«<url:22>»
chromatic|CHROMATIC_PROJECT_TOKEN=«chpt_<hex:15>»
percy|PERCY_TOKEN=«web_<hex:64>»
browserstack|BROWSERSTACK_ACCESS_KEY=«<alnum:20>»
saucelabs|SAUCE_ACCESS_KEY=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
vonage|VONAGE_API_SECRET=«<alnum:16>»
plivo|PLIVO_AUTH_TOKEN=«<b64:40>»
messagebird|MESSAGEBIRD_ACCESS_KEY=«<alnum:25>»
postmark|POSTMARK_SERVER_TOKEN=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
sparkpost|SPARKPOST_API_KEY=«<hex:40>»
mailjet|MJ_APIKEY_PRIVATE=«<hex:32>»
pusher|PUSHER_APP_SECRET=«<hex:20>»
ably|«<alnum:6>.<alnum:6>:<url:43>»
livekit|LIVEKIT_API_SECRET=«<alnum:44>»
agora|AGORA_APP_CERTIFICATE=«<hex:32>»
maps here|HERE_API_KEY=«<url:43>»
coinbase cloud|CDP_API_KEY_SECRET=«<b64:86>==»
binance|BINANCE_API_SECRET=«<alnum:64>»
alpaca|APCA_API_SECRET_KEY=«<alnum:40>»
oracle|OCI_AUTH_TOKEN=«<salt:20>»
ibm|IBMCLOUD_API_KEY=«<url:44>»
scaleway|SCW_SECRET_KEY=«<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>»
hetzner|HCLOUD_TOKEN=«<alnum:64>»
linode|LINODE_TOKEN=«<hex:64>»
vultr|VULTR_API_KEY=«<upper:36>»
ovh|OVH_APPLICATION_SECRET=«<alnum:32>»
backblaze|B2_APPLICATION_KEY=«K00<url:28>»
wasabi|WASABI_SECRET=«<alnum:40>»
minio|MINIO_ROOT_PASSWORD=«<alnum:16>»
elastic|ELASTIC_API_KEY=«<b64:58>==»
meilisearch|MEILI_MASTER_KEY=«<url:43>»
typesense|TYPESENSE_API_KEY=«<alnum:32>»
strapi|STRAPI_JWT_SECRET=«<b64:22>==»
directus|DIRECTUS_TOKEN=«<url:32>»
agora certificate|AGORA_APP_CERTIFICATE=«<hex:32>»
salt of hashids|export APP_SALT=«<alnum:24>»
bitwarden|BWS_ACCESS_TOKEN=«0.<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>.<alnum:30>:<b64:22>==»
"""

CONFIGURATION = """
columns of printenv|HOME             /home/ann\\nSMTP_PASSWORD    «<password>»\\nSHELL            /bin/zsh
columns of a secret|NAME           VALUE\\nAPI_TOKEN      «<alnum:32>»\\nREGION         eu
columns with a tab|SHOP_DB_PASS\t«<password>»\\nSHOP_DB_HOST\tdb
columns with equals|export ADMIN_PW     =  «<pin>»
columns of short names|db_user  shop\\ndb_pw    «<password>»
columns of keys|stripe_secret_key      «<alnum:32>»\\nstripe_account         acme
columns quoted|SESSION_SECRET   "«<alnum:32>»"\\nSESSION_NAME     "shop"
pw assigned|FTP_PW=«<pin>»
pw in yaml|ldap_pw: «<password>»
pw in code|const dbPw = "«<password>»";
pw exported|export ROOT_PW='«<password>»'
pw in json|{"user": "ann", "pw": "«<password>»"}
creds of a registry|REGISTRY_CREDS=ann:«<password>»
creds assigned|JENKINS_CREDS="«<alnum:32>»"
creds in yaml|creds: «<alnum:32>»
creds in code|aws_creds = '«<b64:40>'»
maven server|<server>\\n  <id>acme</id>\\n  <username>ann</username>\\n  <password xml>«<pin>»</password>\\n</server>
maven encrypted|<password xml>{«<b64:44>»=}</password>
maven master|<settingsSecurity><master>{«<b64:44>»=}</master></settingsSecurity>
maven passphrase|<gpg.passphrase>«<password>»</gpg.passphrase>
maven proxy|<proxy><host>proxy</host><password xml>«<password>»</password></proxy>
nginx key|    proxy_set_header X-Api-Key "«<alnum:32>»";
nginx token|proxy_set_header X-Auth-Token «<hex:32>»;
nginx secret|proxy_set_header X-Origin-Secret «<password>»;
nginx basic|proxy_set_header Authorization "Basic «<basic>»";
nginx bearer|proxy_set_header Authorization 'Bearer «<alnum:40>»';
nginx parameter|fastcgi_param DB_PASSWORD «<password>»;
nginx variable|set $api_key "«<alnum:32>»";
apache header|RequestHeader set X-Api-Key "«<alnum:32>»"
apache env|SetEnv SHOP_DB_PASSWORD «<password>»
apache bind|AuthLDAPBindPassword «<password>»
caddy|header_up X-Api-Key «<alnum:32>»
haproxy user|userlist staff\\n  user ann insecure-password «<password>»
haproxy header|http-request set-header X-Api-Key «<alnum:32>»
haproxy stats|stats auth ann:«<password>»
haproxy hash|user ann password «$6$<alnum:12>$<alnum:86>»
redis conf|requirepass «<password>»
redis master|masterauth «<alnum:32>»
redis acl|ACL SETUSER ann on >«<password>» ~* +@all
jar|# Netscape HTTP Cookie File\\nacme.dev\tFALSE\t/\tTRUE\t1790000000\tsid\t«<alnum:32>»
jar of a host|.shop.acme.dev\tTRUE\t/app\tFALSE\t0\tXSRF-TOKEN\t«<url:43>»
jar hidden|#HttpOnly_acme.dev\tFALSE\t/\tTRUE\t1790000000\tsession\t«<b64:60>»
jar printed|.acme.dev    TRUE    /    TRUE    1790000000    login    «<hex:40>»
digest header|Authorization: Digest username="ann", realm="acme", nonce="<hex:32>", uri="/", response="«<hex:32>»"
digest sha|Digest realm="acme",username="ann",qop=auth,nc=00000001,response="«<hex:64>»",algorithm=SHA-256
digest proxy|Proxy-Authorization: Digest username="ann", response="«<hex:32>»", opaque="x"
sql server|Server=tcp:db,1433;Initial Catalog=shop;User ID=sa;Password=«<pin>»;Encrypt=True;
sql server quoted|"Data Source=db;User Id=sa;Password='«<password>»';"
odbc|Driver={ODBC Driver 18 for SQL Server};Server=db;UID=sa;PWD={«<password>»};
odbc bare|Driver={SQL Server};Server=db;Uid=sa;Pwd=«<pin>»
sqlcmd|sqlcmd -S db -U sa -P «<pin>» -C -Q 'select 1'
sqlcmd glued|sqlcmd -S db -U sa -P«<password>» -i a.sql
sqlcmd path|/opt/mssql-tools18/bin/sqlcmd -S localhost -U sa -P "«<password>»"
bcp|bcp shop.dbo.items out a.csv -S db -U sa -P «<password>»
osql|osql -S db -U sa -P «<pin>» -i a.sql
tsql|tsql -H db -p 1433 -U sa -P «<password>»
sqlpackage|sqlpackage /Action:Export /tu:sa /tp:«<password>»
docker sql|docker run -e 'MSSQL_SA_PASSWORD=«<pin>»' mssql
wifi psk|network={\\n  ssid="Home"\\n  psk="«<password>»"\\n}
dovecot|userdb_test_password «<password>»
postfix|[mail.acme.dev]:587 ann@acme.dev:«<password>»
line of FTP|USER ann\\nPASS «<password>»
line of SMTP|AUTH PLAIN «<basic>»
htpasswd line|ann:«$apr1$<alnum:8>$<alnum:22>»
"""
"""Aligned columns, short names, and the files and commands of Maven, web servers, proxies, SQL Server and curl."""

GROUPS = {
    "prose": PROSE,
    "commands": COMMANDS,
    "files": FILES,
    "headers": HEADERS,
    "vendors": VENDORS,
}


def configuration() -> dict[str, str]:
    """Returns the templates of the forms in configuration files, by name."""
    return _by_name(CONFIGURATION)


def forms() -> dict[str, str]:
    """Returns the templates of all other forms, by group and name."""
    return {
        f"{group}: {name}": template
        for group, lines in GROUPS.items()
        for name, template in _by_name(lines).items()
    }


def _by_name(lines: str) -> dict[str, str]:
    rows = (line.split("|", 1) for line in lines.strip().splitlines())
    return {name: template.replace("\\|", "|") for name, template in rows}


def draw_form(form: str, random: Random) -> tuple[str, str]:
    """Returns a text of the form, and the secret in it."""
    return draw_template((forms() | configuration())[form], random)
