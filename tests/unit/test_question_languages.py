"""Times and cues of questions in nine languages besides English.

The table was written before the code that reads it. Wednesday, 10 June 2026 is the day of asking.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.retrieve.question.analyse import Analysis, analyse
from cognigraph.retrieve.question.temporal import NamedDate, TimeWindow
from tests.cases import each

NOW = datetime(2026, 6, 10, 9, tzinfo=UTC)

TABLE = {
    "2026-06-09/2026-06-10": """
        de: Was habe ich gestern gekauft?
        fr: Qu'est-ce que j'ai mangé hier ?
        es: ¿Qué compré ayer en la tienda?
        pt: O que eu comprei ontem na loja?
        it: Che cosa ho comprato ieri al mercato?
        nl: Wat heb ik gisteren gekocht?
        zh: 我昨天买了什么？
        ja: 昨日は何を買いましたか？
        ko: 어제 내가 뭘 샀지?
    """,
    "2026-06-08/2026-06-09": """
        de: Wen habe ich vorgestern getroffen?
        fr: Qui est-ce que j'ai vu avant-hier ?
        es: ¿Con quién hablé anteayer por teléfono?
        pt: Com quem eu falei anteontem?
        it: Con chi ho parlato l'altro ieri?
        nl: Met wie heb ik eergisteren gebeld?
        zh: 前天我跟谁吃的饭？
        ja: おとといは誰と会いましたか？
        ko: 그저께 누구를 만났지?
    """,
    "2026-06-01/2026-06-08": """
        de: Was war letzte Woche mit der Heizung?
        de: Wo war ich in der vergangenen Woche?
        fr: Qu'est-ce que j'ai fait la semaine dernière ?
        fr: Où étais-je la semaine passée ?
        es: ¿Qué hice la semana pasada?
        pt: O que eu fiz na semana passada?
        it: Che cosa ho fatto la settimana scorsa?
        nl: Wat heb ik vorige week gedaan?
        nl: Waar was ik afgelopen week?
        zh: 上周我去了哪里？
        zh: 上个星期我跟医生说了什么？
        zh: 上週我去了哪裡？
        ja: 先週はどこへ行きましたか？
        ko: 지난주에 어디 갔었지?
        ko: 지난 주에 누구를 만났지?
    """,
    "2026-05": """
        de: Was habe ich im letzten Monat bezahlt?
        fr: Qu'est-ce que j'ai payé le mois dernier ?
        es: ¿Qué pagué el mes pasado?
        pt: O que eu paguei no mês passado?
        it: Che cosa ho pagato il mese scorso?
        nl: Wat heb ik vorige maand betaald?
        zh: 上个月我买了什么？
        ja: 先月は何を払いましたか？
        ko: 지난달에 뭘 샀지?
    """,
    "2025": """
        de: Wohin bin ich letztes Jahr gefahren?
        de: Wohin sind wir im vorigen Jahr gefahren?
        fr: Où sommes-nous allés l'année dernière ?
        es: ¿Adónde viajamos el año pasado?
        pt: Para onde viajamos no ano passado?
        it: Dove siamo andati l'anno scorso?
        nl: Waar zijn we vorig jaar geweest?
        zh: 我们去年去了哪里旅行？
        ja: 去年はどこへ旅行しましたか？
        ko: 작년에 어디로 여행 갔지?
    """,
    "2026-06-08/2026-06-15": """
        de: Was habe ich diese Woche vor?
        fr: Qu'est-ce que je dois faire cette semaine ?
        es: ¿Qué tengo que hacer esta semana?
        pt: O que eu tenho que fazer esta semana?
        it: Che cosa devo fare questa settimana?
        nl: Wat moet ik deze week doen?
        zh: 这周我要做什么？
        ja: 今週は何をしますか？
        ko: 이번 주에 뭐 해야 하지?
    """,
    "2026": """
        de: Was habe ich dieses Jahr für das Auto bezahlt?
        fr: Qu'est-ce que j'ai acheté cette année ?
        es: ¿Qué compré este año para la casa?
        pt: O que eu comprei este ano para a casa?
        it: Che cosa ho comprato quest'anno per la casa?
        nl: Wat heb ik dit jaar voor het huis gekocht?
        zh: 今年我买了什么？
        ja: 今年は何を買いましたか？
        ko: 올해 내가 뭘 샀지?
    """,
    "2026-06-07/2026-06-08": """
        de: Was habe ich vor 3 Tagen gesagt?
        de: Was habe ich vor drei Tagen gesagt?
        fr: Qu'est-ce que j'ai dit il y a trois jours ?
        es: ¿Qué dije hace tres días?
        pt: O que eu disse há três dias?
        pt: O que eu disse 3 dias atrás?
        it: Che cosa ho detto tre giorni fa?
        nl: Wat heb ik drie dagen geleden gezegd?
        zh: 三天前我说了什么？
        ja: 3日前に何と言いましたか？
        ja: 三日前に何と言いましたか？
        ko: 3일 전에 내가 뭐라고 했지?
        ko: 사흘 전에 내가 뭐라고 했지?
    """,
    "2026-05-25/2026-06-01": """
        de: Wer war vor zwei Wochen bei uns?
        fr: Qui est venu chez nous il y a deux semaines ?
        es: ¿Quién vino hace dos semanas?
        pt: Quem veio aqui há duas semanas?
        it: Chi è venuto due settimane fa?
        nl: Wie was er twee weken geleden bij ons?
        zh: 两周前谁来过我们家？
        zh: 两个星期前谁来过我们家？
        ja: 二週間前に誰が来ましたか？
        ko: 2주 전에 누가 왔었지?
        ko: 두 주 전에 누가 왔었지?
    """,
    "2026-03-": """
        de: Was habe ich vor drei Monaten gesagt?
        fr: Qu'est-ce que j'ai dit il y a trois mois ?
        es: ¿Qué dije hace tres meses?
        pt: O que eu disse há três meses?
        it: Che cosa ho detto tre mesi fa?
        nl: Wat heb ik drie maanden geleden gezegd?
        zh: 三个月前我说了什么？
        ja: 3か月前に何と言いましたか？
        ko: 세 달 전에 내가 뭐라고 했지?
        ko: 3개월 전에 내가 뭐라고 했지?
    """,
    "--03": """
        de: Was habe ich im März gekauft?
        fr: Qu'est-ce que j'ai acheté en mars ?
        es: ¿Qué compré en marzo?
        pt: O que eu comprei em março?
        it: Che cosa ho comprato a marzo?
        nl: Wat heb ik in maart gekocht?
        zh: 三月份我买了什么？
        ja: 3月に何を買いましたか？
        ko: 3월에 뭘 샀지?
    """,
    "--05": """
        de: Wo war ich im Mai?
        fr: Où étais-je en mai ?
        es: ¿Dónde estuve en mayo?
        pt: Onde eu estava em maio?
        it: Dove sono stato a maggio?
        nl: Waar was ik in mei?
        zh: 我5月在哪里？
        ja: 五月はどこにいましたか？
        ko: 5월에 어디 있었지?
    """,
    "2025-03": """
        de: Was habe ich im März 2025 gekauft?
        de: Was habe ich im März letzten Jahres gekauft?
        fr: Qu'est-ce que j'ai acheté en mars 2025 ?
        fr: Qu'est-ce que j'ai acheté en mars de l'année dernière ?
        es: ¿Qué compré en marzo de 2025?
        es: ¿Qué compré en marzo del año pasado?
        pt: O que eu comprei em março de 2025?
        pt: O que eu comprei em março do ano passado?
        it: Che cosa ho comprato nel marzo 2025?
        it: Che cosa ho comprato nel marzo dell'anno scorso?
        nl: Wat heb ik in maart 2025 gekocht?
        nl: Wat heb ik in maart vorig jaar gekocht?
        zh: 2025年3月我买了什么？
        zh: 去年三月我买了什么？
        ja: 2025年3月に何を買いましたか？
        ja: 去年の3月に何を買いましたか？
        ko: 2025년 3월에 뭘 샀지?
        ko: 작년 3월에 뭘 샀지?
    """,
    "--05-03": """
        de: Wo war ich am 3. Mai?
        fr: Où étais-je le 3 mai ?
        es: ¿Dónde estuve el 3 de mayo?
        pt: Onde eu estava no dia 3 de maio?
        it: Dove sono stato il 3 maggio?
        nl: Waar was ik op 3 mei?
        zh: 5月3号我在哪里？
        ja: 5月3日はどこにいましたか？
        ko: 5월 3일에 어디 있었지?
    """,
    "2025-05-03": """
        de: Wo war ich am 3. Mai 2025?
        de: Wo war ich am 3.5.2025?
        fr: Où étais-je le 3 mai 2025 ?
        fr: Où étais-je le 03/05/2025 ?
        es: ¿Dónde estuve el 3 de mayo de 2025?
        es: ¿Dónde estuve el 03/05/2025?
        pt: Onde eu estava no dia 3 de maio de 2025?
        pt: Onde eu estava no dia 03/05/2025?
        it: Dove sono stato il 3 maggio 2025?
        it: Dove sono stato il 3/5/2025?
        nl: Waar was ik op 3 mei 2025?
        nl: Waar was ik op 03-05-2025?
        zh: 2025年5月3日我在哪里？
        zh: 2025-05-03我在哪里？
        ja: 2025年5月3日はどこにいましたか？
        ja: 2025/05/03はどこにいましたか？
        ko: 2025년 5월 3일에 어디 있었지?
        ko: 2025.05.03에 어디 있었지?
    """,
    "2026-06-08/2026-06-09 ": """
        de: Mit wem habe ich letzten Montag gegessen?
        fr: Avec qui ai-je mangé lundi dernier ?
        es: ¿Con quién comí el lunes pasado?
        pt: Com quem eu comi na segunda-feira passada?
        it: Con chi ho mangiato lunedì scorso?
        nl: Met wie heb ik afgelopen maandag gegeten?
    """,
    "2026-06-01/2026-06-02": """
        zh: 上周一我跟谁吃的饭？
        zh: 上个星期一我跟谁吃的饭？
        ja: 先週の月曜日は誰と食べましたか？
        ko: 지난주 월요일에 누구랑 먹었지?
    """,
    "../2026-05-03": """
        de: Was habe ich vor dem 3. Mai über das Auto gesagt?
        fr: Qu'est-ce que j'ai dit avant le 3 mai ?
        es: ¿Qué dije antes del 3 de mayo?
        pt: O que eu disse antes de 3 de maio?
        it: Che cosa ho detto prima del 3 maggio?
        nl: Wat heb ik vóór 3 mei gezegd?
        zh: 5月3日之前我说了什么？
        ja: 5月3日より前に何と言いましたか？
        ko: 5월 3일 이전에 내가 뭐라고 했지?
    """,
    "2026-04-01/..": """
        de: Was habe ich nach März über das Auto gesagt?
        fr: Qu'est-ce que j'ai dit après mars ?
        es: ¿Qué dije después de marzo?
        pt: O que eu disse depois de março?
        it: Che cosa ho detto dopo marzo?
        nl: Wat heb ik na maart gezegd?
        zh: 3月之后我说了什么？
        ja: 3月より後に何と言いましたか？
        ko: 3월 이후에 내가 뭐라고 했지?
    """,
    "2026-03-01/..": """
        de: Was habe ich seit März ausgegeben?
        fr: Qu'est-ce que j'ai dépensé depuis mars ?
        es: ¿Qué he gastado desde marzo?
        pt: O que eu gastei desde março?
        it: Che cosa ho speso da marzo?
        nl: Wat heb ik sinds maart uitgegeven?
        zh: 从三月起我买了什么？
        zh: 3月以来我买了什么？
        ja: 3月から何を買いましたか？
        ko: 3월부터 뭘 샀지?
    """,
    "../2026-05-04": """
        de: Was hatte ich bis zum 3. Mai bezahlt?
        fr: Qu'est-ce que j'avais payé jusqu'au 3 mai ?
        es: ¿Qué había pagado hasta el 3 de mayo?
        pt: O que eu tinha pago até 3 de maio?
        it: Che cosa avevo pagato fino al 3 maggio?
        nl: Wat had ik tot 3 mei betaald?
        zh: 到5月3日为止我付了什么？
        ja: 5月3日までに何を払いましたか？
        ko: 5월 3일까지 뭘 샀지?
    """,
    "2026-05-03/2026-06-06": """
        de: Was habe ich zwischen dem 3. Mai und dem 5. Juni gekauft?
        fr: Qu'est-ce que j'ai acheté entre le 3 mai et le 5 juin ?
        es: ¿Qué compré entre el 3 de mayo y el 5 de junio?
        pt: O que eu comprei entre 3 de maio e 5 de junho?
        it: Che cosa ho comprato tra il 3 maggio e il 5 giugno?
        nl: Wat heb ik tussen 3 mei en 5 juni gekocht?
        zh: 5月3日到6月5日我买了什么？
        ja: 5月3日から6月5日までに何を買いましたか？
        ko: 5월 3일부터 6월 5일까지 뭘 샀지?
    """,
    "now": """
        de: Wo wohnt Anna jetzt?
        de: Was zahle ich aktuell für die Wohnung?
        fr: Où habite Anne maintenant ?
        es: ¿Dónde vive Ana ahora?
        pt: Onde a Ana mora agora?
        it: Dove abita Anna adesso?
        nl: Waar woont Anna nu?
        zh: 小安现在住在哪里？
        ja: 安奈さんは今どこに住んでいますか？
        ko: 안나는 지금 어디에 살아?
    """,
    "first": """
        de: Wo haben wir uns das erste Mal getroffen?
        fr: Où nous sommes-nous vus la première fois ?
        es: ¿Dónde nos vimos por primera vez?
        pt: Onde nos vimos pela primeira vez?
        it: Dove ci siamo visti la prima volta?
        nl: Waar hebben we elkaar de eerste keer gezien?
        zh: 我们第一次见面在哪里？
        ja: 最初に会ったのはどこですか？
        ko: 우리가 처음 만난 곳이 어디지?
    """,
    "when": """
        de: Wann ist der Termin beim Zahnarzt?
        fr: Quand est mon rendez-vous chez le dentiste ?
        es: ¿Cuándo es la cita con el dentista?
        pt: Quando é a consulta com o dentista?
        it: Quando è l'appuntamento dal dentista?
        nl: Wanneer is de afspraak bij de tandarts?
        zh: 我什么时候去看牙医？
        ja: 歯医者の予約はいつですか？
        ko: 치과 예약이 언제지?
    """,
    "how long": """
        de: Wie lange habe ich die Tabletten genommen?
        fr: Combien de temps ai-je pris les comprimés ?
        es: ¿Cuánto tiempo tomé las pastillas?
        pt: Quanto tempo eu tomei os comprimidos?
        it: Per quanto tempo ho preso le pastiglie?
        nl: Hoe lang heb ik de pillen geslikt?
        zh: 我吃这个药吃了多久？
        ja: 薬はどのくらいの期間飲みましたか？
        ko: 약을 얼마나 오래 먹었지?
    """,
    "list, number": """
        de: Wie viele Bücher habe ich gelesen?
        fr: Combien de livres ai-je lus ?
        es: ¿Cuántos libros he leído?
        pt: Quantos livros eu li?
        it: Quanti libri ho letto?
        nl: Hoeveel boeken heb ik gelezen?
        zh: 我读了几本书？
        ja: 本を何冊読みましたか？
        ko: 책을 몇 권 읽었지?
    """,
    "number": """
        de: Wie viel habe ich für das Rad bezahlt?
        fr: Combien ai-je payé pour le vélo ?
        es: ¿Cuánto pagué por la bicicleta?
        pt: Quanto eu paguei pela bicicleta?
        it: Quanto ho pagato la bicicletta?
        nl: Hoeveel heb ik voor de fiets betaald?
        zh: 我买自行车花了多少钱？
        ja: 自転車はいくらでしたか？
        ko: 자전거가 얼마였지?
        de: Wie oft gehe ich zum Training?
        fr: À quelle fréquence est-ce que je vais au sport ?
        es: ¿Con qué frecuencia voy al gimnasio?
        pt: Com que frequência eu vou à academia?
        it: Con che frequenza vado in palestra?
        nl: Hoe vaak ga ik naar de sportschool?
        zh: 我多久去一次健身房？
        ja: どのくらいの頻度でジムに行きますか？
        ko: 헬스장에 얼마나 자주 가지?
    """,
    "list": """
        de: Welche Bewerbungen habe ich geschrieben?
        de: Zähl mir alle meine Termine auf, bitte.
        fr: Quelles villes avons-nous visitées ?
        es: ¿Qué ciudades hemos visitado?
        es: ¿Cuáles son mis libros favoritos?
        pt: Quais cidades nós visitamos?
        it: Quali città abbiamo visitato?
        nl: Welke steden hebben we bezocht?
        zh: 我们去过哪些城市？
        ja: 訪れた町をすべて教えてください。
        ko: 우리가 가 본 도시를 모두 말해 줘.
    """,
    "": """
        de: Wie heißt der junge Mitarbeiter vom Wurzer?
        de: Was hat das Rad für 2000 Euro an Ausstattung?
        fr: Comment s'appelle le chien de ma sœur ?
        es: ¿De qué color es el coche de mi hermana?
        es: ¿Qué toma mi hermana por la mañana?
        pt: Como se chama o cachorro da minha irmã?
        it: A che ora passa il treno per Roma?
        nl: Hoe heet de hond van mijn zus?
        zh: 我妹妹的狗叫什么名字？
        zh: 我一个月怎么过？
        ja: 妹の犬の名前は何ですか？
        ja: 日本語の先生は誰ですか？
        ko: 여동생 강아지 이름이 뭐야?
    """,
}  # fmt: skip


def cases() -> list[tuple[str, str, str]]:
    return [
        (*map(str.strip, line.split(":", 1)), expected.strip())
        for expected, lines in TABLE.items()
        for line in lines.strip().splitlines()
    ]


def written(time: NamedDate | TimeWindow) -> str:
    """The time as ISO 8601, a missing year as "--"."""
    if isinstance(time, TimeWindow):
        return "/".join(f"{end:%Y-%m-%d}" if end else ".." for end in (time.start, time.end))
    rest = [f"{part:02}" for part in (time.month, time.day) if part]
    return f"--{'-'.join(rest)}" if time.year is None else "-".join([str(time.year), *rest])


def read(analysis: Analysis) -> str:
    """Everything that was read, in one line."""
    time = analysis.time
    found = [*map(written, time.times)]
    if time.order:
        found.append("now" if time.order == "last" else "first")
    found += [time.asks] if time.asks else []
    found += ["list"] if analysis.enumerates else []
    found += [analysis.form] if analysis.form and not time.asks else []
    return ", ".join(found)


def test_every_language_has_twenty_cases():
    counts = {language: 0 for language, _, _ in cases()}
    for language, _, _ in cases():
        counts[language] += 1
    assert len(counts) == 9
    assert min(counts.values()) >= 20


@each(("language", "question", "expected"), cases())
@pytest.mark.slow
def test_what_is_read(language, question, expected):
    assert read(analyse(question, NOW)) == expected.rstrip("-")
