"""What WhatsApp itself writes in a chat, in the languages of its phones: parts of phrases, compared without case."""

from __future__ import annotations

import re

_OMITTED = (
    *("omitted", "omitido", "omitida", "oculto", "omis", "ausgeschlossen", "weggelassen", "omesso", "omessi", "omessa"),
    *("weggelaten", "utelämnad", "utelämnat", "utelatt", "utelukket", "udeladt", "udeladte", "pominięto", "vynechán"),
    *(
        "vynechán",
        "kihagyva",
        "dahil edilmedi",
        "hariç tutuldu",
        "без медиафайлов",
        "опущено",
        "пропущено",
        "отсутствует",
    ),
    *("медіа вилучено", "пропущен", "изключен", "省略", "생략", "छोड़ा गया", "छोड़ दिया", "حذف", "محذوف", "استبعاد"),
    *("tidak disertakan", "dihilangkan", "diabaikan", "bị bỏ qua", "bỏ qua", "הושמט", "παραλήφθηκ", "παραλείφθηκ"),
    *("jätettiin pois", "poistettu", "izostavljen", "izpuščen", "omise", "exclus", "ไม่รวม", "ละเว้น", "বাদ দেওয়া"),
)
"""Of the lines that stand for a picture, video, sticker or file that was not exported."""

_EDITED = (
    *(
        "this message was edited",
        "mensaje editado",
        "se editó este mensaje",
        "mensagem editada",
        "nachricht wurde bearbeitet",
    ),
    *("message a été modifié", "messaggio è stato modificato", "messaggio modificato", "bericht is bewerkt"),
    *("wiadomość została edytowana", "сообщение изменено", "повідомлення відредаговано", "meddelandet har redigerats"),
    *("meldingen ble redigert", "beskeden er blevet redigeret", "bu mesaj düzenlendi", "zpráva byla upravena"),
    *(
        "pesan ini diedit",
        "tin nhắn đã chỉnh sửa",
        "已编辑",
        "已編輯",
        "編集されました",
        "수정된 메시지",
        "تم تعديل",
        "נערכה",
        "संपादित",
    ),
)
_DELETED = (
    *("this message was deleted by admin", "this message was deleted", "you deleted this message"),
    *("se eliminó este mensaje", "eliminaste este mensaje"),
    *("mensagem apagada", "apagou esta mensagem", "apagaste esta mensagem", "diese nachricht wurde gelöscht"),
    *("du hast diese nachricht gelöscht", "ce message a été supprimé", "vous avez supprimé ce message"),
    *("questo messaggio è stato eliminato", "hai eliminato questo messaggio", "dit bericht is verwijderd"),
    *("je hebt dit bericht verwijderd", "ta wiadomość została usunięta", "usunięto tę wiadomość", "сообщение удалено"),
    *(
        "вы удалили это сообщение",
        "вы удалили данное сообщение",
        "повідомлення видалено",
        "meddelandet togs bort",
        "meldingen ble slettet",
        "beskeden er slettet",
    ),
    *(
        "bu mesaj silindi",
        "bu mesajı sildiniz",
        "zpráva byla odstraněna",
        "pesan ini telah dihapus",
        "anda telah menghapus",
    ),
    *(
        "tin nhắn này đã bị xóa",
        "此消息已撤回",
        "此訊息已刪除",
        "你删除了",
        "このメッセージは削除されました",
        "삭제된 메시지",
    ),
    *("تم حذف هذه الرسالة", "הודעה זו נמחקה", "यह मैसेज हटा दिया गया"),
)
_SEALED = (
    *(
        "end-to-end",
        "end to end",
        "encrypt",
        "encript",
        "cifrad",
        "chiffr",
        "verschlüssel",
        "crittograf",
        "versleuteld",
    ),
    *(
        "szyfrowan",
        "шифр",
        "kryptera",
        "krypter",
        "şifrele",
        "šifrov",
        "šifrir",
        "enkripsi",
        "mã hóa",
        "加密",
        "暗号",
        "암호화",
    ),
    *("مشفرة", "מוצפנ", "एन्क्रिप्ट", "κρυπτογρ", "titkosít", "criptat", "เข้ารหัส", "salata", "رمزگذاری"),
)
_AROUND = 12
"""Characters that may stand around the phrase of a deleted message: "You", a full stop, the name of an admin."""
_ACTS = re.compile(
    r"(?:changed|created|added|removed|invited|pinned|turned (?:on|off)|updated) (?:the|this|their|group|a|you)\b"
    r"|(?:hat|haben) (?:den|die|das|diese) (?:Betreff|Gruppe|Gruppenbild|Beschreibung)"
    r"|a (?:changé|créé|modifié|ajouté) |(?:cambió|creó|añadió|cambiou|criou|alterou) (?:el|la|o|a|este|esta) "
    r"|ha (?:creato|cambiato|modificato|aggiunto) |изменил|создал",
    re.IGNORECASE,
)
_ATTACHED = re.compile(
    # iOS: <attached: 00000012-PHOTO-2025-01-02.jpg>; Android: IMG-20250102-WA0001.jpg (file attached)
    r"[\u200e\u200f]*<[^<>:\n]{2,40}:[ \u00a0](?P<ios>[^<>\n]+\.\w{1,8})>"
    r"|^[\u200e\u200f]*(?P<android>[^\n]{1,200}?\.\w{1,8}) \([^()\n]{4,40}\)$",
    re.MULTILINE,
)
_BRACKETED = re.compile(r"[ \u200e\u200f]*<([^<>\n]{3,60})>")
_MARKS = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))


