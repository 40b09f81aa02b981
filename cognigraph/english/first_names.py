"""Common first names: whoever has one is a person.

Names that are also a place, a month or a common word ("Paris", "April", "Rose", "Will", "Mark") are
left out: there the sentence has to tell.
"""

from __future__ import annotations

from cognigraph.english.words import word_set

FIRST_NAMES = word_set(
    """aaron abdul abdullah abigail abraham adam adele adrian adriana agata agnes agnieszka ahmed
    aiden aisha akiko akira alan albert alberto alejandra alejandro aleksandra alessandro
    alessia alexander alexandra alexandre alexei alexis alfonso alfred ali alice alicia
    alina alison allison alma alvaro amanda amelia amelie amina amir amit amos amy ana
    anastasia anders andre andrea andreas andrei andres andrew andrzej andy angela angelika
    angelina angelo angus anika anil anita anja anjali ann anna annabel anne annelies
    annette annie annika anthony antoine anton antonia antonio anya ariana arjun arne arnold
    arthur arturo arvid asha ashley asif astrid audrey axel aylin ayse bart bartosz beatrice
    beatriz becky ben benedikt benjamin bernard bernd bert bertha beth bethany betty bianca
    birgit bjorn bob bobby boris brandon brenda brian bridget britta bruno bryan caitlin
    caleb callum camila camilla camille carina carl carla carlos carmen carol carolin
    caroline carolyn carsten catarina caterina catherine cathy cecilia cedric chandra
    charles charlie charlotte chiara chloe chris christa christian christina christine
    christof christopher christos cillian cindy claire clara clarissa claudia claudio
    clemens clive colette colin connor conrad constance cora corinna cornelia cory craig
    cristina curtis cynthia cyril cyrus dagmar damian damien dan daniel daniela danielle
    danny dara daria darius darren dave david deborah deepak deirdre delia denis denise
    dennis derek desmond diana diane diego dieter dietmar dimitri dimitris dirk dmitri
    dominic dominik dominique donald donna dora doris dorothea dorothy doug douglas dylan ed
    eddie edgar edith eduardo edward edwin eileen elaine eleanor elena eleni elias elif
    elijah elin elina elisa elisabeth elise eliza elizabeth ella ellen ellie elliot elodie
    eloise elsa elvira emanuel emil emilia emilie emilio emily emma emmanuel enrico enrique
    eric erica erich erik erika erin ernest ernst erwin esra esteban esther ethan eugene eva
    evan eve evelyn fabian fabio fabrice fatima fatma federica federico felicia felipe felix
    ferdinand fernanda fernando filip filippo finn fiona florian francesca francesco
    francine francis francisca franck franz fred freddie frederic frederick frederik freya
    frida frieda friedrich fritz gabriel gabriela gabriele gareth gary gavin geoff geoffrey
    georg george georgios gerald gerard gerda gerhard gertrud gianni gina giorgio giovanni
    gisela giulia giuseppe gladys gloria goran gordon graham greg gregor gregory greta guido
    guillaume gunnar gunther gus gustav gustavo gwen hamid hana hanna hannah hannes hans
    harald haruki hassan hector heidi heike heiko heinrich heinz helen helena helene helga
    helmut hendrik henri henrietta henrik henry herbert hermann hilda hilde hiroshi holger
    horst howard hubert hugh hugo humphrey ian ibrahim ida igor ilse imani imran ines inga
    inge ingeborg ingo ingrid irene irina irma isaac isabel isabella isabelle isla ismail
    ivan ivana ivar ivo jaap jacek jackie jacob jacqueline jacques jake jakob jamal james
    jamie jan jana jane janet janice janina janine jannik jason javier jean jeanette jeanne
    jeff jeffrey jelena jennifer jenny jens jeremy jeroen jerome jerry jessica jessie jill
    jim jimmy joachim joan joana joanna joanne joao jochen joe joel joelle johan johann
    johanna johannes john johnny jon jonas jonathan joost jorge jose josef josefine joseph
    josephine josh joshua josie joyce juan juanita judith judy julia julian juliana julie
    julien juliet juliette julio julius jurgen justin justine justyna kaj kamal kamila karen
    karim karin karina karl karla karolina kasper katarina kate katerina katharina katherine
    kathleen kathrin kathryn kathy katie katja katrin katrina katya keiko keith kelly kelsey
    kenji kenneth kerry kerstin kevin khalid kim kirsten kjell klara klaus knut koen kofi
    konrad konstantin kristen kristian kristin kristina kristof krzysztof kumar kurt kwame
    kyle lara larissa lars laszlo laura lauren laurence laurent lea leah leander leila lena
    lennart lenny leo leon leona leonard leonardo leonie leopold leroy leslie leticia lewis
    liam lidia lieselotte lina linda lindsay linnea linus lionel lisa lise liv livia liz
    lizzie lorena lorenzo loretta lorraine lothar lotta lotte lotti louis louisa louise luc
    luca lucas lucia lucie lucinda lucy ludwig luigi luis luisa lukas lukasz luke lydia lynn
    maarten mabel maciej madeleine magda magdalena magnus mahmoud maja malcolm malik malin
    malte mandy manfred manuel manuela mara marc marcel marcela marcello marcia marcin marco
    marcos marcus marek margaret margarita margit margot maria mariam mariana marianne marie
    marija marijke marina mario marion marisa marit marius marjorie markus marlene marta
    martha martin martina marty martyna marvin mary maryam mateo mateusz mathias mathieu
    mathilda mathilde matilda matt matteo matthew matthias maureen maurice mauricio maxim
    maxime maximilian maya mehmet mei mel melanie melina melissa meredith merle mia micha
    michael michaela michal michel michele michelle miguel mihai mikael mike mikhail mila
    milena milo mira miranda miriam mirjam mirko mitch mohamed mohammad mohammed moira mona
    monica monika monique moritz morten moses muhammad mustafa myriam nadia nadine nadja
    nancy naomi natalia natalie natasha nathalie nathan neha neil nell nelly nicholas nick
    nico nicola nicolas nicole nigel niklas nikolai nikos nils nina nino noah noelle noemi
    nora norbert norma nuria odile olaf ole oleg olga oliver olivia olivier ollie omar oscar
    oskar osman otis otto owen pablo paola paolo pascal patricia patrick paul paula paulina
    pauline paulo pavel pedro peggy penelope per percy pernille peter petra phil philip
    philipp philippa philippe phoebe phyllis pia pierre pietro pilar piotr polly prakash
    priscilla priya quentin rachel radu rafael raffaella rahul rainer raj rajesh ralf ralph
    ramon rania raoul raphael raquel rashid rasmus raul ravi raymond rebecca regina reiko
    reinhard remy renata renate rene renee reza rhea ricardo riccardo richard rick rita
    robert roberta roberto robin rocio roderick rodrigo roger rohan roland rolf roman romy
    ron ronald ronja ronnie rory rosa rosalie rosalind rosanna rosemarie rosie roy ruben
    rudi rudolf rupert ruth ryan sabina sabine sabrina sally salma salman salvatore sam
    samantha samir samira sammy samuel sandeep sandra sandro sanjay sara sarah sascha sasha
    saskia scott sean sebastian selina selma serena sergei sergio seth shane shannon sharon
    shaun sheila shirley siegfried sigrid silas silke silvia simon simona simone sina sinead
    sofia sofie solveig sonia sonja sophia sophie stacy stan stanislav stefan stefania
    stefanie stefano stella stephan stephanie stephen steve steven stijn stuart sunil susan
    susana susanna susanne susie suzanne svein sven svenja svetlana sybille sylvia sylvie
    takeshi tamara tania tanja tara tariq tatiana tatjana ted teresa terry tess tessa
    thaddeus thea theo theodor theresa therese thijs thilo thomas thorsten tibor tilda tim
    timo timothy tina tobias toby todd tom tomas tomasz tommy toni tony torsten tracy travis
    trevor trine tristan trudy tyler udo ugo ulf ulla ulrich ulrike umberto ursula uschi ute
    uwe valentin valentina valerie vanessa vasilis vera verena veronica veronika vicky
    victor victoria vijay viktor viktoria vincent vincenzo vivian viviana vivien vlad
    vladimir volker walter waltraud wanda wayne wendy werner wesley wilbur wilhelm willem
    william wim wojciech wolfgang xavier xenia yael yannick yannis yasmin yasmine yolanda
    yosef youssef yuki yulia yuri yusuf yves yvette yvonne zachary zainab zara zeynep zoe
    zofia zoltan"""
)

