"""Secrets in what people type and programs send: passwords given to commands, credentials in
headers, cookies.

The finders read unwrapped text; the anchors find candidates in raw text. `secret_values` judges the
values.
"""

import base64
import re
from collections.abc import Iterator

from memory_assets.text.masking.secret_tokens import Finder, finder_of
from memory_assets.text.masking.secret_values import is_bare_secret, is_secret_value
from memory_assets.text.masking.unwrap import Span

_ON = rb"(?:[^\n|;&]|(?<=\\)\r?\n)"
"""The rest of a command, which continues after a backslash at the end of its line."""
_VALUE = rb"[ \t]*[\"']?([^\s\"'\\;]{8,200})"

_PROGRAMS = (
    rb"7z[arz]?|(?:un)?rar|(?:un)?zip|sshpass|mysql[a-z]*|mariadb[a-z-]*|mongo[a-z]*|sqlcmd"
    rb"|osql|tsql|bcp|sqlpackage|cqlsh|"
    rb"snowsql|influx|ipmitool|mosquitto_[a-z]+|ldap[a-z]+|az|docker login|twine|openssl"
    rb"|ssh-keygen|gpg2?|keytool|jarsigner|"
    rb"xfreerdp|rdesktop|cmdkey|schtasks|plink|pscp|psftp|winexe|podman login|buildah login"
    rb"|skopeo login|oc login|evil-winrm|"
    rb"netexec|nxc"
)
_OPTIONS = (
    rb"[ \t\n](?:-{1,2}(?:[a-z]{0,8}storepass|keypass|passphrase|password|pass(?:in|out)?"
    rb"|[pPwkN])|/(?:p|pass|rp|[ts]p):?)"
    rb"(?:[ \t]*[=:]?[ \t]*pass:)?[ \t]*[=:]?"
)
_READ_FROM_INPUT = (
    rb"(?:--password-stdin|--with-token|--stdin|sudo[^\n|]{0,60}? -[a-zA-Z]*S|chpasswd"
    rb"|cryptsetup|smbpasswd|"
    rb"secrets? (?:set|create|put)|env add)"
)

