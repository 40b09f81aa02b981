"""Common first names: whoever has one is a person.

Names that are also a place, a month or a common word ("Paris", "April", "Rose", "Will", "Mark") are
left out: there the sentence has to tell.
"""

from __future__ import annotations

import unicodedata

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


def is_first_name(low: str) -> bool:
    """Return whether a word in lower case is a first name, with or without its accents."""
    if low.isascii():
        return low in FIRST_NAMES
    plain = unicodedata.normalize("NFD", low)
    return "".join(char for char in plain if not unicodedata.combining(char)) in FIRST_NAMES