_MEN_IN_A = word_set(
    "akira andrea elia joshua luca mustafa nicola reza sascha sasha jona mika micha"
)
"""Names in "a" that men have, or men as well."""
_WOMEN_IN_A = frozenset(
    name for name in FIRST_NAMES if name.endswith("a") and name not in _MEN_IN_A
)
_WOMEN = word_set(
    """abigail adele agnes alice alison allison amelie amy angelika anne annabel annelies annette
    annie ann astrid audrey beatrice becky beth bethany betty birgit brenda bridget britta
    caitlin carmen carol carolin caroline carolyn catherine cathy charlotte chloe christine
    cindy claire clara colette constance cynthia dagmar deborah deirdre denise diane
     doris dorothy edith eileen elaine eleanor elin elisabeth elise elizabeth ellen ellie
    elodie eloise emilie emily erin esther eve evelyn fiona florence francine freya gertrud gladys
    gisela grace gwen hannah heidi heike helen helene hilde imogen ines inge ingeborg ingrid irene
    isabel isabelle jacqueline jane janet janice janine jeanette jeanne jennifer jenny jessie jill
    joan joanne joelle josefine josephine joyce judith judy julie juliet juliette justine karen
    karin kate katherine kathleen kathrin kathryn kathy katie katrin keiko kerstin kirsten kristen
    kristin lauren leah leonie lieselotte lindsay lise liz lizzie lorraine lotte
    lotti louise lucie lucy mabel madeleine mandy margaret margit margot marie marisa
    marit marianne marjorie marlene martine mary maryam mathilde maureen melanie meredith merle
    michelle monique miriam mirjam myriam nadine nancy naomi natalie nathalie neha nell nelly nicole
    noelle noemi odile olive patricia pauline peggy penelope pernille phoebe phyllis pilar
    polly rachel raquel renate renee rosalie rosalind rosemarie rosie rocio ruth sabine sally sarah
    sharon sheila shirley sigrid silke simone sinead sofie sophie solveig stacy stefanie stephanie
    susan susanne susie suzanne sybille sylvie tess theresa therese tilda tracy trine trudy ulrike
    ursula uschi ute valerie veronica vicky vivian waltraud wendy yael yasmin yasmine yvette yvonne
    zainab zeynep zoe"""
)
WOMEN = (_WOMEN_IN_A | _WOMEN) & FIRST_NAMES
"""Names that women have, and hardly any man."""
MEN = (
    word_set(
        """aaron abdul abdullah abraham adam adrian ahmed aidan aiden alan albert alberto alejandro
    alexander alexandre alfonso alfred alvaro amir andreas andrew andy angus anthony anton antonio
    arjun arnold arthur arturo axel bart ben benjamin bernard bernd bert bjorn bob bobby boris
    brandon brian bruno bryan caleb callum carl carlos cedric charles christian christopher clemens
    clive colin connor conrad craig curtis cyril damian damien dan daniel danny darren dave david
    derek dennis diego dieter dirk dmitri dominic donald doug douglas dylan ed eddie edgar eduardo
    edward edwin elias elijah elliot emil enrique eric erich erik ernest ernesto ethan eugene evan
    fabian felipe felix ferdinand fernando filip finn florian francesco francisco frank fred
    frederick frederik friedrich fritz gabriel gareth gary gavin geoff geoffrey georg george
    gerald gerard gerhard giovanni giuseppe gordon graham greg gregor gregory guido gunter gus
    gustav hamid hannes hans harald harry hassan hector heinrich heinz helmut hendrik henri henrik
    henry herbert hermann holger horst howard hubert hugh hugo ian ibrahim igor isaac ivan jack
    jacob jacques jake jakob james jan jason javier jeff jeffrey jens jeremy jerome jerry jim jimmy
    joachim joe joel johan johann johannes john johnny jon jonas jonathan jorge jose josef joseph
    josh juan julio jurgen karl keith kenneth kevin klaus knut konrad kurt kyle lars laszlo lennart
    leo leon leonard leopold leroy lewis liam linus lionel lothar louis lucas ludwig luis lukas
    luke magnus malcolm manfred manuel marc marcel marco marcus marek mario marius markus martin
    marvin mateo matt matteo matthew matthias maurice max maximilian mehmet miguel mike mikhail
    mitch mohamed mohammed moritz nathan neil nicholas nick nicolas niklas nikolai nils noah
    norbert norman oleg oliver oscar oskar otto owen pablo paolo patrick paul pedro per percy
    peter phil philip philipp pierre pietro quentin rafael rahul rainer raj ralf ralph ramon raoul
    rashid rasmus raul ravi raymond reinhard ricardo richard rick robert roberto roderick roger
    roland rolf ronald ronnie roy ruben rudi rudolf rupert ryan samuel scott sean sebastian sergei
    sergio seth shaun siegfried simon stan stefan stephan stephen steve steven stuart sven ted
    terry theo theodor thomas thorsten tim timothy tobias toby todd tom tomas tommy tony trevor
    tristan tyler ulf ulrich uwe victor viktor vincent vladimir volker walter wayne werner wesley
    wilhelm william wojciech wolfgang xavier yannick yusuf zachary zoltan
    michael michel julian julien
    justin julius joshua nigel olaf omar franz fabio emilio enrico filippo giorgio gunther gustavo
    lorenzo luigi mathias mathieu mauricio muhammad mohammad mikael olivier piotr pavel raphael
    riccardo rodrigo stanislav umberto anders arne carsten dominik emmanuel erwin ernst desmond
    humphrey ismail jamal jochen kasper khalid kristian leonardo mahmoud malik marcos moses otis"""
    )
    & FIRST_NAMES
)
"""Names that men have, and hardly any woman."""
