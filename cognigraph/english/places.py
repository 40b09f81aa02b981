"""Names of countries, regions and large cities, in lower case.

Many are names of people or things as well, so they tell only where a sentence already speaks of a
place: who "moved to" one of them has surely moved there, and nobody lives in two of the cities.
"""

from __future__ import annotations

REGIONS = frozenset(
    """afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|azerbaijan
    |bahamas|bahrain|bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia|botswana
    |brazil|brunei|bulgaria|cambodia|cameroon|canada|chile|china|colombia|congo|costa rica|croatia
    |cuba|cyprus|czechia|czech republic|denmark|ecuador|egypt|el salvador|england|estonia|ethiopia
    |fiji|finland|france|gabon|germany|ghana|great britain|greece|guatemala|haiti|honduras|hungary
    |iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|japan|kazakhstan|kenya|korea
    |kosovo|kuwait|laos|latvia|lebanon|libya|liechtenstein|lithuania|luxembourg|madagascar|malawi
    |malaysia|maldives|mali|malta|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco
    |mozambique|myanmar|namibia|nepal|netherlands|new zealand|nicaragua|nigeria|north macedonia
    |northern ireland|norway|oman|pakistan|palestine|panama|paraguay|peru|philippines|poland
    |portugal|puerto rico|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal|serbia|singapore
    |slovakia|slovenia|somalia|south africa|south korea|spain|sri lanka|sudan|sweden|switzerland
    |syria|taiwan|tanzania|thailand|togo|tunisia|turkey|türkiye|uganda|uk|ukraine
    |united arab emirates|united kingdom|united states|uruguay|us|usa|uzbekistan|venezuela|vietnam
    |wales|yemen|zambia|zimbabwe
    |alabama|alaska|arizona|california|colorado|connecticut|florida|georgia|hawaii|idaho|illinois
    |indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota
    |mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina
    |north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota
    |tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming
    |alberta|british columbia|manitoba|nova scotia|ontario|quebec|saskatchewan|new south wales
    |queensland|tasmania|bavaria|brittany|catalonia|cornwall|devon|kent|normandy|provence|sicily
    |tuscany|tyrol|yorkshire""".replace("\n    ", "").split("|")
)  # fmt: skip
CITIES = frozenset(
    """aachen|aarhus|aberdeen|abidjan|abu dhabi|accra|addis ababa|adelaide|ahmedabad|albany
    |albuquerque|alexandria|algiers|alicante|almaty|amsterdam|anchorage|ankara|antwerp|athens
    |atlanta|auckland|augsburg|austin|baghdad|baku|bali|baltimore|bangalore|bangkok|barcelona|bari
    |basel|bath|beijing|beirut|belfast|belgrade|bengaluru|bergen|berlin|bern|bilbao|birmingham
    |bochum|bogota|bogotá|bologna|bolton|bonn|bordeaux|boston|bournemouth|bradford|brasilia
    |bratislava|bremen|brighton|brisbane|bristol|brno|brooklyn|bruges|brussels|bucharest|budapest
    |buenos aires|buffalo|busan|cairo|calgary|cambridge|canberra|canterbury|cape town|caracas
    |cardiff|casablanca|charlotte|chelmsford|chengdu|chennai|chester|chicago|chongqing|christchurch
    |cincinnati|cleveland|cologne|colombo|columbus|copenhagen|cork|coventry|cracow|dakar|dallas
    |damascus|dar es salaam|darmstadt|darwin|delhi|denver|derby|detroit|dhaka|doha|dortmund|dresden
    |dubai|dublin|dubrovnik|duisburg|dundee|dunedin|durban|durham|düsseldorf|dusseldorf|edinburgh
    |edmonton|eindhoven|erfurt|espoo|essen|exeter|florence|frankfurt|freiburg|fukuoka|galway|gdansk
    |gdańsk|geneva|genoa|ghent|glasgow|gothenburg|granada|graz|grenoble|groningen|guadalajara
    |guangzhou|haifa|halifax|hamar|hamburg|hangzhou|hannover|hanoi|hanover|harare|havana|heidelberg
    |helsinki|hiroshima|ho chi minh city|hobart|hong kong|honolulu|houston|hull|hyderabad|innsbruck
    |ipswich|islamabad|istanbul|izmir|jaipur|jakarta|jena|jerusalem|johannesburg|kampala
    |kansas city|karachi|karlsruhe|kathmandu|katowice|kiel|kigali|kingston|kinshasa|kobe|kolkata
    |krakow|kraków|kuala lumpur|kyiv|kyoto|la paz|lagos|lahore|lancaster|las vegas|lausanne|leeds
    |leicester|leiden|leipzig|leuven|lille|lima|limerick|lincoln|lisbon|liverpool|ljubljana|london
    |los angeles|luanda|lublin|lucerne|lusaka|lviv|lyon|macau|madison|madrid|mainz|malaga|málaga
    |malmö|malmo|manchester|manila|mannheim|maputo|marrakesh|marseille|medellin|medellín|melbourne
    |memphis|mexico city|miami|milan|milwaukee|minneapolis|minsk|montevideo|montpellier|montreal
    |moscow|mumbai|munich|murcia|muscat|münster|nagoya|nairobi|nanjing|nantes|naples|nashville
    |new delhi|new orleans|new york|new york city|newcastle|nice|nicosia|northampton|norwich
    |nottingham|nuremberg|oakland|odense|odesa|omaha|oporto|orlando|osaka|oslo|ottawa|oulu|oxford
    |padua|palermo|palma|panama city|paris|perth|perugia|philadelphia|phnom penh|phoenix|pisa
    |pittsburgh|plymouth|portland|porto|portsmouth|potsdam|poznan|poznań|prague|preston|pretoria
    |providence|pune|quito|rabat|raleigh|reading|regensburg|rennes|reykjavik|riga|rio de janeiro
    |riyadh|rochester|rome|rostock|rotterdam|sacramento|saigon|salford|salt lake city|salvador
    |salzburg|san antonio|san diego|san francisco|san jose|san juan|santiago|santo domingo
    |sao paulo|são paulo|sapporo|sarajevo|savannah|seattle|seoul|seville|shanghai|sheffield|shenzhen
    |singapore|skopje|sofia|southampton|split|st gallen|st louis|stavanger|stockholm|stoke
    |strasbourg|stuttgart|sunderland|swansea|sydney|taipei|tallinn|tampa|tampere|tashkent|tbilisi
    |tehran|tel aviv|the hague|thessaloniki|tianjin|tirana|tokyo|toronto|toulouse|trieste|tripoli
    |tromsø|trondheim|tucson|tunis|turin|turku|ulm|uppsala|utrecht|valencia|valletta|vancouver|venice
    |verona|victoria|vienna|vilnius|wakefield|warsaw|wellington|winnipeg|wolverhampton|worcester
    |wroclaw|wrocław|wuhan|wuppertal|würzburg|xiamen|yerevan|yokohama|york|zagreb|zaragoza|zurich
    |zürich""".replace("\n    ", "").split("|")
)  # fmt: skip
PLACES = REGIONS | CITIES
