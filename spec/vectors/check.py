#!/usr/bin/env python3
"""Verifies every vector of this folder without any code of Hearth.

Needs Python 3.9 or newer and the package `cryptography` (Debian: python3-cryptography), which is used for Ed25519
signatures alone. Everything else is written out here. Prints `N passed, M failed`; exits with 1 on any difference.
"""
import base64
import hashlib
import json
import os
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HERE = os.path.dirname(os.path.abspath(__file__))
DAY = 86_400


class Refused(Exception):
    """A document is not acceptable; `reason` is the code of the spec."""

    def __init__(self, reason, component=None):
        super().__init__(reason)
        self.reason, self.component = reason, component


def need(condition, reason, component=None):
    if not condition:
        raise Refused(reason, component)


# ---- encodings -------------------------------------------------------------------------------------------------------

def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def unb64url(text):
    """None unless it is base64url without padding in its only spelling."""
    if not isinstance(text, str) or not re.fullmatch(r'[A-Za-z0-9_-]*', text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    return data if b64url(data) == text else None


def digest(data):
    return 'sha256:' + hashlib.sha256(data).hexdigest()


def signing_bytes(purpose, data):
    return f'agent-federation/1 {purpose}\n'.encode() + data


def instant_ms(text):
    """Milliseconds since 1970, or None."""
    match = re.fullmatch(r'([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z', text) if isinstance(text, str) else None
    if not match:
        return None
    year, month, day, hour, minute, second, millis = map(int, match.groups())
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return None
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not 1 <= day <= days[month - 1]:
        return None
    return days_since_epoch(year, month, day) * DAY * 1000 + ((hour * 60 + minute) * 60 + second) * 1000 + millis


def days_since_epoch(year, month, day):
    """The proleptic Gregorian calendar, also for years that datetime has not."""
    shifted = year - (month <= 2)
    era = shifted // 400
    year_of_era = shifted - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


# ---- strict JSON and canonical JSON ----------------------------------------------------------------------------------

def members(pairs):
    names = [name for name, _ in pairs]
    need(len(set(names)) == len(names) and '__proto__' not in names, 'malformed_json')
    return dict(pairs)


def number(text):
    value = float(text)
    need(value not in (float('inf'), float('-inf')), 'malformed_json')
    need(not (value.is_integer() and abs(value) > 2 ** 53 - 1), 'malformed_json')
    return value


def constant(_):
    raise Refused('malformed_json')


def strict_json(data, max_depth=32):
    try:
        text = data.decode('utf-8') if isinstance(data, bytes) else data
        need(not text.startswith('\ufeff'), 'malformed_json')
        need(depth_of(text) <= max_depth, 'malformed_json')
        value = json.loads(text, object_pairs_hook=members, parse_float=number, parse_int=number, parse_constant=constant)
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise Refused('malformed_json') from None
    check_strings(value)
    return value


def depth_of(text):
    deepest = depth = 0
    for part in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.S):
        depth += {'[': 1, '{': 1, ']': -1, '}': -1}.get(part, 0)
        deepest = max(deepest, depth)
    return deepest


def check_strings(value):
    if isinstance(value, str):
        need('\0' not in value and not any(0xD800 <= ord(char) <= 0xDFFF for char in value), 'malformed_json')
    elif isinstance(value, list):
        for item in value:
            check_strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            check_strings(name)
            check_strings(item)


def canonical(value):
    """RFC 8785."""
    if value is None or isinstance(value, bool):
        return {None: 'null', True: 'true', False: 'false'}[value]
    if isinstance(value, (int, float)):
        return canonical_number(float(value))
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, list):
        return '[' + ','.join(canonical(item) for item in value) + ']'
    names = sorted(value, key=lambda name: name.encode('utf-16-be'))
    return '{' + ','.join(canonical_string(name) + ':' + canonical(value[name]) for name in names) + '}'


def canonical_string(text):
    short = {'"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t'}
    return '"' + ''.join(short.get(char, f'\\u{ord(char):04x}' if char < ' ' else char) for char in text) + '"'


def canonical_number(value):
    """Number::toString of ECMAScript over the shortest digits, which repr gives."""
    if value == 0:
        return '0'
    mantissa, _, exponent = repr(abs(value)).partition('e')
    whole, _, fraction = mantissa.partition('.')
    digits = whole + ('' if fraction == '0' else fraction)
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip('0')
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip('0')
    count = len(digits)
    if count <= point <= 21:
        text = digits + '0' * (point - count)
    elif 0 < point <= 21:
        text = digits[:point] + '.' + digits[point:]
    elif -6 < point <= 0:
        text = '0.' + '0' * -point + digits
    else:
        power = point - 1
        rest = '.' + digits[1:] if count > 1 else ''
        text = f'{digits[0]}{rest}e{"+" if power > 0 else "-"}{abs(power)}'
    return ('-' if value < 0 else '') + text


# ---- names -----------------------------------------------------------------------------------------------------------

NAME = r'[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?'
KINDS = ('in msg ses run eff op sus sub cred cand prop txn rcpt placelease caplease int corr ctx eng att evt src aud inc host dlv act').split()
FOLDERS = {'agents': 'agent', 'users': 'human', 'services': 'service'}


