"""Frequent words of each language in Latin letters, and letters that only few languages have: what detection votes by.

They are not removed from any text: IDF weighs them.
"""

from __future__ import annotations

from collections.abc import Mapping

from vicw_shared.text import unaccented

_STOP_WORDS = {
    "czech": "a aby ale ani asi bez bude by byl byla být co další do ho i jak jako je jeho její jejich jen ještě jsem "
    "jsme jsou k kde kdo kdy když která které který mezi mi na nebo není než o od po pod podle pouze pro protože před "
    "při s se si ta tak také tento to tohoto tu už v ve více však z za ze že",
    "danish": "af alle at blev blive bliver da de den denne der deres det dette dig din du efter eller en er et for "
    "fra ham han hans har havde hende her hun hvad hvor hvordan hvornår hvorfor i ikke ind jeg jer kan kunne man mange "
    "med meget men mig min mod når nogle nu og også om op os over på sig sin skal skulle som så til ud under var vi "
    "vil ville være været",
    "dutch": "aan al als bij dan dat de deze die dit doen door dus een en er ge geen haar had heb hebben heeft hem het "
    "hier hij hoe hun ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet nog nu of om omdat "
    "onder ons ook op over te tot u uit van veel voor waar waarom wanneer want waren was wat welke werd wie wij wil "
    "worden wordt zal ze zei zich zij zijn zo zonder zou",
    "english": "a about after all also an and any are as at be because been before but by can could did do does each "
    "for from had has have he her here him his how i if in into is it its just like more most my no not of on one only "
    "or other our out over said she should so some than that the their them then there these they this through to up "
    "us was we were what when where which while who why will with would you your",
    "finnish": "ei eikä en entä eri että he hän häneen hänen ilman itse ja jo joita joka jonka jos jossa jotka jotta "
    "kaikki kanssa koska koskaan kuin kuinka kun kuten kuka me mihin mikä mikään miksi milloin minä minun missä mitä "
    "mitkä mukaan mutta myös ne niin niitä noin nyt näin ole oli olin olisi olivat olla on ovat se sekä sen siellä "
    "siihen siinä sitä sinä tai tai tämä tämän tässä vain vaan vielä voi",
    "french": "à au aussi aux avait avec avoir bien ce cela ces cet cette chez comme comment dans de depuis des donc "
    "du elle elles en entre est et était été être eu fait faire fut il ils je la le les leur leurs lui mais me même "
    "mes moi mon ne nos notre nous on ont où ou par pas peut plus pour pourquoi quand que quel quelle quelles qui sa "
    "sans se ses si son sont sous sur ta te tes toi ton tous tout très tu un une vos votre vous",
    "german": "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dem den der des die "
    "dies diese dieser dir doch du durch ein eine einem einen einer eines er es für gegen hab habe haben hat hatte "
    "hier ich ihm ihr ihre im in ist ja kann kein keine man mein mit muss nach nicht noch nun nur ob oder ohne sein "
    "seine sich sie sind so über um und uns unter vom von vor wann war waren warum was wenn wer werden wie wieder wir "
    "wird wo wurde zu zum zur zwischen",
    "hungarian": "a ahol aki akkor ami amit amíg az azért azonban azt által be benne csak de egy egyik ekkor ez ezek "
    "ezért ezt ha hanem hogy hogyan hol honnan igen ilyen is jó ki kell két le lehet lenne lesz ma majd már meg mely "
    "melyek mert mi miért mikor milyen mint mit most nagy ne nem nincs olyan ott össze pedig s sem sok szerint és "
    "talán több utána után valaki való van vagy volt volna voltak",
    "indonesian": "ada adalah agar akan aku anda antara apa apakah atas atau bagaimana bagi bahwa banyak belum berapa "
    "bisa boleh bukan dalam dan dapat dari dengan di dia hanya harus ia ini itu jika juga kami kapan karena ke kepada "
    "ketika kita lagi lebih mana masih mengapa mereka oleh pada para saat saja sangat saya sebagai sebuah secara "
    "sedang sekarang seperti serta siapa sudah supaya tahun telah tentang terhadap tidak untuk yang",
    "italian": "ad ai al alla alle allo anche ancora avere avete aveva c che chi ci come con contro cosa cui da dagli "
    "dai dal dalla dalle de degli dei del della delle dello di dopo dove e è ed era erano essere fa fra fu gli ha "
    "hanno ho i il in io l la le lei li lo loro lui ma mi mia mio molto ne negli nei nel nella nelle noi non nostro o "
    "ogni per perché però più prima qual quale quando quanto quella quello questa questo se sei senza si sia sono "
    "stata stato su sua sul sulla suo te ti tra tu tutti tutto un una uno voi",
    "norwegian": "alle at av ble bli blir da de deg den denne der dere deres det dette din du eller en enn er et etter "
    "for fordi fra før ha hadde han hans har hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke inn "
    "jeg kan kunne kun man mange med meg meget men mer min mot mye ned nei noe noen nå når og også om opp oss over på "
    "seg selv si siden sin skal skulle slik som så til ut var ved vi vil ville være vært",
    "polish": "a aby ale albo bardzo bez by być był była było były ci co czy dla do gdy gdzie go i ich im ja jak jako "
    "jakie je jego jej jest jestem jeszcze jeśli już kiedy kto która które który lub ma mam mi między mnie może na nad "
    "nam nas nawet nic nich nie niż o od on ona one oni oraz po pod ponieważ przed przez przy są się skąd ta tak także "
    "tam te tego tej ten to tylko tym u w we więc wszystko z za ze że",
    "portuguese": "à ao aos as às até com como da das de dela dele depois do dos e é ela elas ele eles em entre era "
    "essa esse esta está estão este eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem "
    "no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque porquê qual quando que quem se "
    "sem ser seu seus só sua suas também te tem ter teu tinha tua um uma você vocês",
    "romanian": "a acea această acest aceasta acum ai aici al ale am ar are așa asta au avea că când care ce cea cel "
    "cele cei ci cine cu cum dar de deci decât din dintre doar după e ea ei el ele era este eu fi fie fost în îi îl "
    "îmi într la le li lor lui mai mi mult nici nu o ori pe pentru pot prin sa să sale sau se si și sunt sub te toate "
    "tot un una unde unei unor unui va vor",
    "spanish": "al algo ante antes aquí así aún aunque cada como cómo con contra cual cuando cuándo cuál de del desde "
    "donde dónde durante e el él ella ellos en entre era eran es esa ese eso esta está están este esto fue fueron ha "
    "había han hasta hay la las le les lo los más me mi mis muy nada ni no nos nosotros nuestro o os otra otro para "
    "pero poco por porque porqué pues que qué quien quién se ser si sí siempre sin sobre son su sus también te tiene "
    "todo todos tu tus un una uno unos usted y ya yo",
    "swedish": "alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din du där då efter ej "
    "eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke in inte jag kan kunde man med "
    "mellan men mig min mot mycket ni nu när någon något några och om oss på samma sedan sig sin sitt ska skulle som "
    "så till under upp ut utan vad var varför varje vara vem vi vid vilka vilken vilket är över",
    "turkish": "acaba ama ancak artık aslında az bana bazı belki ben beni benim bile bir biraz biri birkaç biz bize bu "
    "buna bunlar bunu burada çok çünkü da daha de değil diye en gibi göre hangi hem hep hepsi her hiç için ile ise "
    "kadar kez ki kim mı mi mu mü nasıl ne neden nerede niçin o olan olarak oldu olduğu on ona onlar onu onun sen siz "
    "sonra şey şimdi şu tüm ve veya var ya yani yok zaten",
}
_LETTERS = {
    "ß": "german",
    "ñ": "spanish",
    "¿": "spanish",
    "ł": "polish",
    "ś": "polish",
    "ő": "hungarian",
    "ű": "hungarian",
    "ã": "portuguese",
    "õ": "portuguese",
    "ğ": "turkish",
    "ı": "turkish",
    "ș": "romanian",
    "ț": "romanian",
    "ř": "czech",
    "ů": "czech",
    "ě": "czech",
}


def _votes() -> dict[str, Mapping[str, float]]:
    languages: dict[str, set[str]] = {}
    for language, words in _STOP_WORDS.items():
        for word in words.split():
            if len(word) == 1 and word.isascii():
                continue  # an initial, a variable
            for form in {word, unaccented(word)}:
                languages.setdefault(form, set()).add(language)
    for letter, language in _LETTERS.items():
        languages[letter] = {language}
    return {word: dict.fromkeys(sorted(found), 1 / len(found)) for word, found in languages.items()}


LANGUAGES = tuple(_STOP_WORDS)
VOTES = _votes()
"""By word, or letter of ``LETTERS``: the weight of its vote for each language that has it; they add up to 1."""
LETTERS = frozenset(_LETTERS)
