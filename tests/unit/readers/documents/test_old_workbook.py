"""Workbooks of Excel before 2007: their rows are read, other files in that container are refused."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, refusals_in, written

_PACKED = (
    "c-rk)O=uHA6#izD%^yvgw5iYvB@~QWdl4^QYE-Zl#L%CEB7&yPqM;#?O(N()t2HMP1W$^WLN8vbUi?81dh;Mu^dJaAqDQ?53Le_5"
    "Z{F_4RC8!RgOUA~dGqGI`F3XK&Cl+>T8UH^?+;Y*3--W;n&F41!6qpA?LrvjHw>xTxsQ_JprhdTQ6N1ko&;ZdWejD!t59&y{hTE5"
    "fzolDK{B7yVr|5J?n6q*K8y-C%{>LTDTUC_{pw*k%d(f{U9S6-<zBX2V>wE7E8-Yd63OA+);vC{46!dnQs5zT-mzsT`tU-|<BQjY"
    "Sy#nAJ(J4*n~p(u7nVSg8`pB0p2}7br4TORn-K%P+H3V$%(1uEE<pD0>+Rkq_8W>Dn1^vv$cb1+5H*+ds5qE8s};&LLqDrB-X1cf"
    "(^_s7W4zDGL{wRe{F5b3%TazPlg$?>Pv-UFX>w1ePNk?goiA~5s+3F70xxK@x>gLx-JDl{c-`s`@|x%(nMOD35ndT#YIF6@m)D19"
    "CK4yuGS9s*&xI}WL15sLWDq&T9#>rsGh+wK%Y4_(tPik^(gRZ-pXjrcu?4Pkg}rfVXBXp5VrzrGjr8)T$w!0bkBRN1FOOHxN0;9w"
    "7BNKURGRqmTEK`H5w~tiJWklTuy&C5Ec<`kO?*n&>bqebe%)9@fYk^~vm{4H)JuvrR+256um!VSR(-*2Ic^t}0Pk=ST<ta4N)xui"
    "Y}I0$k?~k;h1qd=aw|P}Agj_Y_!I4jwy4WajkahSZLdA5Xf~=295`^`z<~n?odv;ft>!zrn?F3v_d>7rUuTU{&G}98-(m`Rx{CB!"
    "dH^}fb)0Ky{%nFO?0bm~a_s+w5=W?Y9dnrBe$2Hzf9btmG(OLUiQzxDgj#LC)=EGBa{E63_R;}a"
)
"""A workbook in the format of Excel 97: two hives on a sheet, and a hidden sheet."""


@pytest.fixture
def workbook() -> bytes:
    return zlib.decompress(base64.b85decode(_PACKED))


def test_rows_of_an_old_workbook_are_read(tmp_path: Path, workbook: bytes) -> None:
    (item,) = items_in(written(tmp_path / "hives.xls", workbook))
    assert (item.reader, item.item.name) == ("xlsx", "hives > Rows 2-3")
    assert item.item.text == "Hive | Queen | Kilos\nNorth | Saga | 12.5\nSouth | Runa | 9"


def test_the_same_container_under_another_name_is_refused_with_the_way_out(tmp_path: Path, workbook: bytes) -> None:
    (refused,) = refusals_in(written(tmp_path / "hives.doc", workbook))
    assert (refused.kind, ".xlsx" in refused.fix) == ("encrypted or old Office file", True)


@pytest.mark.parametrize("size", [600, 3000])
def test_a_cut_workbook_is_refused(tmp_path: Path, workbook: bytes, size: int) -> None:
    (refused,) = refusals_in(written(tmp_path / "hives.xls", workbook[:size]))
    assert (refused.kind, bool(refused.fix)) == ("spreadsheet", True), refused
