#!/usr/bin/env bash
# mammoth 1.13.0 (Word to HTML) beside python-docx 1.2.0, on a document that is valid by ECMA-376.
#
# Expected: a `w:style` may leave out `w:type` (it is then one of paragraphs) and `w:styleId`: the schema calls both
# optional. A reader takes the document, at worst without that style.
# Seen: mammoth ends with KeyError 'w:type', and KeyError 'w:styleId' once the type is there, before it has read a word of
# the text, although nothing in the text uses the style. python-docx reads it. Generators of documents write such styles.
#
# Needs python3 (3.9 or later) and PyPI. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mammoth==1.13.0 python-docx==1.2.0

cat >"$work/styles.py" <<'PY'
"""Read one document with both libraries, its second style with and without what the schema calls optional."""
import io, re, sys, zipfile

import docx
import mammoth

MEMBER = "word/styles.xml"


def document(attributes):
    """Return a document of one paragraph, as python-docx writes it, with one more style that nothing uses."""
    written = io.BytesIO()
    new = docx.Document()
    new.add_paragraph("The ferry sails at nine.")
    new.save(written)
    changed = io.BytesIO()
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == MEMBER:
                style = b'<w:style %s><w:name w:val="Unused"/></w:style></w:styles>' % attributes
                data = re.sub(rb"</w:styles>\s*$", style, data)
            target.writestr(name, data)
    return changed


def outcome(read, attributes):
    try:
        return read(document(attributes))
    except Exception as error:
        return repr(error)


def by_mammoth(file):
    return mammoth.extract_raw_text(file).value.strip()


def by_python_docx(file):
    return "\n".join(paragraph.text for paragraph in docx.Document(file).paragraphs)


TEXT = "The ferry sails at nine."
expected = {
    b'w:type="paragraph" w:styleId="Unused"': (TEXT, TEXT),
    b'w:styleId="Unused"': ("KeyError('w:type')", TEXT),
    b'w:type="paragraph"': ("KeyError('w:styleId')", TEXT),
}
seen = {given: (outcome(by_mammoth, given), outcome(by_python_docx, given)) for given in expected}
for given, (first, second) in seen.items():
    print(f"<w:style {given.decode()}>: mammoth: {first}; python-docx: {second}")
sys.exit(seen != expected)
PY
"$work/venv/bin/python" "$work/styles.py" || { echo "the behaviour has changed" >&2; exit 1; }
echo "as described: mammoth 1.13.0 takes no document with a style that leaves out its type or id"