def is_label(label):
    if not re.fullmatch(r'[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?', label):
        return False
    if label[2:4] != '--':
        return True
    if not label.startswith('xn--'):
        return False
    try:
        unicode = label[4:].encode().decode('punycode')
        return unicode != label and unicode.encode('idna').decode() == label
    except UnicodeError:
        return False


def is_domain(text):
    labels = text.split('.') if isinstance(text, str) else []
    return len(labels) >= 2 and len(text) <= 230 and all(map(is_label, labels)) and not re.fullmatch('[0-9]+', labels[-1])


def address(text):
    if not isinstance(text, str) or len(text) > 255:
        return None
    match = re.fullmatch(rf'(?:(agent)://([^/]+)/agents|(human)://([^/]+)/users|(service)://([^/]+))/({NAME})', text)
    if not match:
        return None
    kind, domain = next((match[at], match[at + 1]) for at in (1, 3, 5) if match[at])
    return {'kind': kind, 'domain': domain, 'name': match[7]} if is_domain(domain) else None


def key_ref(text):
    if not isinstance(text, str) or len(text) > 320:
        return None
    match = re.fullmatch(r'key://([^/]+)/domain/([A-Za-z0-9_-]{43})', text)
    if match:
        return {'owner': 'domain', 'domain': match[1], 'kid': match[2]} if is_domain(match[1]) else None
    match = re.fullmatch(rf'key://([^/]+)/(agents|users|services)/({NAME})/([1-9][0-9]{{0,8}})', text)
    if not match or not is_domain(match[1]):
        return None
    owner = FOLDERS[match[2]]
    folder = '' if owner == 'service' else f'/{match[2]}'
    whose = f'{owner}://{match[1]}{folder}/{match[3]}'
    return {'owner': owner, 'domain': match[1], 'address': whose, 'serial': int(match[4])} if address(whose) else None


def identifier(text, kind=None):
    parts = text.split('_') if isinstance(text, str) and len(text) <= 320 else []
    if len(parts) < 3 or not re.fullmatch('[a-z0-9]{1,32}', parts[-2]) or not re.fullmatch('[0-7][0-9a-hjkmnp-tv-z]{25}', parts[-1]):
        return None
    found = {'kind': parts[0], 'home_tag': parts[-2]}
    if parts[0] in ('conv', 'cmt'):
        if len(parts) != 4 or not is_domain(parts[1]):
            return None
        found['domain'] = parts[1]
    elif parts[0] not in KINDS or len(parts) != 3:
        return None
    return found if kind in (None, parts[0]) else None


def is_principal_id(text):
    return isinstance(text, str) and bool(re.fullmatch('prn_[A-Za-z0-9_-]{43}', text))


def is_digest(text):
    return isinstance(text, str) and bool(re.fullmatch('sha256:[0-9a-f]{64}', text))


def home_tag(principal_id):
    bits = int.from_bytes(hashlib.sha256(principal_id.encode()).digest(), 'big') >> (256 - 60)
    return ''.join('abcdefghijklmnopqrstuvwxyz234567'[bits >> shift & 31] for shift in range(55, -1, -5))


# ---- Ed25519: which points are keys ----------------------------------------------------------------------------------

P = 2 ** 255 - 19
L = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
SMALL_R = {
    '00' * 32, '01' + '00' * 31, 'ec' + 'ff' * 30 + '7f', 'ed' + 'ff' * 30 + '7f', 'ee' + 'ff' * 30 + '7f',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
}


def point(data):
    """The affine point of a canonical encoding, or None."""
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y & (2 ** 255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * SQRT_M1 % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    return (x if x & 1 == sign else P - x, y)


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P, (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P)


def times(count, a):
    total = (0, 1)
    while count:
        if count & 1:
            total = add(total, a)
        a, count = add(a, a), count >> 1
    return total


ADMITTED = {}


def public_key(jwk, reason='key_invalid'):
    """The 32 bytes of an admissible key: canonical and of prime order."""
    need(isinstance(jwk, dict) and jwk.get('kty') == 'OKP' and jwk.get('crv') == 'Ed25519' and 'd' not in jwk, reason)
    x = jwk.get('x')
    if x not in ADMITTED:
        data = unb64url(x)
        where = point(data) if data and len(data) == 32 and len(x) == 43 else None
        ADMITTED[x] = data if where and times(8, where) != (0, 1) and times(L, where) == (0, 1) else None
    need(ADMITTED[x], reason)
    return ADMITTED[x]


def thumbprint(jwk):
    return b64url(hashlib.sha256(('{"crv":"Ed25519","kty":"OKP","x":"' + jwk['x'] + '"}').encode()).digest())


def signature_holds(key, message, signature):
    if signature is None or len(signature) != 64:
        return False
    r = signature[:31] + bytes([signature[31] & 0x7F])
    if r.hex() in SMALL_R or int.from_bytes(signature[32:], 'little') >= L:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except InvalidSignature:
        return False


# ---- JWS, bundles, certificates, receipts ----------------------------------------------------------------------------

def read_jws(token, typ, max_bytes, reason):
    """(kid, payload, signed bytes, signature) of a compact token, nothing verified."""
    parts = token.split('.')
    need(len(token) <= max_bytes and len(parts) == 3, reason)
    header, payload, signature = (unb64url(part) for part in parts)
    need(header and payload is not None and signature, reason)
    try:
        head, body = strict_json(header), strict_json(payload)
    except Refused:
        raise Refused(reason) from None
    need(isinstance(head, dict) and head.get('alg') == 'Ed25519' and 'crit' not in head, reason)
    need(head.get('typ') == typ and isinstance(head.get('kid'), str), reason)
    return head['kid'], body, '.'.join(parts[:2]).encode(), signature


def is_int(value, low=0, high=253_402_300_799):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value).is_integer() and low <= value <= high


