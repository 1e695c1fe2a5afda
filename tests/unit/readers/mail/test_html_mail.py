"""Mails of HTML: what their readers see stays, with where it leads."""

from __future__ import annotations

from vicw_readers.documents.html.text import mail_text, readable_text


def test_a_button_has_its_words_and_its_address() -> None:
    html = "<p>Hello</p><a href='https://x.y/ok'><button>Confirm the booking</button></a>"
    assert mail_text(html) == "Hello\nConfirm the booking (https://x.y/ok)"
    assert readable_text(html) == "Hello", "a note's page has buttons of its program"


def test_the_cells_of_a_row_are_of_one_line() -> None:
    html = "<table><tr><th>Flour</th><td>2 kg</td><td><b>7 €</b></td></tr><tr><td>Rye<td>9 €</table>"
    assert mail_text(html) == "Flour 2 kg 7 €\nRye 9 €"
    assert mail_text("<table><tr><td><p>Left</p></td><td><p>Right</p></td></tr></table>") == "Left\nRight"