_IN_OPTIONS = re.compile(rb"\b(?:%b)\b%b{0,160}?%b%b" % (_PROGRAMS, _ON, _OPTIONS, _VALUE))
_IN_COMMANDS = tuple(
    re.compile(pattern % {b"on": _ON, b"value": _VALUE, b"input": _READ_FROM_INPUT})
    for pattern in (
        rb"(?:\s-u|--user|--proxy-user|\bhttps? "
        rb"-a)[ =]*[\"']?[^\s:\"'\\]{1,80}:([^\s\"'\\]{6,200})",
        rb"\b(?:lftp|smbclient|rpcclient"
        rb"|smbget)\b%(on)s{0,120}?[ \t]-[uU][ \t]*[\"']?[^\s,%%\"']{1,80}[,%%]"
        rb"([^\s\"'\\]{6,200})",
        rb"(?:redis-cli%(on)s{0,120}?[ \t]-a|IDENTIFIED BY|PASSWORD|secrets? "
        rb"set%(on)s{0,80}?--body)%(value)s",
        rb"\bhtpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*[ \t]+\S+[ \t]+\S+[ \t]%(value)s",
        rb"\b(?:rabbitmqctl (?:add_user|change_password|authenticate_user)|net user"
        rb"|wpa_passphrase|htdigest)[ \t]+\S+"
        rb"[ \t]%(value)s",
        rb"\bnet use%(on)s{0,120}?/user:\S+[ \t]%(value)s",
        rb"\bmysqladmin%(on)s{0,80}?[ \t]password[ \t]%(value)s",
        rb"\b(?:poetry|composer) config http-basic\.\S+[ \t]+\S+[ \t]%(value)s",
        rb"\bbundle config%(on)s{0,80}?[ \t]\S+[ \t]+[\w.@-]{1,60}:([^\s\"'\\]{8,200})",
        rb"\b(?:rclone config%(on)s{0,120}?[ \t]pass|pulumi config set --secret[ \t]+\S+"
        rb"|(?:vault|cargo) login)[ \t]%(value)s",
        rb"\bsqlplus[ \t]+(?:-\S+[ \t]+)*[\"']?[\w.-]{1,40}/([^\s@\"'\\]{8,200})@",
        rb"(?:^|[\n>\"'`])[ \t]*AUTH[ \t]+(?:(?:PLAIN|LOGIN"
        rb"|default)[ \t]+)?[\"']?([^\s\"'\\]{8,200})",
        rb"(?:^|[\n\"'`])PASS[ \t]+([^\s\"'\\]{8,200})",
        rb"\bsend[ \t]+(?:--[ \t]+)?\"([^\s\"\\]{8,200})\\r",
        rb"\.(?:login|log_in|signin|sign_in|authenticate|auth)\([ \t\n]*[\"'][^\"'\n]{1,80}[\"'],"
        rb"[ \t\n]*[\"']([^\"'\n]{8,200})[\"']",
        # .netrc: on one line, on lines with something before each, or as a list of lines.
        rb"\blogin\s+[^\s\"]{1,80}(?:\s+|(?:\n"
        rb"|\",\s{0,4}\")[^\n]{0,80}?[^\w\n])password\s+([^\s\"'\\]{6,200})",
        rb"(?:echo|printf)[ \t]+(?:-n[ \t]+"
        rb"|[\"']?%%s(?:\\+n)?[\"']?[ \t]+)?[\"']?(?:[\w.-]{1,40}:)?([^\s\"'|]{8,200})[\"']?"
        rb"[ \t]*\|[^\n]{0,120}?%(input)s",
        rb"%(input)s[^\n|]{0,80}?<<<%(value)s",
        rb"ConvertTo-SecureString(?:[ \t]+-[A-Za-z]+)*[ \t]+[\"']?([^\s\"']{8,200})",
        rb"[ \t]-[Pp]assword[ \t]+[\"']?([^\s\"'\\;-][^\s\"'\\;]{7,200})",
        rb"add-authtoken[ \t]+([A-Za-z0-9_-]{20,100})",
        rb"\bAWS Secret Access Key \[[^\]\n]{0,60}\]:[ \t]*([A-Za-z0-9/+]{40})",
        # Terraform's variables, and the state that it keeps of random passwords.
        rb"variable[ \t]+\"[a-z0-9_]*(?:password|secret|token|key|credentials?)[a-z0-9_]*\"[ \t]*\{"
        rb"[^{}]{0,240}?default[ \t]*=[ \t]*\"([^\"\n]{8,400})\"",
        rb"random_(?:password|string)\"[\s\S]{0,900}?\"result\"[ \t]*:[ \t]*\"([^\"\n]{8,400})\"",
        # Files of Maven, web servers, proxies and databases: a directive, a header or a user if it
        # has one, and the value.
        rb"<master>(\{[A-Za-z0-9+/]{20,}={0,2}\})</master>",
        rb"\b(?:proxy_set_header|grpc_set_header|add_header|more_set_(?:input_)?headers"
        rb"|(?:fastcgi|uwsgi|scgi)_param|header_up|"
        rb"RequestHeader[ \t]+(?:set|add)|http-re(?:quest|sponse)[ \t]+(?:set|add)-header"
        rb"|SetEnv|set[ \t]+(?=\$))[ \t]*[\"']?"
        rb"[\w$-]{0,60}?(?i:key|token|secret|passw(?:or)?d|pass|pwd?|auth"
        rb"|credentials?)[\w-]{0,20}[\"']?(?::[ \t]*|[ \t]+)"
        rb"[\"']?([^\s\"'\\;]{8,400})",
        rb"(?:^|[\n\"'`])[ \t]*(?:requirepass|masterauth|sentinel auth-pass[ \t]+\S+)%(value)s",
        rb"\buser[ \t]+\S{1,80}[ \t]+(?:insecure-)?password%(value)s",
        rb"\bstats auth[ \t]+[^\s:]{1,80}:([^\s\"'\\]{6,200})",
        rb"(?i:ACL SETUSER)%(on)s{0,200}?[ \t]>([^\s\"'\\]{8,200})",
        rb"\]:(?:25|465|587)[ \t]+[^\s:\"']{1,120}:([^\s\"'\\]{8,200})",
        # A cookie jar of curl, wget and browsers: host, flag, path, flag, expiry, name and value.
        rb"[ \t](?:TRUE|FALSE)[ \t]+/\S{0,200}[ \t]+(?:TRUE"
        rb"|FALSE)[ \t]+[0-9]{1,14}[ \t]+[^\s\"']{1,80}[ \t]+"
        rb"([^\s\"'\\]{8,4000})",
        rb"\bDigest[ \t]+[^\n]{0,800}?\bresponse=[\"']?([0-9a-fA-F]{32,128})",
        # .pgpass
        rb"(?<![A-Za-z0-9.*-])[A-Za-z0-9.*-]{1,80}:(?:[0-9]{4,5}|\*):[\w*-]{1,40}:[\w*-]{1,40}:"
        rb"([^\s:<\"']{8,100})(?=[\s<\"']|\Z)",
        rb"<auth-user-pass>\s{1,4}[^\s<]{1,80}\s{1,4}([^\s<]{8,200})",
        rb"[?&](?:code|magic|ticket|otp|invite|confirmation|verification"
        rb"|reset)=([A-Za-z0-9_-]{32,400})",
    )
)
"""Passwords that are given to well-known commands and calls, or stored in their files."""

