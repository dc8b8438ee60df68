"""The words by which a reply, in any of many languages, announces its verdict; single words, in lower case."""

import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(unicodedata.normalize("NFKC", text).split())


def _endings(text: str) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFKC", text).split())


# "Answer": enough by itself, before a colon or an "is", to make the letter after it a verdict.
ANSWER = _words(
    "answer ans réponse reponse respuesta resposta risposta antwort antwoord svar svaret vastaus odpowiedź"
    " odpowiedz odpověď odpoved odpoveď odgovor cevap cevabım yanıt yanıtım válasz válaszom răspuns raspuns"
    " răspunsul απάντηση απαντηση ответ відповідь отговор одговор jawaban jawapan sagot jibu vastus atsakymas"
    " atbilde उत्तर जवाब الإجابة الاجابة إجابة إجابتي الجواب جواب پاسخ תשובה התשובה উত্তর பதில் సమాధానం"
)
# The same in scripts without spaces, or with particles stuck on: looked for at the end of what precedes the letter.
ANSWER_ENDINGS = _endings("答案 答え こたえ 回答 解答 正解 정답 답변 해답 답 答 คำตอบ")
ANSWER_PAIRS = frozenset({("đáp", "án"), ("trả", "lời")})

# Weaker nouns: a verdict where the letter stands alone after their colon, or after an "is".
WEAK = _words(
    "verdict final winning letter choice pick selection decision prediction guess winner solution result"
    " conclusion bet vote fastest quickest best recommendation choix rapide elección eleccion escolha scelta"
    " wahl lösung ergebnis fazit schnellste schnellster schnellsten selección rápida rápido veloce snelste"
    " keuze snabbast snabbaste nopein wybór najszybszy najszybsza volba nejrychlejší seçim seçimim hızlısı"
    " leggyorsabb выбор вибір итог вывод вердикт быстрый быстрая быстрее pilihan tercepat الأسرع الاختيار"
    " בחירה"
    " ganador ganadora gewinner gagnant gagnante vencedor vencedora vincitore winnaar быстрым победитель"
)
WEAK_ENDINGS = _endings("选择 選擇 结论 結論 選択 选项 선택 결론 最快的 最快 最速")

COPULA = _words(
    "is are was be being it's that's remains stays becomes est serait sera reste c'est n'est ist wäre lautet"
    " bleibt es sería será é è sarebbe это является будет остаётся є це är er on olisi jest to je bude van"
    " este είναι adalah ialah là है हैं هي هو هى היא הוא 是 为 為 は が 은 는 คือ"
)
COPULA_ENDINGS = _endings("应该是 應該是 應為 应为 就是 是 为 為 選項 选项 選択肢 입니다 は が 은 는 이 คือ ข้อ 으로 로")
CHOOSE_ENDINGS = _endings("选 選 选择 選擇 เลือก 我会 我會")

# Words that may stand between a noun or verb and its letter; none of them names a rewrite.
BETWEEN = _words(
    "option options rewrite choice variant version kernel candidate letter implementation number no. the one"
    " code labelled labeled marked most likely probably clearly definitely certainly therefore thus hence"
    " still indeed then simply surely almost obviously again actually now would will should must has have to"
    " seems appears looks like going my either both between correct right final overall text textbf textit"
    " textrm mathbf mathrm mathsf mathtt bf rm bold l'option la le lo el il une un die der das de het opción"
    " opcion opção opcao opzione optie variante réécriture lettre letra lettera buchstabe versão versión"
    " versione вариант варианта варіант буква версия vaihtoehto alternativ alternativet opcja wariant možnost"
    " varianta možnosť seçenek şık opció opțiunea varianta επιλογή η το опция opsi phương án donc probablement"
    " daher also wahrscheinlich klar somit portanto probablemente claramente quindi probabilmente поэтому"
    " вероятно скорее всего dus więc tedy muhtemelen विकल्प الخيار خيار אפשרות האפשרות ตัวเลือก 选项 選項"
    " 選択肢 선택지 옵션 보기 방법 方案 yang nr i'd i'll i i'm think believe 번"
)

# "I choose": these need a subject nearby, or the start of a sentence.
CHOOSE = _words(
    "choose chose pick picked select selected go going went opt vote bet settle settled predict recommend say"
    " guess stick keep stay take lean choosing picking selecting settling expect favour favor conclude"
)
# First-person forms of other languages, which carry their subject.
CHOOSE_OWN = _words(
    "choisis choisirais prends dirais retiens opte wähle nehme tippe entscheide elijo elegiría elegiria"
    " escojo escogería quedo diría opto escolho escolheria fico scelgo sceglierei direi kies ga väljer velger"
    " vælger valitsen wybieram wybrałbym volím vybírám выбираю выберу выбрал выбрала обираю вибираю aleg"
    " επιλέγω memilih pilih chọn أختار اختار"
)
PREPOSITIONS = _words("with for on to towards toward pour für auf mich con por com per voor za na за")
SUBJECTS = _words("i i'd i'll i'm i’d i’ll i’m we we'd let's let me")
CONCLUSIONS = _words(
    "definitely clearly certainly probably so therefore thus hence conclusion donc daher also quindi portanto"
    " следовательно итак 因此 所以 따라서"
)