def is_kid(text):
    return isinstance(text, str) and bool(re.fullmatch('[A-Za-z0-9_-]{43}', text))


def is_key_entry(key):
    return isinstance(key, dict) and key.get('kty') == 'OKP' and key.get('crv') == 'Ed25519' and isinstance(key.get('x'), str) \
        and len(key['x']) == 43 and is_kid(key.get('kid')) and is_int(key.get('nbf')) and is_int(key.get('exp'))


def is_bundle(value):
    if not isinstance(value, dict) or not all(isinstance(value.get(name), list) for name in ('keys', 'retired_keys', 'revoked')):
        return False
    return is_domain(value.get('domain')) and isinstance(value.get('sequence'), str) \
        and bool(re.fullmatch('0|[1-9][0-9]{0,18}', value['sequence'])) \
        and instant_ms(value.get('issued_at')) is not None and instant_ms(value.get('valid_until')) is not None \
        and is_int(value.get('refresh_hint_s'), 1, DAY) and is_kid(value.get('first_kid')) \
        and len(value['keys']) <= 16 and len(value['retired_keys']) <= 256 and len(value['revoked']) <= 1024 \
        and all(map(is_key_entry, value['keys'] + value['retired_keys'])) \
        and all(instant_ms(key.get('expired_at')) is not None for key in value['retired_keys']) \
        and all(isinstance(entry.get('subject'), str) and instant_ms(entry.get('revoked_at')) is not None for entry in value['revoked'])


def revokes(bundle, subject):
    return any(entry['subject'] == subject for entry in bundle['revoked'])


def read_bundle(text, domain, now, pinned):
    malformed = 'bundle_malformed'
    try:
        document = strict_json(text)
    except Refused:
        raise Refused(malformed) from None
    need(isinstance(document, dict) and isinstance(document.get('payload'), str) and isinstance(document.get('signatures'), list), malformed)
    need(1 <= len(document['signatures']) <= 17 and len(text) <= 256 * 1024, malformed)
    signed = []
    for entry in document['signatures']:
        signed.append(read_jws(f"{entry['protected']}.{document['payload']}.{entry['signature']}", 'bundle+jwt', 256 * 1024, malformed))
    need(len({kid for kid, *_ in signed}) == len(signed), malformed)
    bundle = signed[0][1]
    need(is_bundle(bundle), malformed)
    need(bundle['domain'] == domain, 'bundle_wrong_domain')
    issued, until = instant_ms(bundle['issued_at']), instant_ms(bundle['valid_until'])
    need(issued <= now + 300_000, 'bundle_issued_in_future')
    need(until > now, 'bundle_expired')
    need(until - issued <= 7 * DAY * 1000, 'bundle_lifetime_too_long')
    check_bundle_keys(bundle)
    before = pinned.get('bundle')
    known = bundle['keys'] + bundle['retired_keys'] + (before['keys'] if before else [])
    holding = {kid for kid, _, message, made in signed for key in known if key['kid'] == kid and signature_holds(public_key(key), message, made)}
    need(all(key['kid'] in holding for key in bundle['keys']), 'bundle_unsigned_key')
    check_continuity(bundle, pinned, holding)
    return bundle


def check_bundle_keys(bundle):
    seen = set()
    for key in bundle['keys'] + bundle['retired_keys']:
        public_key(key, 'bundle_key_invalid')
        need(thumbprint(key) == key['kid'] and key['kid'] not in seen, 'bundle_key_invalid')
        seen.add(key['kid'])
    need(not any(revokes(bundle, key['kid']) for key in bundle['keys']), 'bundle_key_invalid')


def check_continuity(bundle, pinned, holding):
    before = pinned.get('bundle')
    if not before:
        need(pinned.get('fingerprint', bundle['first_kid']) == bundle['first_kid'], 'bundle_fingerprint_mismatch')
        need(bundle['first_kid'] in holding and not revokes(bundle, bundle['first_kid']), 'bundle_continuity_broken')
        return
    need(int(bundle['sequence']) >= int(before['sequence']), 'bundle_sequence_lower')
    need(bundle['first_kid'] == before['first_kid'], 'bundle_continuity_broken')
    if bundle['sequence'] == before['sequence']:
        need(canonical(bundle) == canonical(before), 'bundle_sequence_reused')
        return
    trusted = [key['kid'] for key in before['keys'] if not bundle['keys'] or not revokes(bundle, key['kid'])]
    need(any(kid in holding for kid in trusted), 'bundle_continuity_broken')


