"""A mail's own words: without those that it quotes, which stand in the mail that it answers, and without signatures."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vicw_shared.text import visible

_QUOTED = re.compile(r"[ \t]{0,3}(?:>|\|[ ])")
_WROTE = (
    r"wrote|writes|schrieb|geschrieben|a écrit|écrivit|escribió|escreveu|ha scritto|scrisse|schreef|geschreven|napisał|"
    r"napsal|skrev|kirjoitti|yazdı|написал|пише|пишет|написав|menulis|đã viết|写道|寫道|のメール|작성"
)
_ATTRIBUTION = re.compile(
    rf"(?:\b(?:{_WROTE})|{_WROTE})[^\n]{{0,60}}[:：]?\s*$|^(?:On|Am|Le|El|Il|Op|Em|Den|W dniu) .*\d.*:\s*$"
)
_ORIGINAL = re.compile(
    r"[-_*]{2,}\s*(?:Original Message|Original Appointment|Ursprüngliche Nachricht|Originalnachricht|"
    r"Original-Nachricht|Message d.origine|Mensaje original|Mensagem original|Messaggio originale|"
    r"Oorspronkelijk bericht|Oprindelig meddelelse|Ursprungligt meddelande|Opprinnelig melding|Исходное сообщение|"
    r"Wiadomość oryginalna|Původní zpráva|原始邮件|原始郵件|元のメッセージ|원본 메시지)\s*[-_*]{2,}\s*$",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"\s*>?\s*(?:[-_]{2,}\s*(?:Forwarded message|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|"
    r"Mensagem encaminhada|Messaggio inoltrato|Doorgestuurd bericht|Пересылаемое сообщение)|Begin forwarded message:|"
    r"Anfang der weitergeleiteten Nachricht)",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\s*\*?(?:From|Von|De|Da|Van|От|Od|Fra|Från|Lähettäjä|Kimden|差出人|发件人|寄件者|보낸 사람)\s?\*?[:：]\*?\s*\S"
)
_SENT = re.compile(
    r"\s*\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Enviada(?: em)?|Fecha|Data|Inviato|Verzonden|Отправлено|"
    r"Дата|Wysłano|Odesláno|Sendt|Skickat|Lähetetty|Gönderildi|送信日時|发送时间|寄件日期|보낸 날짜)\s?\*?[:：]"
)
_RULE = re.compile(r"\s*_{10,}\s*$")
_SIGNATURE = re.compile(r"--[ \t]*$")
_DEVICE = re.compile(
    r"\s*(?:Sent from my \w+|Sent from (?:Outlook|Yahoo|Mail|ProtonMail|Proton Mail)\b|Get Outlook for \w+|"
    r"Von meinem \w+ gesendet|Gesendet mit der |Envoyé de(?:puis)? mon \w+|Enviado desde mi \w+|Enviado do meu \w+|"
    r"Inviato da(?:l mio)? \w+|Verstuurd vanaf mijn \w+|Отправлено с |Skickat från min |Sendt fra min )",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"(?:On|Am|Le|El|Il|Op|Em|Den|W dniu|В|Dne) ")
_LIST_FOOTER = re.compile(r"_{30,}\s*$")
_RE = re.compile(
    r"\s*(?:re|aw|sv|vs|antw|odp|ha|ref|rif|res|回复|回覆|答复|返信)\s*(?:\[\d+\])?\s*[:：]", re.IGNORECASE
)
_FWD = re.compile(r"\s*(?:fwd?|wg|tr|rv|enc|i|doorst|vb|pd|转发|轉寄)\s*[:：]", re.IGNORECASE)
_LONGEST_SIGNATURE = 20
_LONGEST_ATTRIBUTION = 3
_LONGEST_ATTRIBUTION_CHARS = 500


@dataclass(frozen=True, slots=True)
class Folded:
    """A mail's own words, and how many lines were quoted or a signature."""

    text: str
    folded_lines: int


def folded(text: str, subject: str, *, is_answer: bool) -> Folded:
    """Return a mail's own words. A mail with nothing else keeps all, and so does what it forwards.

    ``is_answer`` says that its headers name the mail that it answers.
    """
    lines = text.splitlines()
    kept = _without_quotes(lines, is_reply=is_answer or bool(_RE.match(subject)), is_forward=bool(_FWD.match(subject)))
    own = "\n".join(_without_signature(kept)).strip()
    if not visible(own):
        own = "\n".join(_without_signature(lines)).strip()
    if not visible(own):
        own = text.strip()
    return Folded(re.sub(r"\n{3,}", "\n\n", own), len(lines) - len(own.splitlines()))


def _without_quotes(lines: list[str], *, is_reply: bool, is_forward: bool) -> list[str]:
    kept: list[str] = []
    for place, line in enumerate(lines):
        if _FORWARDED.match(line):
            return kept + lines[place:]
        if not is_forward and _ends_words(lines, place, is_reply=is_reply):
            break
        if not _QUOTED.match(line):
            kept.append(line)
        elif attributed := _attribution(kept):
            del kept[-attributed:]
        elif not is_reply and not (place and _QUOTED.match(lines[place - 1]) and len(kept) < place):
            kept.append(line)  # no answer, and nobody is named: words of its own
    return kept


def _ends_words(lines: list[str], place: int, *, is_reply: bool) -> bool:
    """Return whether from a line on all is the mail that this one answers, as Outlook puts it below."""
    line = lines[place]
    if _ORIGINAL.match(line):
        return True
    if not is_reply:
        return False
    start = place + 1 if _RULE.match(line) else place
    head = [one for one in lines[start : start + 6] if one.strip()][:4]
    return bool(head) and bool(_FROM.match(head[0])) and any(map(_SENT.match, head[1:]))


def _attribution(kept: list[str]) -> int:
    """Return how many of the last lines say who wrote what follows: "On Monday Ana wrote:", over up to three lines."""
    blank = 0
    while blank < min(2, len(kept)) and not kept[-1 - blank].strip():
        blank += 1
    words = kept[: len(kept) - blank]
    for count in range(1, min(_LONGEST_ATTRIBUTION, len(words)) + 1):
        if not words[-count].strip():
            break
        said = " ".join(words[-count:])
        if len(said) > _LONGEST_ATTRIBUTION_CHARS:  # the search takes time that grows with the square
            break
        if _ATTRIBUTION.search(said):
            # The first of two lines may not look like one: "On Monday, 3 March 2025 at 10:00," / "Ana wrote:".
            begins_above = count < len(words) and _BEGINS.match(words[-count - 1])
            return count + bool(begins_above) + blank
    return 0


def _without_signature(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    for place in range(max(0, end - _LONGEST_SIGNATURE - 1), end):
        rest = lines[place + 1 : end]
        is_footer = _LIST_FOOTER.match(lines[place]) and any("mailing list" in one.lower() for one in rest)
        if (
            _SIGNATURE.match(lines[place])
            or is_footer
            or (_DEVICE.match(lines[place]) and not any(map(str.strip, rest)))
        ):
            return _without_signature(lines[:place])
    return lines[:end]