SCHEMES = "bearer|basic|token|ssws|geniekey|splunk"
_AUTHORIZATION = re.compile(
    rf"(?<![A-Za-z])(?:{SCHEMES})[ \t]+([A-Za-z0-9+/_.~=-]{{16,4000}})".encode(), re.IGNORECASE
)
_MNEMONIC = re.compile(
    rb"(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))[\"'`]?[^A-Za-z\n]{1,6}"
    rb"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def is_credential(value: bytes) -> bool:
    """Returns whether the value is a secret where a token is expected."""
    return is_secret_value(value, quoted=True, password=False)


def _is_password(value: bytes) -> bool:
    return is_secret_value(value, quoted=True, password=True)


def _has_basic_password(value: bytes) -> bool:
    """Returns whether the value, when it is `user:password` in base64, has a password that is worth
    masking.
    """
    try:
        user, colon, password = base64.b64decode(
            value + b"=" * (-len(value) % 4), validate=True
        ).partition(b":")
    except ValueError:
        return True
    return not colon or not (user + password).isascii() or _is_password(password)


_PAIRS = rb"((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})"
_COOKIES = (
    re.compile(rb"(?:set-)?cookie[\"'`]?[ \t]*[:=,][ \t]*[\"'`]?" + _PAIRS, re.IGNORECASE),
    re.compile(rb"(?:\s-b|--cookie)[ =]*[\"']?" + _PAIRS),
    re.compile(
        rb"(?<![\w.%$!-])([\w.%$!-]{1,60}=[A-Za-z0-9%._~+/=:-]{16,4000});[ \t]?"
        rb"(?:path|version|expires|domain|max-age|httponly|secure|samesite)\b",
        re.IGNORECASE,
    ),
)
_COOKIE = re.compile(rb"([\w.%$!-]{1,60})=([^\s;\"'`\\]{8,4000})")
_COOKIE_OBJECT = re.compile(rb"cookies?[\"']?[ \t]*[:=][ \t]*\{([^{}]{1,2000})", re.IGNORECASE)
_NAMED_COOKIE = re.compile(
    rb"[\"']name[\"'][ \t]*:[ \t]*[\"'][\w.-]{0,40}(?:sess|sid|auth|token"
    rb"|jwt)[\w.-]{0,40}[\"'],[ \t\n]*"
    rb"[\"']value[\"'][ \t]*:[ \t]*[\"']([^\"'\n]{8,4000})[\"']",
    re.IGNORECASE,
)
_MEMBER = re.compile(rb"[\"'][\w.-]{1,60}[\"'][ \t]*:[ \t]*[\"']([^\"'\n]{8,4000})[\"']")
_COOKIE_ATTRIBUTES = (b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority")


def _find_cookies(text: bytes) -> Iterator[Span]:
    """Yields the values of cookies in headers, curl's flags and objects; attributes such as Path
    are no secrets.
    """
    for header in (header for pattern in _COOKIES for header in pattern.finditer(text)):
        for match in _COOKIE.finditer(text, *header.span(1)):
            if match[1].lower() not in _COOKIE_ATTRIBUTES and _is_password(match[2]):
                yield match.span(2)
    objects = (
        member
        for cookie in _COOKIE_OBJECT.finditer(text)
        for member in _MEMBER.finditer(text, *cookie.span(1))
    )
    yield from (
        match.span(1)
        for match in (*objects, *_NAMED_COOKIE.finditer(text))
        if _is_password(match[1])
    )


_VARIABLE = re.compile(
    rb"\$\{?(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*)\}?|%\{.*|%[A-Z_][A-Z0-9_]*%|<[^<>]*>"
)


def _is_given(value: bytes) -> bool:
    """Returns whether the value is a password or a token, and no variable or placeholder."""
    return not _VARIABLE.fullmatch(value) and (_is_password(value) or is_bare_secret(value))


COMMANDS: tuple[Finder, ...] = (
    finder_of(lambda value: is_credential(value) and _has_basic_password(value), _AUTHORIZATION),
    finder_of(_is_given, *_IN_COMMANDS),
    finder_of(lambda words: True, _MNEMONIC),
)
OPTIONS: tuple[Finder, ...] = (finder_of(_is_given, _IN_OPTIONS),)
COOKIES: tuple[Finder, ...] = (_find_cookies,)

COMMAND_ANCHOR = (
    rf"(?i:{SCHEMES}) +[A-Za-z0-9+/_.~=-]{{16}}|"
    r"(?:-u|--user|--proxy-user|https? -a)[ =]?\\*[\"']?[^ :\"'\\]+:[^ \"'\\]{6}|"
    r"(?:lftp|smbclient|rpcclient|smbget) [^|;&]{0,120}-[uU]|"
    r"redis-cli|IDENTIFIED BY|PASSWORD '|htpasswd -|rabbitmqctl |net use[r ]|wpa_passphrase"
    r"|mysqladmin|http-basic\.|"
    r"bundle config|rclone config|config set --secret|(?:vault|cargo) login|sqlplus |AUTH "
    r"[A-Za-z0-9]|"
    r"PASS [^ \\]{8}|<auth-user-pass>|secrets? (?:set|put|create) |env add |--password-stdin"
    r"|--with-token|--stdin|"
    r"sudo [^|]{0,60}-[a-zA-Z]*S|chpasswd|cryptsetup|smbpasswd|ConvertTo-SecureString"
    r"|add-authtoken|"
    r"random_(?:password|string)\\*\"|AWS Secret Access Key \[|-[Pp]assword +\\*[\"']?[^ ]{8}|"
    r"send (?:-- )?\\*\"[^ \\\"]{8}|\.(?:login|log_in|signin|sign_in|authenticate"
    r"|auth)\([ \t\n]*\\*[\"']|"
    r"variable \\*\"[a-z0-9_]*(?:password|secret|token|key|credentials?)[a-z0-9_]*\\*\" \{|"
    r":[0-9]{4,5}:[a-z0-9_*-]{1,40}:[A-Za-z0-9_*-]{1,40}:[^ :\\\"']{8}|login "
    r"[^ ]{1,80}(?s:.){1,80}password |"
    r"(?i:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))|"
    r"<master>\{|_set_header |add_header |more_set_|(?:fastcgi|uwsgi|scgi)_param |header_up "
    r"|RequestHeader |-header |SetEnv |"
    r"set \$[A-Za-z_]|requirepass |masterauth |auth-pass |insecure-password |user "
    r"[^ ]{1,80} password |stats auth |"
    r"ACL SETUSER |acl setuser |\]:(?:25|465|587) |"
    r"(?:TRUE|FALSE)(?: |\\+t|\t)+[0-9]{1,14}(?: |\\+t|\t)|Digest +[a-z]+=|"
    r"[?&](?:code|magic|ticket|otp|invite|confirmation|verification|reset)=[A-Za-z0-9_-]{32}"
)
OPTION_ANCHOR = (
    r"(?:7z[arz]?|rar|zip|sqlcmd|osql|tsql|bcp|sqlpackage|cqlsh|snowsql|influx|ipmitool"
    r"|mosquitto_[a-z]+|ldap[a-z]+|az login|"
    r"(?:docker|podman|oc) login|"
    r"twine|openssl|ssh-keygen|gpg2?|keytool|jarsigner|xfreerdp|rdesktop|cmdkey|schtasks"
    r"|plink|pscp|psftp|winexe|evil-winrm|"
    r"netexec|nxc|sshpass|mysql[a-z]*|mariadb[a-z-]*|mongo[a-z]*) [^|;&]{0,160}?"
    r"(?:-[pPwkN]|-{1,2}(?:[a-z]{0,8}storepass|keypass|passphrase|password|pass)|/(?:p|pass"
    r"|rp|[ts]p):|/rp )"
)
COOKIE_ANCHOR = (
    r"(?i:cookies?)\\*[\"'`]?[ \t]*[:=,][ \t]*(?:\{|\\*[\"'`]?[A-Za-z0-9_.%$!-]{1,60}=)|"
    r"(?:-b|--cookie)[ =]\\*[\"']?[A-Za-z0-9_.%$!-]{1,60}=|"
    r"; ?(?:Path=/|path=/|HttpOnly|httponly|Max-Age=|max-age=|SameSite=|samesite=)|"
    r"(?:sess|sid|SESS|Sess|SID|auth|Auth|token"
    r"|jwt)[A-Za-z0-9_.-]{0,40}\\*[\"'],[ \t\n]*\\*[\"']value\\*[\"']"
)
