"""The training learns: from a toy treebank it takes the grammar of it."""

from pathlib import Path

from training.language import measure, quantise, train_tagger
from training.treebank import read
from vicw_english.tagging.tagger import TAGS


def treebank(path: Path, names: str, verbs: str) -> Path:
    sentences = (
        f"# {name} {verb}\n1\t{name}\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\t{verb}\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
        "3\tit\t_\tPRON\t_\t_\t2\tobj:other\t_\t_\n3.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n"
        for name in names.split()
        for verb in verbs.split()
    )
    path.write_text("\n".join(sentences) + "\n")
    return path


def test_the_tagger_learns_the_tags_of_a_toy_treebank(tmp_path: Path) -> None:
    known = list(read(treebank(tmp_path / "a.conllu", "Ana Ben Cleo Dan", "takes makes breaks wakes")))
    other = list(read(treebank(tmp_path / "b.conllu", "Eva Finn", "bakes fakes")))
    weights = quantise(train_tagger(known, epochs=3))
    assert measure(other, weights)["tags"] == 1.0


def test_a_treebank_sentence_is_read_without_empty_nodes(tmp_path: Path) -> None:
    (tree,) = read(treebank(tmp_path / "a.conllu", "Ana", "takes"))
    assert tree.words == ("Ana", "takes", "it", ".")
    assert [TAGS[tag] for tag in tree.tags] == ["PROPN", "VERB", "PRON", "PUNCT"]