def unmarked(text: str) -> str:
    """Return ``text`` without the marks of direction that phones put around names and phrases."""
    return text if text.isascii() else text.translate(_MARKS)


def is_deleted(text: str) -> bool:
    """Return whether a whole message stands for one that was deleted; words may have its phrase in them."""
    if len(text) > 80 or "\n" in text:
        return False
    plain = unmarked(text).casefold().strip()
    return plain == "null" or any(phrase in plain and len(plain) <= len(phrase) + _AROUND for phrase in _DELETED)


def is_sealed(notice: str) -> bool:
    """Return whether a notice only says that the chat is encrypted."""
    return _has(notice, _SEALED)


def names_an_act(head: str) -> bool:
    """Return whether what stands before a colon is of a notice ('Ana changed the subject to "Trip'), not a name."""
    return any(quote in head for quote in '"“”«»') or bool(_ACTS.search(head))


def cut_edited(text: str) -> tuple[str, bool]:
    """Return a message without the phrase that says that it was edited, and whether there was one."""
    for match in _BRACKETED.finditer(text, max(0, len(text) - 80)):
        if match.end() == len(text) and _has(match[1], _EDITED):
            return text[: match.start()].rstrip(), True
    return text, False


def cut_attachments(text: str) -> tuple[str, list[str]]:
    """Return a message without the phrases that stand for attachments, and their names; "image" if it has no name."""
    names: list[str] = []

    def take(match: re.Match[str]) -> str:
        names.append(unmarked(match["ios"] or match["android"]).strip())
        return ""

    rest = _ATTACHED.sub(take, text) if "<" in text or "(" in text else text
    first, _, caption = rest.partition("\n")
    if phrase := _omitted(first):
        names.append(phrase)
        rest = caption
    elif (at := first.rfind("\u200e")) > 0 and (phrase := _omitted(first[at:])):  # iOS: a caption before
        names.append(phrase)
        rest = f"{first[:at].rstrip()}\n{caption}"
    return rest.strip("\n"), names


def _omitted(line: str) -> str | None:
    """Return what a line says was omitted; None if it is somebody's words."""
    plain = unmarked(line).strip()
    bracketed = _BRACKETED.fullmatch(plain)
    if not (bracketed or line[:1] in "\u200e\u200f") or len(plain) > 60:
        return None
    said = bracketed[1] if bracketed else plain
    if not _has(said, _OMITTED):
        return None
    return said.removesuffix(" omitted").casefold() if said.endswith(" omitted") else said


def _has(text: str, phrases: tuple[str, ...]) -> bool:
    plain = unmarked(text).casefold()
    return any(phrase in plain for phrase in phrases)