SUPERLATIVE = _words("fastest quickest best winner")
RIGHT = _words("right correct")
EMPHASIS = _words("by far a clear easily expected to absolute single overall")
WIN_VERBS = _words("wins win")
# Said of the letter right before it.
SAID_AFTER = (
    "est la plus rapide", "est le plus rapide", "sera la plus rapide", "serait la plus rapide",
    "sera le plus rapide", "ist am schnellsten", "ist die schnellste", "ist der schnellste",
    "ist das schnellste", "wählen", "ist die richtige", "es la más rápida", "es el más rápido",
    "es la mejor", "será la más rápida", "es la correcta", "é a mais rápida", "é o mais rápido",
    "será a mais rápida", "é a correta", "è la più veloce", "è il più veloce", "sarà la più veloce",
    "is het snelst", "is de snelste", "är snabbast", "är den snabbaste", "er hurtigst", "er den raskeste",
    "on nopein", "jest najszybszy", "jest najszybsza", "jest najszybsze", "je nejrychlejší",
    "je najrýchlejšia", "en hızlısı", "en hızlı", "a leggyorsabb", "este cea mai rapidă",
    "είναι το πιο γρήγορο", "είναι η πιο γρήγορη", "самый быстрый", "самая быстрая", "быстрее всех",
    "будет самым быстрым", "является самым быстрым", "найшвидший", "adalah yang tercepat", "paling cepat",
    "là nhanh nhất", "nhanh nhất", "เร็วที่สุด", "सबसे तेज़", "सबसे तेज", "هو الأسرع", "هي الأسرع",
    "הוא המהיר ביותר", "היא המהירה ביותר", "最快", "是最快", "为最快", "會最快", "会最快", "が最速",
    "が最も速い", "が一番速い", "は最速", "を選びます", "を選択", "を選ぶ", "が正解", "が答え", "가 가장 빠",
    "이 가장 빠", "를 선택", "을 선택", "가 정답", "이 정답", "번이 가장 빠", "번이 정답",
)  # fmt: skip

JOINERS = _words(
    "/ | & + ~ = > ≥ ≈ 、 or and and/or nor oder und ou et o y e of en lub albo i nebo a veya ve vagy sau ή"
    " или и або atau hoặc và หรือ และ या और أو או 或 或者 和 与 與 または か と 또는 혹은 이나 나 와 과 eller"
    " och og tai ja"
)

# A sentence with one of these claims nothing.
CANNOT = (
    "not that", "n't think", "not think", "n't believe", "not believe", "not sure", "not clear", "not convinced",
    "i doubt",
    "cannot", "can't", "can not", "unable to", "impossible to", "not possible to", "hard to say",
    "difficult to say", "no way to", "don't know", "do not know", "not able to", "couldn't", "could not",
    "je ne peux pas", "impossible de", "kann nicht", "no puedo", "não posso", "non posso", "не могу",
    "невозможно", "无法", "無法", "できません", "할 수 없",
)  # fmt: skip
NOT = _words(
    "not never neither nor rather instead than except without unlike avoid reject eliminate rule ruled"
    " excluding pas jamais nicht kein keine nie niemals não non не ни niet inte ikke ei değil nem nu δεν όχι"
    " bukan tidak không ไม่ नहीं ليس ليست לא 不是 不会 不會 非 不 아니"
)
BUT = _words("but sondern mais sino mas ma rather instead а")
# What makes a claim about a letter a supposition, or someone else's.
SUPPOSED = _words(
    "if whether suppose supposing assume assuming unless might could may naive naively tempting initially"
    " first which why people si wenn ob se если falls hypothetically were"
)
# After a letter: what it says is no claim.
DOUBTS = _words("if unless when could may might")
WRONG = _words("wrong incorrect bad false losing worst slowest second next runner-up second-fastest second-best")

# After a capital A, words that an article cannot stand before: the A was the letter.
AFTER_LETTER = _words(
    "is was are will would should must has had because since as due for and or but with without by at in on"
    " to from which that who it its over than not if so while when where though although given thanks based"
    " followed gets can cannot does being also still therefore hence thus then est car parce puisque qui avec"
    " sans et ist weil da denn mit ohne und wegen es porque ya con sin pues é com sem pois e è perché poiché"
    " senza omdat want met då eftersom потому так как и с без является ponieważ bo protože vì çünkü fordi"
    " koska"
)
# After a weak label's letter: the letter still stands alone.
REASONS = _words(
    "because since as due for thanks given by with which based car parce puisque weil da denn porque perché"
    " потому так omdat ponieważ protože vì çünkü"
)