def key_at(bundle, kid, issued):
    """The bytes of a domain key, if it verifies what was issued at that instant."""
    need(not revokes(bundle, kid), 'key_revoked')
    retired = next((key for key in bundle['retired_keys'] if key['kid'] == kid), None)
    record = next((key for key in bundle['keys'] if key['kid'] == kid), retired)
    need(record, 'key_unknown')
    need(not retired or issued < instant_ms(retired['expired_at']), 'key_retired')
    need(issued >= record['nbf'] * 1000, 'key_not_yet_valid')
    need(issued < record['exp'] * 1000, 'key_expired')
    return public_key(record)


def read_certificate(token, bundle, now):
    bad = 'certificate_invalid'
    kid, claims, message, made = read_jws(token, 'agent-key+jwt', 4096, bad)
    times_given = [claims.get(name) for name in ('iat', 'exp', 'key_nbf', 'key_exp')]
    need(all(map(is_int, times_given)) and is_principal_id(claims.get('principal_id')), bad)
    iat, exp, key_nbf, key_exp = times_given
    sub, ref = address(claims.get('sub')), key_ref(claims.get('kid'))
    need(claims.get('iss') == bundle['domain'] and sub and sub['domain'] == bundle['domain'], bad)
    need(ref and ref.get('address') == claims['sub'], bad)
    need(not revokes(bundle, claims['kid']) and not revokes(bundle, claims['principal_id']), bad)
    need(iat <= now / 1000 + 300 and exp > now / 1000 and iat < exp <= iat + DAY and key_nbf < key_exp, bad)
    try:
        signer = key_at(bundle, kid, iat * 1000)
        key = public_key(claims['cnf']['jwk'])
    except Refused:
        raise Refused(bad) from None
    need(signature_holds(signer, message, made), bad)
    return {**claims, 'key': key}


RECEIPT_TYPES = ('transaction-receipt delivery.accepted delivery.parked delivery.rejected delivery.expired message.received '
                 'interaction.accepted interaction.rejected commitment.active effect.settled').split()


def read_receipt(token, bundle, now):
    bad = 'receipt_invalid'
    kid, receipt, message, made = read_jws(token, 'receipt+jwt', 512 * 1024, bad)
    need(receipt.get('type') in RECEIPT_TYPES and identifier(receipt.get('receipt_id'), 'rcpt'), bad)
    need(is_digest(receipt.get('subject_digest')) and isinstance(receipt.get('subject_ref'), str), bad)
    if receipt['type'] == 'transaction-receipt':
        need(identifier(receipt.get('transaction_id'), 'txn') and isinstance(receipt.get('results'), list), bad)
        need(is_domain(receipt.get('origin')) and is_domain(receipt.get('destination')) and receipt.get('incarnation'), bad)
    observed = instant_ms(receipt.get('observed_at'))
    need(receipt.get('issuer') == bundle['domain'] and observed is not None and observed <= now + 300_000, bad)
    try:
        signer = key_at(bundle, kid, observed)
    except Refused:
        raise Refused(bad) from None
    need(signature_holds(signer, message, made), bad)
    return receipt


# ---- requests --------------------------------------------------------------------------------------------------------

CONTENT = ['content-digest', 'content-type']
FED = ['fed-origin', 'fed-destination']
PARAMETERS = ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag']


def read_request(request, destination, now, keys):
    bad, method = 'signature_invalid', request['method']
    content = CONTENT if method != 'GET' else []
    fields = {}
    for name, value in request['headers']:
        fields.setdefault(name.lower(), []).append(value)
    for name in content + FED + ['signature', 'signature-input']:
        need(len(fields.get(name, [])) == 1, bad, name)
    field = {name: values[0] for name, values in fields.items()}
    need(field['fed-destination'] == destination, 'wrong_destination', 'fed-destination')
    need(is_domain(field['fed-origin']), bad, 'fed-origin')
    body = request['body'].encode()
    if method == 'GET':
        need(not body, bad, 'content-digest')
    else:
        own = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
        need([part.strip() for part in field['content-digest'].split(',') if part.strip().startswith('sha-256=')] == [own], 'digest_mismatch', 'content-digest')
    label, names, parameters, base = signature_base(request, field)
    for name in ['@method', '@target-uri'] + content + FED:
        need(name in names, bad, 'signature-input')
    need(all(name in parameters for name in PARAMETERS), bad, 'signature-input')
    need(parameters['alg'] == 'ed25519', bad, 'signature-input')
    check_times(parameters, now // 1000)
    need(parameters['tag'] == 'agent-federation/1', bad, 'tag')
    stray = [name for name in names if name not in ['@method', '@target-uri'] + content + FED]
    need(not stray, bad, stray[0] if stray else None)
    nonce = unb64url(parameters['nonce'])
    need(nonce and 16 <= len(nonce) <= 64, bad, 'nonce')
    ref = key_ref(parameters['keyid'])
    need(ref and ref['owner'] == 'domain' and ref['domain'] == field['fed-origin'] and parameters['keyid'] in keys, bad, 'keyid')
    match = re.fullmatch(rf'{label}=:([A-Za-z0-9+/=]*):', field['signature'])
    need(match and signature_holds(public_key(keys[parameters['keyid']]), base.encode(), base64.b64decode(match[1])), bad, 'signature')
    return {'origin': field['fed-origin'], 'key_ref': parameters['keyid'], 'nonce': parameters['nonce'], 'base': base}


def check_times(parameters, now):
    created, expires = int(parameters['created']), int(parameters['expires'])
    need(created <= now + 300, 'signature_invalid', 'signature-input')
    need(created < expires <= created + 300, 'signature_invalid', 'expires')
    need(expires > now, 'signature_invalid', 'expires')


def signature_base(request, field):
    """Label, covered names, parameters and signature base of the one signature (RFC 9421, 2.5)."""
    match = re.fullmatch(r'([a-z][a-z0-9_.-]*)=(\(([^)]*)\)((?:;[a-z]+=(?:"[^"]*"|[0-9]+))*))', field['signature-input'])
    need(match, 'signature_invalid', 'signature-input')
    label, value, inner, rest = match.groups()
    names = re.findall(r'"([^"]+)"', inner)
    parameters = {name: text.strip('"') for name, text in re.findall(r';([a-z]+)=("[^"]*"|[0-9]+)', rest)}
    derived = {'@method': request['method'], '@target-uri': request['target_uri'], '@authority': request['target_uri'].split('/')[2]}
    lines = [f'"{name}": {derived.get(name, field.get(name, "").strip())}' for name in names]
    return label, names, parameters, '\n'.join(lines + [f'"@signature-params": {value}'])


# ---- envelopes and transactions --------------------------------------------------------------------------------------

REQUIRED = ('message_id sender sender_domain to conversation_id prev interaction_type issued_at expires_at body_digest content_type key_id').split()
OPTIONAL = ('in_reply_to correlation_id causation_id body_ref idempotency_key hop_chain engagement authority_digest').split()


def matches(pattern):
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


token = matches(r'[\x21-\x7e]{1,255}')
FORMS = {
    'message_id': lambda value: identifier(value, 'msg'),
    'sender': address,
    'sender_domain': is_domain,
    'to': lambda value: isinstance(value, list) and 1 <= len(value) <= 50 and all(map(address, value)),
    'conversation_id': lambda value: identifier(value, 'conv'),
    'prev': lambda value: value == '' or identifier(value, 'msg'),
    'interaction_type': matches('[a-z][a-z_]{0,31}'),
    'in_reply_to': lambda value: identifier(value, 'msg'),
    'correlation_id': token,
    'causation_id': token,
    'idempotency_key': token,
    'issued_at': lambda value: instant_ms(value) is not None,
    'expires_at': lambda value: instant_ms(value) is not None,
    'body_ref': matches(r'object://[\x21-\x7e]{1,240}'),
    'body_digest': is_digest,
    'content_type': lambda value: matches(r'[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+')(value) and len(value) <= 127,
    'key_id': key_ref,
    'hop_chain': lambda value: isinstance(value, list) and len(value) <= 16 and all(map(is_principal_id, value)),
    'engagement': lambda value: isinstance(value, list) and len(value) == 2 and token(value[0]) and is_principal_id(value[1]),
    'authority_digest': is_digest,
}


def open_envelope(item):
    """(header object, signature) of a readable and canonical envelope; a refusal knows as much of its identity as was read."""
    bad = 'envelope_malformed'
    need(isinstance(item, dict) and set(item) <= {'header', 'signature', 'body'} and {'header', 'signature'} <= set(item), bad)
    need(all(isinstance(value, str) for value in item.values()), bad)
    sizes = [len(item.get(name, '').encode()) for name in ('header', 'body', 'signature')]
    need(sizes[0] <= 16 * 1024 and sizes[1] <= 48 * 1024 and sum(sizes) <= 64 * 1024, 'envelope_too_large')
    try:
        header = strict_json(item['header'])
    except Refused:
        raise Refused(bad) from None
    need(canonical(header) == item['header'], 'envelope_not_canonical')
    need(isinstance(header, dict) and all(name in header for name in REQUIRED) and all(name in FORMS for name in header), bad)
    need(all(FORMS[name](value) for name, value in header.items()), bad)
    need(('body' in item) != ('body_ref' in header), bad)
    made = unb64url(item['signature'][8:]) if item['signature'].startswith('ed25519.') else None
    need(made is not None and len(made) == 64, 'signature_invalid')
    return header, made


def verify_envelope(item, certificate, bundle, origin, destination, now):
    header, made = open_envelope(item)
    try:
        claims = read_certificate(certificate, bundle, now) if certificate else None
    except Refused:
        claims = None
    need(claims and claims['kid'] == header['key_id'], 'certificate_missing')
    need(header['sender_domain'] == origin and address(header['sender'])['domain'] == origin, 'sender_mismatch')
    need(all(address(to)['domain'] == destination for to in header['to']), 'wrong_destination')
    need(len(set(header['to'])) == len(header['to']), 'envelope_malformed')
    issued, expires = instant_ms(header['issued_at']), instant_ms(header['expires_at'])
    need(issued <= now + 300_000, 'issued_in_future')
    need(expires > now, 'expired')
    need(expires > issued, 'envelope_malformed')
    need(expires - issued <= 7 * DAY * 1000, 'lifetime_too_long')
    need(claims['sub'] == header['sender'], 'certificate_invalid')
    need(claims['key_nbf'] * 1000 <= issued < claims['key_exp'] * 1000, 'key_invalid')
    need(signature_holds(claims['key'], signing_bytes('envelope', item['header'].encode()), made), 'signature_invalid')
    need('body' in item, 'body_missing')
    need(digest(item['body'].encode()) == header['body_digest'], 'body_digest_mismatch')
    return {'message_id': header['message_id'], 'header_digest': digest(item['header'].encode()),
            'body_digest': header['body_digest'], 'sender_principal_id': claims['principal_id']}


def read_transaction(body, bundle, origin, destination, now):
    frame = strict_json(body)
    lists = ('certificates', 'envelopes', 'signals')
    need(isinstance(frame, dict) and all(isinstance(frame.get(name), list) for name in lists), 'schema_invalid')
    need(is_domain(frame.get('origin')) and is_domain(frame.get('destination')) and matches(r'[\x21-\x7e]{1,128}')(frame.get('incarnation')), 'schema_invalid')
    need(len(frame['certificates']) <= 50 and len(frame['envelopes']) <= 50 and len(frame['signals']) <= 100, 'too_large')
    need(frame['origin'] == origin, 'schema_invalid')
    need(frame['destination'] == destination, 'wrong_destination')
    certificates = {}
    for text in frame['certificates']:
        try:
            need(isinstance(text, str), 'certificate_invalid')
            certificates.setdefault(read_certificate(text, bundle, now)['kid'], text)
        except Refused:
            pass
    return {'items': [result for index, item in enumerate(frame['envelopes']) for result in item_results(item, index, certificates, (bundle, origin, destination, now))]}


def item_results(item, index, certificates, context):
    header = {}
    try:
        header, _ = open_envelope(item)
        verify_envelope(item, certificates.get(header['key_id']), *context)
    except Refused as refusal:
        if not header:
            return [{'message_id': '', 'recipient': '', 'result': 'rejected', 'code': refusal.reason, 'index': index}]
        return [{'message_id': header['message_id'], 'recipient': to, 'result': 'rejected', 'code': refusal.reason} for to in header['to']]
    return [{'message_id': header['message_id'], 'recipient': to, 'result': 'verified'} for to in header['to']]


def read_answer(answer):
    bad = 'schema_invalid'
    need(isinstance(answer.get('results'), list) and isinstance(answer.get('receipt'), str), bad)
    for result in answer['results']:
        need(result.get('message_id') == '' or identifier(result.get('message_id'), 'msg'), bad)
        need(result.get('recipient') == '' or address(result.get('recipient')), bad)
        need(result.get('result') in ('accepted', 'duplicate', 'parked', 'rejected', 'retry'), bad)
        need('code' not in result or matches('[a-z_]{1,64}')(result['code']), bad)
        need('receipt_id' not in result or identifier(result['receipt_id'], 'rcpt'), bad)
        need('after' not in result or is_int(result['after'], 0, DAY), bad)


# ---- commitments -----------------------------------------------------------------------------------------------------

TABLE = {
    ('none', 'request'): {'creditor': 'proposed'},
    ('proposed', 'accept_proposal'): {'debtor': 'active'},
    ('proposed', 'reject'): {'debtor': 'rejected'},
    ('proposed', 'revoke'): {'creditor': 'canceled'},
    ('active', 'report'): {'debtor': 'reported'},
    ('active', 'revoke'): {'creditor': 'canceled'},
    ('active', 'cancel'): {'both': 'canceled'},
    ('overdue', 'report'): {'debtor': 'reported'},
    ('overdue', 'revoke'): {'creditor': 'canceled'},
    ('overdue', 'cancel'): {'both': 'canceled'},
    ('overdue', 'resolve_violated'): {'creditor': 'violated', 'resolver': 'violated'},
    ('reported', 'report'): {'debtor': 'reported'},
    ('reported', 'accept_report'): {'creditor': 'fulfilled'},
    ('reported', 'dispute'): {'creditor': 'disputed'},
    ('reported', 'cancel'): {'both': 'canceled'},
    ('disputed', 'report'): {'debtor': 'reported'},
    ('disputed', 'accept_report'): {'creditor': 'fulfilled'},
    ('disputed', 'cancel'): {'both': 'canceled'},
    ('disputed', 'resolve_fulfilled'): {'creditor': 'fulfilled', 'resolver': 'fulfilled'},
    ('disputed', 'resolve_violated'): {'debtor': 'violated', 'resolver': 'violated'},
}


def cell(state, kind, parties):
    """(where it leads, who is needed)."""
    row = TABLE.get((state, kind))
    need(row, 'commitment_wrong_state')
    for party in parties:
        if party in row:
            return row[party], party
        if 'both' in row and party != 'resolver':
            return row['both'], 'both'
    raise Refused('commitment_wrong_party')


def read_entry(entry, keys):
    header, made = open_envelope({name: entry[name] for name in ('header', 'signature', 'body')})
    need(signature_holds(public_key(keys[header['key_id']]), signing_bytes('envelope', entry['header'].encode()), made), 'signature_invalid')
    need(digest(entry['body'].encode()) == header['body_digest'], 'body_digest_mismatch')
    body, kind = strict_json(entry['body']), header['interaction_type']
    if kind == 'accept':
        kind = 'accept_' + body['accepts']
    return {'kind': kind, 'body': body, 'header': header, 'digest': digest(entry['header'].encode()), 'principal': entry['principal_id'],
            'author': header['sender'], 'issued': header['issued_at'], 'previous': body.get('previous', '')}


def state_at(view, instant):
    late = view['deadline'] is not None and instant > view['deadline']
    return 'overdue' if view['base'] == 'active' and late else view['base']


def decide(view, step):
    if not view:
        need(step['kind'] == 'request', 'commitment_unknown')
        return 'proposed'
    body = step['body']
    need((body['proposal'] if step['kind'] == 'request' else body)['commitment_id'] == view['id'], 'commitment_unknown')
    same = view['principals'].get(step['author'], step['principal']) == step['principal']
    parties = [party for party in ('creditor', 'debtor', 'resolver') if same and view[party] == step['author']]
    need(parties, 'commitment_wrong_party')
    check_binding(view, step)
    to, needed = cell(state_at(view, step['issued']), step['kind'], parties)
    need(view['heads'].get(step['author'], '') == step['previous'], 'commitment_previous_mismatch')
    if needed == 'both' and not {view['creditor'], view['debtor']} <= view['asked'] | {step['author']}:
        return view['base']
    return to


def check_binding(view, step):
    body, wrong = step['body'], 'commitment_wrong_digest'
    if step['kind'] in ('accept_proposal', 'reject'):
        need((body['proposal_id'], body['version']) == (view['proposal']['proposal_id'], view['proposal']['version']), wrong)
    if step['kind'] in ('accept_report', 'dispute'):
        need((body['report_message_id'], body['report_digest']) in [(report['id'], report['digest']) for report in view['reports']], wrong)
    elif step['kind'] != 'request':
        need(body['proposal_digest'] == view['proposal_digest'], wrong)


def apply(view, step, to):
    body, header = step['body'], step['header']
    if not view:
        proposal = body['proposal']
        view = {'id': proposal['commitment_id'], 'creditor': step['author'], 'debtor': header['to'][0], 'resolver': proposal.get('resolver'),
                'proposal': proposal, 'proposal_digest': header['body_digest'], 'deadline': proposal.get('deadline'),
                'heads': {}, 'principals': {}, 'reports': [], 'asked': set()}
    view['base'] = to
    view['heads'][step['author']] = step['digest']
    view['principals'][step['author']] = step['principal']
    if step['kind'] == 'report':
        late = view['deadline'] is not None and step['issued'] > view['deadline']
        view['reports'].append({'id': header['message_id'], 'digest': header['body_digest'], 'late': late})
    if step['kind'] == 'cancel':
        view['asked'].add(step['author'])
    return view


def fold(log, keys, now):
    steps = {step['digest']: step for step in (read_entry(entry, keys) for entry in log)}
    waiting = sorted(steps.values(), key=lambda step: (step['issued'], step['digest']))
    view, applied = None, []
    while True:
        for step in waiting:
            try:
                view = apply(view, step, decide(view, step))
            except Refused:
                continue
            break
        else:
            break
        waiting.remove(step)
        applied.append(step['digest'])
    refused = []
    for step in waiting:
        try:
            decide(view, step)
        except Refused as refusal:
            refused.append({'digest': step['digest'], 'reason': refusal.reason})
    found = {'state': state_at(view, now) if view else 'none', 'base_state': view['base'] if view else 'none', 'applied': applied, 'refused': refused}
    if view:
        found.update(creditor=view['creditor'], debtor=view['debtor'], deadline=view['deadline'], heads=view['heads'],
                     late_reports=sum(report['late'] for report in view['reports']))
    return found


# ---- discovery, principals, names ------------------------------------------------------------------------------------

def read_discovery(document, domain):
    bad = 'discovery_invalid'
    plain = matches(r'https://[a-z0-9.-]+(?::[0-9]+)?(?:/[^?#\s\\]*[^/?#\s\\])?')
    need(document.get('schema_version') == 'agent-federation/1' and document.get('domain') == domain, bad)
    need(all(plain(document.get(name)) for name in ('gateway', 'bundle', 'directory')), bad)
    need('rfc9421' in document.get('request_signatures', []) and document.get('first_contact') in ('quarantine', 'invitation'), bad)
    ceilings = {'envelope_bytes': 64 * 1024, 'transaction_envelopes': 50, 'transaction_bytes': 4 * 1024 * 1024, 'transactions_in_flight': 64, 'clock_skew_s': 300}
    need(all(is_int(document['limits'].get(name), 1, most) for name, most in ceilings.items()), bad)


def principal_id(record):
    bad = 'genesis_malformed'
    need(set(record) == {'address', 'first_key', 'recovery_key_hash', 'salt'} and address(record['address']), bad)
    need(set(record['first_key']) == {'kty', 'crv', 'x'} and is_digest(record['recovery_key_hash']), bad)
    need(matches('[A-Za-z0-9_-]{22,86}')(record['salt']), bad)
    return 'prn_' + b64url(hashlib.sha256(signing_bytes('genesis', canonical(record).encode())).digest())


def read_name(grammar, text):
    readers = {
        'domain': lambda: is_domain(text) or None,
        'address': lambda: address(text),
        'key_ref': lambda: key_ref(text),
        'id': lambda: identifier(text),
        'principal_id': lambda: {'home_tag': home_tag(text)} if is_principal_id(text) else None,
        'instant': lambda: True if instant_ms(text) is not None else None,
        'digest': lambda: is_digest(text) or None,
        'base64url': lambda: True if unb64url(text) is not None else None,
    }
    found = readers[grammar]()
    need(found is not None, f'not_{grammar}')
    return found


# ---- the vectors -----------------------------------------------------------------------------------------------------

def check_json(v, _):
    strict_json(v['text'] if 'text' in v else unb64url(v['bytes']))


def check_canonical(v, _):
    text = canonical(strict_json(v['json']))
    assert text == v['canonical'] and digest(text.encode()) == v['digest'], text


def check_signature(v, _):
    need(signature_holds(public_key(v['jwk']), unb64url(v['message']), unb64url(v['signature'])), 'signature_invalid')


def check_key(v, _):
    public_key(v['jwk'])
    return {'thumbprint': thumbprint(v['jwk'])}


def check_principal(v, _):
    found = principal_id(v['record'])
    assert canonical(v['record']) == v['canonical']
    return {'principal_id': found, 'home_tag': home_tag(found)}


def check_bundle(v, _):
    bundle = read_bundle(v['document'], v['domain'], instant_ms(v['now']), v['pinned'])
    return {'fingerprint': bundle['first_kid'], 'sequence': bundle['sequence']}


def check_certificate(v, context):
    claims = read_certificate(v['token'], context['bundles'][v['bundle']], instant_ms(v['now']))
    return {'address': claims['sub'], 'principal_id': claims['principal_id'], 'key_ref': claims['kid'], 'x': claims['cnf']['jwk']['x']}


def check_receipt(v, context):
    receipt = read_receipt(v['token'], context['bundles'][v['bundle']], instant_ms(v['now']))
    return {'receipt_id': receipt['receipt_id'], 'type': receipt['type']}


def check_envelope(v, context):
    certificate = context['certificates'].get(v['certificate'])
    return verify_envelope(v['envelope'], certificate, context['bundle'], v['origin'], v['destination'], instant_ms(v['now']))


def check_log(v, context):
    found = fold(v['log'], context['keys'], v['now'])
    assert found == v['expect'], found
    need(not found['refused'], found['refused'][-1]['reason'] if found['refused'] else '')
    return found


def check_cell(v, _):
    to, needed = cell(v['state'], v['kind'], [v['party']])
    return {'to': to, 'needs': needed}


CHECKS = {
    'names.json': lambda v, _: read_name(v['grammar'], v['text']),
    'strict-json.json': check_json,
    'canonical-json.json': check_canonical,
    'keys.json': check_key,
    'signatures.json': check_signature,
    'principal-ids.json': check_principal,
    'discovery.json': lambda v, _: read_discovery(v['document'], v['domain']),
    'bundles.json': check_bundle,
    'key-validity.json': lambda v, context: key_at(context['bundles'][v['bundle']], v['kid'], instant_ms(v['issued_at'])),
    'certificates.json': check_certificate,
    'requests.json': lambda v, context: read_request(v['request'], v['destination'], instant_ms(v['now']), context['keys']),
    'envelopes.json': check_envelope,
    'transactions.json': lambda v, context: read_transaction(v['body'], context['bundle'], v['origin'], v['destination'], instant_ms(v['now'])),
    'answers.json': lambda v, _: read_answer(v['answer']),
    'receipts.json': check_receipt,
    'transitions.json': check_log,
    'transition-table.json': check_cell,
}


def fault_of(check, vector, context):
    """What differs, or None."""
    try:
        found = check(vector, context)
    except Refused as refusal:
        if vector['valid']:
            return f'refused as {refusal.reason}'
        if refusal.reason != vector['reason']:
            return f"refused as {refusal.reason}, not {vector['reason']}"
        if refusal.component != vector.get('component'):
            return f"names {refusal.component}, not {vector.get('component')}"
        return None
    except Exception as error:  # A crash is a difference like any other.
        return f'{type(error).__name__}: {error}'
    if not vector['valid']:
        return f"accepted, though {vector['reason']}"
    if 'expect' in vector and found != vector['expect']:
        return f"found {found}, not {vector['expect']}"
    return None


def main():
    passed = failed = 0
    names = sorted(name for name in os.listdir(HERE) if name.endswith('.json'))
    for name in sorted(set(names) | set(CHECKS)):
        if name not in CHECKS or name not in names:
            print(f'{name}: {"no check" if name in names else "no such file"}')
            failed += 1
            continue
        with open(os.path.join(HERE, name), encoding='utf-8') as file:
            content = json.load(file)
        for vector in content['vectors']:
            fault = fault_of(CHECKS[name], vector, content.get('context', {}))
            passed, failed = passed + (fault is None), failed + (fault is not None)
            if fault is not None:
                print(f"{name}: {vector['name']}: {fault}"[:400])
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
